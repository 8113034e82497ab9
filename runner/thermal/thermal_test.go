package thermal

import (
	"fmt"
	"strings"
	"testing"
)

// Kernels print thousandths of a degree, tenths or whole degrees. Impossible values are omitted.
func TestParseThermal(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"41500 cpu-0-0-0\n":         "[{cpu-0-0-0 41.5}]",
		"415 soc_thermal\n":         "[{soc_thermal 41.5}]",
		"41 tsens_tz_sensor0\n":     "[{tsens_tz_sensor0 41}]",
		"-40000 pm8550_tz\n0 off\n": "[]",
		"254000 broken\n149 hot\n":  "[{hot 149}]",
		"x cpu\n41000\n\n 41000 \n": "[]",
		"41000 a name with spaces":  "[{a name with spaces 41}]",
		"99999999999999 overflow\n": "[]",
	} {
		if got := fmt.Sprint(parse(in)); got != want && (want != "[]" || got != "[]") {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

// By default the chip's sensors count. Batteries, chargers and unknown sensors count only if zones names them.
func TestZonesThatCount(t *testing.T) {
	t.Parallel()
	all := parse("38000 battery\n99000 pm8550_tz\n45000 cpu-1-0\n47000 nspss-0\n98000 modem0\n44000 ddr\n97000 usb-therm\n96000 zork\n")
	for zones, want := range map[string]string{"": "{nspss-0 47}", "cpu-*": "{cpu-1-0 45}", "modem0 zork": "{modem0 98}"} {
		c := Cooldown{Zones: strings.Fields(zones)}
		if got := fmt.Sprint(hottest(c.chosen(all))); got != want {
			t.Errorf("%q: %s, want %s", zones, got, want)
		}
	}
	if top, ok := Hottest(parse("38000 battery\n96000 zork\n")); !ok || top.Zone != "zork" {
		t.Errorf("where none counts: %v", top)
	}
	if _, ok := Hottest(nil); ok {
		t.Error("the hottest of none")
	}
	for in, want := range map[string]string{"": "the device does not report its temperature", "38000 battery": "set `zones` to some of battery"} {
		if got := nothingToRead(Cooldown{}, parse(in)); !strings.Contains(got, want) {
			t.Errorf("%q: %s", in, got)
		}
	}
}

func TestCooldownProperty(t *testing.T) {
	t.Parallel()
	c, err := ParseCooldown(Cooldown{Celsius: 41.5, Timeout: 90e9, Zones: []string{"cpu-*"}, Required: true}.String())
	if err != nil || c.Celsius != 41.5 || c.Timeout != 90e9 || len(c.Zones) != 1 || !c.Required {
		t.Errorf("%+v, %v", c, err)
	}
	for _, bad := range []string{"", "{}", `{"celsius":40,"timeout":"1y"}`, `{"celsius":40,"timeout":"48h"}`, `{"celsius":40,"timeout":"1s","zones":["["]}`} {
		if c, err := ParseCooldown(bad); err == nil {
			t.Errorf("%s: %+v", bad, c)
		}
	}
}

func FuzzParseThermal(f *testing.F) {
	f.Add("41500 cpu-0-0-0\n-40000 x\n415 y\n")
	f.Add("\x00 \n9223372036854775808 z")
	f.Fuzz(func(t *testing.T, out string) {
		all := parse(out)
		for _, z := range all {
			if z.Zone == "" || !(z.Celsius > 0 && z.Celsius < 150) {
				t.Errorf("%+v", z)
			}
		}
		if len(all) > maxListed {
			t.Errorf("%d zones", len(all))
		}
	})
}
