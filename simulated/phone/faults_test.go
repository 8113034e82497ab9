package phone_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/simulated/phone"
)

func TestFaultsAreText(t *testing.T) {
	t.Parallel()
	soc := func(name string) (phone.SoCProps, error) {
		if name != "SM8650" {
			return phone.SoCProps{}, errors.New("not in the catalogue")
		}
		return phone.SoCProps{Model: name, Arch: "v75", SoCModel: 57, SoCID: 557, VTCMMB: 8}, nil
	}
	for _, c := range []struct{ text, err string }{
		{text: "drop-every=20MB"},
		{text: "drop-after=5GiB"},
		{text: "drop-above=4MB"},
		{text: "slow=500kB"},
		{text: "corrupt=4097"},
		{text: "disk=64MiB"},
		{text: "refuse=5s"},
		{text: "refuse=250ms"},
		{text: "wedge-dsp"},
		{text: "wedge-dsp=crash"},
		{text: "vendor-qnn"},
		{text: "vendor-qnn=2.34.0.250424201103"},
		{text: "soc=SM8650"},
		{text: "kill-runner=dsp"},
		{text: "clock=-20y"},
		{text: "clock=3h"},
		{text: "clock=-2d"},
		{text: "hot=62.5"},
		{text: "unplug", err: `no fault is called "unplug"; there are clock, corrupt, disk, drop-above`},
		{text: "drop-every", err: "fault drop-every wants a value: drop-every=SIZE"},
		{text: "drop-every=20XB", err: `"20XB" is no size`},
		{text: "drop-every=-1MB", err: "is no size"},
		{text: "drop-every=99999999999GiB", err: "is no size"},
		{text: "refuse=-5s", err: "is negative"},
		{text: "refuse=soon", err: "want a duration such as"},
		{text: "clock=300y", err: "want a duration"},
		{text: "wedge-dsp=badly", err: "want crash"},
		{text: "vendor-qnn=old", err: "is no build id"},
		{text: "soc=SM9999", err: "fault soc: not in the catalogue"},
		{text: "kill-runner=3s", err: "want dsp"},
		{text: "hot=hell", err: "want a number from 0 to 100"},
	} {
		var f phone.Faults
		err := f.Set(c.text, soc)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: got %v, want %q", c.text, err, c.err)
			}
			continue
		}
		if on := strings.Join(f.On(), " "); err != nil || on != c.text {
			t.Errorf("%s: got %q, %v", c.text, on, err)
		}
	}
	var f phone.Faults
	for _, text := range []string{"drop-every=20MB", "refuse=2s"} {
		if err := f.Set(text, soc); err != nil {
			t.Fatal(err)
		}
	}
	if f.DropEveryBytes != 20e6 || f.Refuse != 2*time.Second {
		t.Errorf("two faults: %+v", f)
	}
}
