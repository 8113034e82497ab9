package runlog

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/event"
)

// Cost is the time and memory of an action.
type Cost struct {
	Duration time.Duration
	Memory   int64 // peak, in bytes; 0: not measured
}

// Costs holds the cost of each action of a pipeline in its latest run.
type Costs map[actionName]Cost

// actionName names an action.
type actionName struct{ profile, step, name string }

// Of returns the cost of the action, and whether one is on record.
func (c Costs) Of(profile, step, name string) (Cost, bool) {
	cost, ok := c[actionName{profile, step, name}]
	return cost, ok
}

// Costs returns the cost of each action in the newest run that executed it.
func (b *Book) Costs() Costs {
	costs := Costs{}
	for _, file := range b.names {
		text, _ := os.ReadFile(filepath.Join(b.dir, file)) // a run that cannot be read has none
		costs.add(string(text))
	}
	return costs
}

// executed is in the line of each action that ran. Most lines are of cached actions: add does not parse those.
const executed = `"outcome":"` + string(event.Executed) + `"`

// add adds the costs of one run. c keeps the costs that it has: they are newer.
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
