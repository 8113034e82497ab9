package phone

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/bytesize"
)

// Faults makes the device fail as real devices do. The zero value is a healthy device.
type Faults struct {
	DropAfterBytes     int64 `json:"drop_after_bytes,omitempty"`      // cut the adb link once, after this many bytes
	DropEveryBytes     int64 `json:"drop_every_bytes,omitempty"`      // cut the adb link each time after so many bytes
	DropAboveBytes     int64 `json:"drop_above_bytes,omitempty"`      // cut the adb link when it exceeds this rate
	CorruptByte        int64 `json:"corrupt_byte,omitempty"`          // flip a bit of the byte after this many bytes
	SlowBytesPerSecond int64 `json:"slow_bytes_per_second,omitempty"` // limit of the adb link in each direction
	DiskBytes          int64 `json:"disk_bytes,omitempty"`            // size of /data, which is then kept in memory

	Refuse    time.Duration `json:"refuse,omitempty"`      // time to refuse new links after a cut
	WedgeDSP  bool          `json:"wedge_dsp,omitempty"`   // the first call crashes the DSP until a reboot
	KillAtDSP bool          `json:"kill_at_dsp,omitempty"` // kill the first program that opens the DSP
	Skew      time.Duration `json:"skew,omitempty"`        // lead of the device's clock over the host's clock
	Celsius   float64       `json:"celsius,omitempty"`     // temperature at the start; the device then cools down
}

// Fault is a row in the table of faults: name, value and effect.
type Fault struct {
	Name, Value string // "drop-every", "SIZE"
	Doc         string
	set         func(f *Faults, value string) error
}

// Usage returns the fault's syntax: "drop-every=SIZE", "wedge-dsp".
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
		size("drop-every", "cut the connection each time this machine has sent SIZE",
			func(f *Faults) *int64 { return &f.DropEveryBytes }),
		size("drop-after", "cut the connection once, after this machine has sent SIZE",
			func(f *Faults) *int64 { return &f.DropAfterBytes }),
		size("drop-above", "cut the connection when it carries more than SIZE per second",
			func(f *Faults) *int64 { return &f.DropAboveBytes }),
		duration("refuse", "refuse new connections for DURATION after each cut",
			func(f *Faults) *time.Duration { return &f.Refuse }),
		size("slow", "limit the connection to SIZE per second, in each direction",
			func(f *Faults) *int64 { return &f.SlowBytesPerSecond }),
		size("corrupt", "flip one bit in the data from this machine, after it has sent SIZE",
			func(f *Faults) *int64 { return &f.CorruptByte }),
		size("disk", "limit /data to SIZE",
			func(f *Faults) *int64 { return &f.DiskBytes }),
		{"wedge-dsp", "", "crash the DSP in the first call; later calls fail with 0x80000406 until a reboot",
			func(f *Faults, _ string) error { f.WedgeDSP = true; return nil }},
		{"kill-runner", "", "kill the first program that opens the DSP",
			func(f *Faults, _ string) error { f.KillAtDSP = true; return nil }},
		duration("clock", "set the phone's clock forward by DURATION, or back by a negative DURATION such as -48h",
			func(f *Faults) *time.Duration { return &f.Skew }),
		{"hot", "CELSIUS", "start at a temperature of CELSIUS, and cool down to 30 °C",
			func(f *Faults, v string) (err error) { f.Celsius, err = strconv.ParseFloat(v, 64); return err }},
	}
}

// Set sets a fault by its command-line syntax, NAME or NAME=VALUE.
func (f *Faults) Set(text string) error {
	name, value, _ := strings.Cut(text, "=")
	var names []string
	for _, one := range FaultTable() {
		if names = append(names, one.Name); one.Name != name {
			continue
		}
		if (value == "") != (one.Value == "") {
			return fmt.Errorf("fault %s: invalid form; write %s", name, one.Usage())
		}
		if err := one.set(f, value); err != nil {
			return fmt.Errorf("fault %s: %w", name, err)
		}
		return nil
	}
	return fmt.Errorf("unknown fault %q; choose one of %s", name, strings.Join(names, ", "))
}

// never is more bytes than any device transfers.
const never = 1 << 62
