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

	Refuse     time.Duration `json:"refuse,omitempty"`      // take no new link for so long after one was cut
	DSP        DSPFault      `json:"dsp,omitempty"`         // what is wrong with the DSP until the device reboots
	VendorQNN  string        `json:"vendor_qnn,omitempty"`  // build id of the vendor's QNN libraries, which then come first in every search path of a shell
	Silicon    *SoCProps     `json:"silicon,omitempty"`     // what the device really is; its properties go on saying what the image does
	KillAfter  time.Duration `json:"kill_after,omitempty"`  // kill an AArch64 program that has run for so long, once: the one with the most memory
	KillAtDSP  bool          `json:"kill_at_dsp,omitempty"` // kill the first program that opens the DSP
	Skew       time.Duration `json:"skew,omitempty"`        // how far the device's clock is ahead of the host's
	Celsius    float64       `json:"celsius,omitempty"`     // how warm it is when it starts; 0: as its surroundings
	Hidden     Hidden        `json:"hidden,omitempty"`      // what programs on the device do not see
	HeatFactor float64       `json:"heat_factor,omitempty"` // it warms and cools so many times as fast as otherwise; 0: 1
}

// DSPFault says what is wrong with the DSP.
type DSPFault string

// What can be wrong with the DSP. A reboot ends each of them for good.
const (
	DSPWell    DSPFault = ""
	DSPRefuses DSPFault = "fail"  // opening a library fails with 0x80000406
	DSPHangs   DSPFault = "hang"  // calls are never answered
	DSPCrashes DSPFault = "crash" // the first call is lost with its protection domain, then it is DSPRefuses
)

// Hidden is a part of the device that programs do not see.
type Hidden string

// What can be hidden.
const (
	HiddenNothing Hidden = ""
	HiddenSoCID   Hidden = "soc-id"     // /sys/devices/soc0/soc_id, as in a container without the board's /sys
	HiddenCdsprpc Hidden = "libcdsprpc" // libcdsprpc.so, as from an app that does not declare it
)

// Fault is a row of the table of faults: how people ask for it, and what it does.
type Fault struct {
	Name, Value string // "drop-every", "SIZE"; a value in brackets may be left out
	Doc         string // what it does, for people
	set         func(f *Faults, value string, soc func(name string) (SoCProps, error)) error
	get         func(f Faults) string // the value, "" where the fault is off
}

// Usage is how the fault is written: "drop-every=SIZE", "wedge-dsp[=fail|hang|crash]".
func (f Fault) Usage() string {
	if inner, ok := strings.CutPrefix(f.Value, "["); ok {
		return f.Name + "[=" + inner
	}
	return f.Name + "=" + f.Value
}

// FaultTable returns all faults, in the order in which they are told.
func FaultTable() []Fault {
	return []Fault{
		bytesFault("drop-every", "SIZE", "cut the link again and again, each time after SIZE from the host", func(f *Faults) *int64 { return &f.DropEveryBytes }),
		bytesFault("drop-after", "SIZE", "cut the link once, after SIZE from the host", func(f *Faults) *int64 { return &f.DropAfterBytes }),
		bytesFault("drop-above", "SIZE", "cut the link whenever SIZE more came from the host than SIZE per second let pass: it breaks under load", func(f *Faults) *int64 { return &f.DropAboveBytes }),
		durationFault("refuse", "DURATION", "take no new link for DURATION after one was cut", false, func(f *Faults) *time.Duration { return &f.Refuse }),
		bytesFault("slow", "SIZE", "let SIZE per second through the link, in each direction", func(f *Faults) *int64 { return &f.SlowBytesPerSecond }),
		bytesFault("corrupt", "SIZE", "flip a bit of one byte from the host, after SIZE", func(f *Faults) *int64 { return &f.CorruptByte }),
		bytesFault("disk", "SIZE", "a /data of SIZE, in memory, so that it fills up", func(f *Faults) *int64 { return &f.DiskBytes }),
		{"wedge-dsp", "[fail|hang|crash]", "until a reboot, DSP calls fail with 0x80000406, or hang; crash: the first one dies, the others fail",
			func(f *Faults, v string, _ func(string) (SoCProps, error)) error {
				if v == "" {
					v = string(DSPRefuses)
				}
				if !slices.Contains([]DSPFault{DSPRefuses, DSPHangs, DSPCrashes}, DSPFault(v)) {
					return fmt.Errorf("%q: want fail, hang or crash", v)
				}
				f.DSP = DSPFault(v)
				return nil
			},
			func(f Faults) string { return string(f.DSP) }},
		{"vendor-qnn", "[BUILD_ID]", "the vendor's QNN libraries are of this build, an old one if none is given, and come first in the search paths of shells",
			func(f *Faults, v string, _ func(string) (SoCProps, error)) error {
				if v == "" {
					v = olderVendorQNN
				}
				if !strings.HasPrefix(v, "v") {
					v = "v" + v
				}
				f.VendorQNN = v
				return checkBuildID(v)
			},
			func(f Faults) string { return f.VendorQNN }},
		{"soc", "NAME", "it really is SoC NAME: soc_id, DSP and VTCM are of that one, the properties are not",
			func(f *Faults, v string, soc func(string) (SoCProps, error)) error {
				s, err := soc(v)
				f.Silicon = &s
				return err
			},
			func(f Faults) string {
				if f.Silicon == nil {
					return ""
				}
				return f.Silicon.Model
			}},
		{"hide", "soc-id|libcdsprpc", "programs do not see /sys/devices/soc0/soc_id, or libcdsprpc.so",
			func(f *Faults, v string, _ func(string) (SoCProps, error)) error {
				f.Hidden = Hidden(v)
				if f.Hidden != HiddenSoCID && f.Hidden != HiddenCdsprpc {
					return fmt.Errorf("%q: want %s or %s", v, HiddenSoCID, HiddenCdsprpc)
				}
				return nil
			},
			func(f Faults) string { return string(f.Hidden) }},
		{"kill-runner", "DURATION|dsp", "kill, once, the largest program that has run for DURATION, or the first that opens the DSP",
			func(f *Faults, v string, _ func(string) (SoCProps, error)) (err error) {
				if v == "dsp" {
					f.KillAtDSP = true
					return nil
				}
				f.KillAfter, err = parseDuration(v)
				return err
			},
			func(f Faults) string {
				if f.KillAtDSP {
					return "dsp"
				}
				return durationText(f.KillAfter)
			}},
		durationFault("clock", "DURATION", "the clock is ahead by DURATION, or behind with a minus: -20y", true, func(f *Faults) *time.Duration { return &f.Skew }),
		numberFault("hot", "CELSIUS", "it has CELSIUS degrees when it starts", 100, func(f *Faults) *float64 { return &f.Celsius }),
		numberFault("heat", "FACTOR", "it warms and cools FACTOR times as fast, for tests of cooling down", 10000, func(f *Faults) *float64 { return &f.HeatFactor }),
	}
}

func bytesFault(name, value, doc string, at func(*Faults) *int64) Fault {
	return Fault{name, value, doc,
		func(f *Faults, v string, _ func(string) (SoCProps, error)) (err error) {
			*at(f), err = bytesize.Parse(v)
			return err
		},
		func(f Faults) string {
			if *at(&f) == 0 {
				return ""
			}
			return sizeText(*at(&f))
		}}
}

func durationFault(name, value, doc string, negative bool, at func(*Faults) *time.Duration) Fault {
	return Fault{name, value, doc,
		func(f *Faults, v string, _ func(string) (SoCProps, error)) error {
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
		},
		func(f Faults) string { return durationText(*at(&f)) }}
}

func numberFault(name, value, doc string, most float64, at func(*Faults) *float64) Fault {
	return Fault{name, value, doc,
		func(f *Faults, v string, _ func(string) (SoCProps, error)) error {
			n, err := strconv.ParseFloat(v, 64)
			if err != nil || !(n > 0 && n <= most) {
				return fmt.Errorf("%q: want a number from 0 to %g", v, most)
			}
			*at(f) = n
			return nil
		},
		func(f Faults) string {
			if *at(&f) == 0 {
				return ""
			}
			return strconv.FormatFloat(*at(&f), 'f', -1, 64)
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
	return nil
}

// On returns the faults that are on, as Set takes them.
func (f Faults) On() []string {
	var on []string
	for _, one := range FaultTable() {
		if v := one.get(f); v != "" {
			on = append(on, one.Name+"="+v)
		}
	}
	return on
}

func sizeText(n int64) string {
	for _, u := range []struct {
		unit string
		n    int64
	}{{"GB", 1e9}, {"MB", 1e6}, {"kB", 1000}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n%u.n == 0 {
			return strconv.FormatInt(n/u.n, 10) + u.unit
		}
	}
	return strconv.FormatInt(n, 10)
}

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

func durationText(d time.Duration) string {
	switch {
	case d == 0:
		return ""
	case d%year == 0:
		return strconv.FormatInt(int64(d/year), 10) + "y"
	case d%day == 0:
		return strconv.FormatInt(int64(d/day), 10) + "d"
	case d%time.Hour == 0:
		return strconv.FormatInt(int64(d/time.Hour), 10) + "h"
	}
	return d.String()
}

// never is more bytes than a device sees in its life.
const never = 1 << 62
