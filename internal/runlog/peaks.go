package runlog

import (
	"path/filepath"

	"github.com/hexmage/hexmage/internal/event"
)

// Peaks are how many bytes of memory actions took at their peak when they last ran.
type Peaks map[actionName]int64

// Of is the peak of the action, 0 where it is not on record.
func (p Peaks) Of(step, name string) int64 { return p[actionName{step: step, name: name}] }

// Peaks returns those of the runs with the profile; "" stands for all, as that which a pipeline has by itself is
// known only when it is planned.
func (b *Book) Peaks(profile string) Peaks {
	peaks := Peaks{}
	for _, file := range b.names {
		run, err := read(filepath.Join(b.dir, file))
		if err != nil || profile != "" && run.Profile != profile {
			continue
		}
		for _, a := range run.Actions {
			name := actionName{step: a.Step, name: a.Name}
			if _, newer := peaks[name]; a.Outcome == event.Executed && !newer {
				peaks[name] = a.Memory
			}
		}
	}
	return peaks
}
