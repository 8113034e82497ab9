package runlog

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
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
	for _, file := range b.names {
		text, _ := os.ReadFile(filepath.Join(b.dir, file)) // an unreadable run has no costs
		costs.add(string(text))
	}
	return costs
}

// executed occurs in the line of each action that ran. Most lines are for cached actions, and add does not parse those.
const executed = `"outcome":"` + string(event.Executed) + `"`

// add adds the costs of one run. It keeps existing costs, which are newer.
func (c Costs) add(log string) {
	first, rest, _ := strings.Cut(log, "\n")
	var head line
	if json.Unmarshal([]byte(first), &head) != nil || head.Run == nil {
		return
	}
	for text := range strings.Lines(rest) {
		var l line
		if !strings.Contains(text, executed) || json.Unmarshal([]byte(text), &l) != nil || l.Action == nil {
			continue
		}
		a := l.Action.Action
		name := actionName{head.Run.Profile, a.Step, a.Name}
		if _, newer := c[name]; a.Outcome == event.Executed && !newer {
			c[name] = Cost{a.Duration, a.Memory}
		}
	}
}
