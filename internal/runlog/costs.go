package runlog

import (
	"path/filepath"
	"time"

	"github.com/hexmage/hexmage/internal/event"
)

// Cost is what an action took when it last ran.
type Cost struct {
	Duration time.Duration
	Memory   int64 // peak, in bytes; 0: not measured
}

// Costs are those of all actions of a pipeline.
type Costs map[actionName]Cost

// actionName names an action.
type actionName struct{ profile, step, name string }

// Of returns the cost of the action, the zero Cost if it is not on record.
func (c Costs) Of(profile, step, name string) Cost { return c[actionName{profile, step, name}] }

// Costs returns the cost of each action in the newest run that executed it.
func (b *Book) Costs() Costs {
	costs := Costs{}
	for _, file := range b.names {
		run, err := read(filepath.Join(b.dir, file))
		if err != nil {
			continue
		}
		for _, a := range run.Actions {
			name := actionName{run.Profile, a.Step, a.Name}
			if _, newer := costs[name]; a.Outcome == event.Executed && !newer {
				costs[name] = Cost{a.Duration, a.Memory}
			}
		}
	}
	return costs
}
