package runlog

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
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
		text, _ := os.ReadFile(filepath.Join(b.dir, file)) // a run that cannot be read has none
		costs.add(string(text))
	}
	return costs
}

// executed is part of the line of each action that ran, and of few others: most lines of a log are of cached actions.
const executed = `"outcome":"` + string(event.Executed) + `"`

// add adds the costs of a run that c has no newer ones of.
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
