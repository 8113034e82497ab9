package devinfo

import (
	"errors"
	"fmt"

	"github.com/hexmage/hexmage/qnn"
)

// Mismatch is a problem with a device or file, found before the push.
type Mismatch struct {
	File   string `json:"file,omitempty"` // path in the run's folder; empty: the device itself
	What   string `json:"what"`           // the problem
	Remedy string `json:"remedy"`         // the next step
}

func (m *Mismatch) Error() string {
	what := m.What
	if m.File != "" {
		what = m.File + ": " + what
	}
	return what + "; " + m.Remedy
}

// CheckDevice checks that a device fits the target of the files. Empty fields of want match any device.
func CheckDevice(have Info, want qnn.Target) error {
	var all []error
	if !FitsSoC(have.SoC, want.SoC) {
		all = append(all, &Mismatch{What: fmt.Sprintf("device %s has the SoC %s, but the target is %s",
			have.Serial, have.SoC, want.SoC), Remedy: fmt.Sprintf("set target %q {} or choose another device with --serial", have.SoC)})
	}
	if want.Arch != "" && have.Arch != "" && have.Arch != want.Arch {
		all = append(all, &Mismatch{What: fmt.Sprintf("device %s has Hexagon %s, but the target is %s", have.Serial, have.Arch, want.Arch), Remedy: "build for the device's SoC, or choose another device with --serial"})
	}
	return errors.Join(all...)
}
