package devinfo

import (
	"errors"
	"fmt"

	"github.com/hexmage/hexmage/qnn"
)

// Mismatch is something that would fail on the device, found before anything is pushed.
type Mismatch struct {
	File   string `json:"file,omitempty"` // path in the run's folder; empty: the device itself
	What   string `json:"what"`           // what does not fit
	Remedy string `json:"remedy"`         // what to do
}

func (m *Mismatch) Error() string {
	what := m.What
	if m.File != "" {
		what = m.File + ": " + what
	}
	return what + "; " + m.Remedy
}

// CheckDevice compares a device with the target that the files were built for; what is empty in that is not checked.
func CheckDevice(have Info, want qnn.Target) error {
	var all []error
	if !FitsSoC(have.SoC, want.SoC) {
		all = append(all, &Mismatch{What: fmt.Sprintf("device %s has the SoC %s, the target is %s", have.Serial, have.SoC, want.SoC), Remedy: fmt.Sprintf("set target %q {} or choose another device with --serial", have.SoC)})
	}
	if want.Arch != "" && have.Arch != "" && have.Arch != want.Arch {
		all = append(all, &Mismatch{What: fmt.Sprintf("device %s has Hexagon %s, the target is %s", have.Serial, have.Arch, want.Arch), Remedy: "build for the device's SoC, or choose another device with --serial"})
	}
	return errors.Join(all...)
}
