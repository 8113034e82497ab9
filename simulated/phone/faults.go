package phone

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/bytesize"
)

// Faults make the device misbehave as real ones do. The zero value is a device that is well.
type Faults struct {
	DropAfterBytes     int64 `json:"drop_after_bytes,omitempty"`      // cut the adb link, once, after so many bytes from the host; 0: never
	DropEveryBytes     int64 `json:"drop_every_bytes,omitempty"`      // cut it again and again, each time after so many bytes; 0: never
	DropAboveBytes     int64 `json:"drop_above_bytes,omitempty"`      // cut it whenever so many bytes more came than so many per second let pass; 0: never
	CorruptByte        int64 `json:"corrupt_byte,omitempty"`          // flip a bit of one byte from the host, once: the one after so many; 0: never
	SlowBytesPerSecond int64 `json:"slow_bytes_per_second,omitempty"` // limit of the adb link in each direction; 0: none
	DiskBytes          int64 `json:"disk_bytes,omitempty"`            // size of /data, which then is in memory; 0: no limit

	Refuse    time.Duration `json:"refuse,omitempty"`      // take no new link for so long after one was cut
	DSP       DSPFault      `json:"dsp,omitempty"`         // what is wrong with the DSP until the device reboots
	VendorQNN string        `json:"vendor_qnn,omitempty"`  // build id of Qualcomm's QNN libraries, which then come first in every search path of a shell
	Silicon   *SoCProps     `json:"silicon,omitempty"`     // the real SoC; the properties are those of the image
	KillAtDSP bool          `json:"kill_at_dsp,omitempty"` // kill the first program that opens the DSP
	Skew      time.Duration `json:"skew,omitempty"`        // how far the device's clock is ahead of the host's
	Celsius   float64       `json:"celsius,omitempty"`     // temperature at the start, from which it cools down; 0: as its surroundings

	texts []string // as Set took them
}

// DSPFault is a state of the DSP.
type DSPFault string

// States of the DSP. A reboot makes it well.
const (
	DSPWell    DSPFault = ""
	DSPCrashes DSPFault = "crash" // the first call is lost with its protection domain, then it is dspRefuses
	dspRefuses DSPFault = "fail"  // opening a library fails with 0x80000406
)

// Fault is a row of the table of faults: its name and value on the command line, and its effect.
type Fault struct {
	Name, Value string // "drop-every", "SIZE"; a value in brackets is optional
	Doc         string
	set         func(f *Faults, value string, soc func(name string) (SoCProps, error)) error
}

// Usage is how the fault is written: "drop-every=SIZE", "wedge-dsp[=crash]".
func (f Fault) Usage() string {
	if inner, ok := strings.CutPrefix(f.Value, "["); ok {
		return f.Name + "[=" + inner
	}
	return f.Name + "=" + f.Value
}

// FaultTable returns all faults, in the order in which they are told.
func FaultTable() []Fault {
	return []Fault{
		bytesFault("drop-every", "cut the link again and again, each time after SIZE from the host", func(f *Faults) *int64 { return &f.DropEveryBytes }),
		bytesFault("drop-after", "cut the link once, after SIZE from the host", func(f *Faults) *int64 { return &f.DropAfterBytes }),
		bytesFault("drop-above", "cut the link whenever SIZE more came from the host than SIZE per second let pass: it breaks under load", func(f *Faults) *int64 { return &f.DropAboveBytes }),
		durationFault("refuse", "take no new link for DURATION after one was cut", false, func(f *Faults) *time.Duration { return &f.Refuse }),
		bytesFault("slow", "let SIZE per second through the link, in each direction", func(f *Faults) *int64 { return &f.SlowBytesPerSecond }),
		bytesFault("corrupt", "flip a bit of one byte from the host, after SIZE", func(f *Faults) *int64 { return &f.CorruptByte }),
		bytesFault("disk", "a /data of SIZE, in memory, so that it fills up", func(f *Faults) *int64 { return &f.DiskBytes }),
		{"wedge-dsp", "[crash]", "the first DSP call dies, and later ones fail with 0x80000406 until a reboot",
			func(f *Faults, v string, _ func(string) (SoCProps, error)) error {
				if f.DSP = DSPCrashes; v != "" && v != string(DSPCrashes) {
					return fmt.Errorf("%q: want crash", v)
				}
				return nil
			}},
		{"vendor-qnn", "[BUILD_ID]", "the vendor's QNN libraries are of this build, an old one if none is given, and come first in the search paths of shells",
			func(f *Faults, v string, _ func(string) (SoCProps, error)) error {
				if v == "" {
					v = olderVendorQNN
				}
				f.VendorQNN = "v" + strings.TrimPrefix(v, "v")
				return checkBuildID(f.VendorQNN)
			}},
		{"soc", "NAME", "it really is SoC NAME: soc_id, DSP and VTCM are of that one, the properties are not",
			func(f *Faults, v string, soc func(string) (SoCProps, error)) error {
				s, err := soc(v)
				f.Silicon = &s
				return err
			}},
		{"kill-runner", "[dsp]", "kill, once, the first program that opens the DSP",
			func(f *Faults, v string, _ func(string) (SoCProps, error)) error {
				if f.KillAtDSP = true; v != "" && v != "dsp" {
					return fmt.Errorf("%q: want dsp", v)
				}
				return nil
			}},
		durationFault("clock", "the clock is ahead by DURATION, or behind with a minus: -20y", true, func(f *Faults) *time.Duration { return &f.Skew }),
		{"hot", "CELSIUS", "it has CELSIUS degrees when it starts, and cools down to 30",
			func(f *Faults, v string, _ func(string) (SoCProps, error)) (err error) {
				const most = 100
				if f.Celsius, err = strconv.ParseFloat(v, 64); err != nil || !(f.Celsius > 0 && f.Celsius <= most) {
					return fmt.Errorf("%q: want a number from 0 to %d", v, most)
				}
				return nil
			}},
	}
}

func bytesFault(name, doc string, at func(*Faults) *int64) Fault {
	return Fault{name, "SIZE", doc, func(f *Faults, v string, _ func(string) (SoCProps, error)) (err error) {
		*at(f), err = bytesize.Parse(v)
		return err
	}}
}

func durationFault(name, doc string, negative bool, at func(*Faults) *time.Duration) Fault {
	return Fault{name, "DURATION", doc, func(f *Faults, v string, _ func(string) (SoCProps, error)) error {
		rest, minus := strings.CutPrefix(v, "-")
		d, err := parseDuration(rest)
		if err == nil && minus && !negative {
			err = fmt.Errorf("%q is negative", v)
		}
		if minus {
			d = -d
		}
		*at(f) = d
		return err
	}}
}

// Set takes a fault as people write it, NAME or NAME=VALUE. soc looks up a SoC by its name.
func (f *Faults) Set(text string, soc func(name string) (SoCProps, error)) error {
	name, value, given := strings.Cut(text, "=")
	known := map[string]Fault{}
	for _, one := range FaultTable() {
		known[one.Name] = one
	}
	one, ok := known[name]
	if !ok {
		return fmt.Errorf("no fault is called %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	if (!given || value == "") && !strings.HasPrefix(one.Value, "[") {
		return fmt.Errorf("fault %s wants a value: %s=%s", name, name, one.Value)
	}
	if err := one.set(f, value, soc); err != nil {
		return fmt.Errorf("fault %s: %w", name, err)
	}
	f.texts = append(f.texts, text)
	return nil
}

// On returns the faults that Set took.
func (f Faults) On() []string { return f.texts }

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// parseDuration reads what time.ParseDuration does, and whole days and years.
func parseDuration(v string) (time.Duration, error) {
	for suffix, unit := range map[string]time.Duration{"d": day, "y": year} {
		if digits, ok := strings.CutSuffix(v, suffix); ok {
			if n, err := strconv.ParseUint(digits, 10, 16); err == nil && n > 0 && time.Duration(n) <= 200*year/unit {
				return time.Duration(n) * unit, nil
			}
		}
	}
	if d, err := time.ParseDuration(v); err == nil && d > 0 && d <= 200*year {
		return d, nil
	}
	return 0, fmt.Errorf("%q: want a duration such as 500ms, 5s, 3h, 2d or 20y", v)
}

// never is more bytes than a device sees in its life.
const never = 1 << 62
