package phone

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/bytesize"
)

// Faults make the device misbehave as real ones do. The zero value is a device that is well.
type Faults struct {
	DropAfterBytes     int64 `json:"drop_after_bytes,omitempty"`      // cut the adb link once, after so many bytes
	DropEveryBytes     int64 `json:"drop_every_bytes,omitempty"`      // cut it each time after so many bytes
	DropAboveBytes     int64 `json:"drop_above_bytes,omitempty"`      // cut it if it has more than so many per second
	CorruptByte        int64 `json:"corrupt_byte,omitempty"`          // flip a bit of one byte, after so many
	SlowBytesPerSecond int64 `json:"slow_bytes_per_second,omitempty"` // limit of the adb link in each direction
	DiskBytes          int64 `json:"disk_bytes,omitempty"`            // size of /data, which then is in memory

	Refuse    time.Duration `json:"refuse,omitempty"`      // take no new link for so long after one was cut
	WedgeDSP  bool          `json:"wedge_dsp,omitempty"`   // the first call crashes the DSP until a reboot
	KillAtDSP bool          `json:"kill_at_dsp,omitempty"` // kill the first program that opens the DSP
	Skew      time.Duration `json:"skew,omitempty"`        // how far shells and the log are ahead of the host's clock
	Celsius   float64       `json:"celsius,omitempty"`     // temperature at the start, from which it cools down
}

// Fault is a row of the table of faults: its name and value on the command line, and its effect.
type Fault struct {
	Name, Value string // "drop-every", "SIZE"
	Doc         string
	set         func(f *Faults, value string) error
}

// Usage is how the fault is written: "drop-every=SIZE", "wedge-dsp".
func (f Fault) Usage() string { return strings.TrimSuffix(f.Name+"="+f.Value, "=") }

// FaultTable returns all faults.
func FaultTable() []Fault {
	size := func(name, doc string, at func(*Faults) *int64) Fault {
		return Fault{name, "SIZE", doc, func(f *Faults, v string) (err error) {
			*at(f), err = bytesize.Parse(v)
			return err
		}}
	}
	duration := func(name, doc string, at func(*Faults) *time.Duration) Fault {
		return Fault{name, "DURATION", doc, func(f *Faults, v string) (err error) {
			*at(f), err = time.ParseDuration(v)
			return err
		}}
	}
	return []Fault{
		size("drop-every", "cut the link each time after SIZE from the host",
			func(f *Faults) *int64 { return &f.DropEveryBytes }),
		size("drop-after", "cut the link once, after SIZE from the host",
			func(f *Faults) *int64 { return &f.DropAfterBytes }),
		size("drop-above", "cut the link if it carries SIZE more than SIZE per second",
			func(f *Faults) *int64 { return &f.DropAboveBytes }),
		duration("refuse", "take no new link for DURATION after one was cut",
			func(f *Faults) *time.Duration { return &f.Refuse }),
		size("slow", "let SIZE per second through the link, in each direction",
			func(f *Faults) *int64 { return &f.SlowBytesPerSecond }),
		size("corrupt", "flip a bit of one byte from the host, after SIZE",
			func(f *Faults) *int64 { return &f.CorruptByte }),
		size("disk", "a /data of SIZE, in memory, so that it fills up",
			func(f *Faults) *int64 { return &f.DiskBytes }),
		{"wedge-dsp", "", "the first DSP call dies, and later ones fail with 0x80000406 until a reboot",
			func(f *Faults, _ string) error { f.WedgeDSP = true; return nil }},
		{"kill-runner", "", "kill, once, the first program that opens the DSP",
			func(f *Faults, _ string) error { f.KillAtDSP = true; return nil }},
		duration("clock", "the clock of shells and log is ahead by DURATION, or behind: -48h",
			func(f *Faults) *time.Duration { return &f.Skew }),
		{"hot", "CELSIUS", "it has CELSIUS degrees when it starts, and cools down to 30",
			func(f *Faults, v string) (err error) { f.Celsius, err = strconv.ParseFloat(v, 64); return err }},
	}
}

// Set takes a fault as people write it, NAME or NAME=VALUE.
func (f *Faults) Set(text string) error {
	name, value, _ := strings.Cut(text, "=")
	var names []string
	for _, one := range FaultTable() {
		if names = append(names, one.Name); one.Name != name {
			continue
		}
		if (value == "") != (one.Value == "") {
			return fmt.Errorf("fault %s: write %s", name, one.Usage())
		}
		if err := one.set(f, value); err != nil {
			return fmt.Errorf("fault %s: %w", name, err)
		}
		return nil
	}
	return fmt.Errorf("unknown fault %q; choose one of %s", name, strings.Join(names, ", "))
}

// never is more bytes than a device sees in its life.
const never = 1 << 62
