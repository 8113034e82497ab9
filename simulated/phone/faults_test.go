package phone_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/simulated/phone"
)

func TestFaultsAreText(t *testing.T) {
	t.Parallel()
	var all phone.Faults
	for text := range strings.FieldsSeq("drop-every=20MB drop-after=5GiB drop-above=4MB slow=500kB " +
		"corrupt=4097 disk=64MiB refuse=250ms wedge-dsp kill-runner clock=-48h hot=62.5") {
		if err := all.Set(text); err != nil {
			t.Error(err)
		}
	}
	want := phone.Faults{DropEveryBytes: 20e6, DropAfterBytes: 5 << 30, DropAboveBytes: 4e6, SlowBytesPerSecond: 500e3,
		CorruptByte: 4097, DiskBytes: 64 << 20, Refuse: 250 * time.Millisecond, WedgeDSP: true, KillAtDSP: true,
		Skew: -48 * time.Hour, Celsius: 62.5}
	if d := cmp.Diff(want, all); d != "" {
		t.Error(d)
	}
	for text, want := range map[string]string{
		"unplug":                    `unknown fault "unplug"; choose one of drop-every, drop-after, drop-above`,
		"drop-every":                "fault drop-every: invalid form; write drop-every=SIZE",
		"drop-every=20XB":           `"20XB"`,
		"drop-every=-1MB":           `"-1MB"`,
		"drop-every=99999999999GiB": "GiB",
		"refuse=soon":               "invalid duration",
		"wedge-dsp=crash":           "fault wedge-dsp: invalid form; write wedge-dsp",
		"hot=hell":                  "invalid syntax",
	} {
		var f phone.Faults
		if err := f.Set(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}
