package runlog

import (
	"time"

	"github.com/hexmage/hexmage/internal/event"
)

// Cost is the duration and the memory of an action.
type Cost struct {
	Duration time.Duration
	Memory   int64 // peak, in bytes; 0 if not measured
}

// Costs holds the cost of each action of a pipeline, from the latest run that executed the action.
type Costs map[actionName]Cost

// actionName names an action.
type actionName struct{ profile, step, name string }

// Of returns the cost of the action and true. If the cost is unknown, it returns false.
func (c Costs) Of(profile, step, name string) (Cost, bool) {
	cost, ok := c[actionName{profile, step, name}]
	return cost, ok
}

// Costs returns the cost of each action, from the newest run that executed the action.
func (b *History) Costs() Costs {
	costs := Costs{}
	for _, r := range b.Runs() {
		for _, a := range r.Actions {
			name := actionName{r.Profile, a.Step, a.Name}
			if _, newer := costs[name]; a.Outcome == event.Executed && !newer {
				costs[name] = Cost{a.Duration, a.Memory}
			}
		}
	}
	return costs
}
