package history

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/runlog"
)

// Comparison lists the differences between two runs.
type Comparison struct {
	Settings []Change       `json:"settings,omitempty"` // pipeline, profile, variables, hexmage, …
	Tools    []Change       `json:"tools,omitempty"`    // versions
	Host     []Change       `json:"host,omitempty"`
	Steps    []StepChange   `json:"steps,omitempty"` // the steps that differ by more than a small change in duration
	Same     int            `json:"same"`            // the number of all other steps
	Outputs  []Change       `json:"outputs,omitempty"`
	Checks   []Change       `json:"checks,omitempty"`
	Metrics  []MetricChange `json:"metrics,omitempty"`
	Seconds  [2]float64     `json:"seconds"`
	Notes    []string       `json:"notes,omitempty"` // caveats, and comparisons that were not possible
}

// Change is one difference between two runs. If a run lacks the value, the text for that run is "".
type Change struct {
	Name string `json:"name"`
	A    string `json:"a"`
	B    string `json:"b"`

	Inside []Change `json:"inside,omitempty"` // for a toolchain: the changed files
	More   int      `json:"more,omitempty"`   // the number of further changes
}

// StepChange describes how a step differs between two runs.
type StepChange struct {
	Step    string     `json:"step"`
	Change  string     `json:"change"`            // one of the Step constants
	Inputs  []Change   `json:"inputs,omitempty"`  // changed inputs of the cache key
	More    int        `json:"more,omitempty"`    // the number of further changes
	Outputs string     `json:"outputs,omitempty"` // "differ", "the same", or "" if unknown
	Seconds [2]float64 `json:"seconds"`           // total run time of the actions that ran
	Ran     [2]int     `json:"ran"`               // the number of actions that ran
	Unknown string     `json:"unknown,omitempty"` // reason why Inputs is empty
}

// Values of StepChange.Change.
const (
	StepOnlyA   = "only in A"
	StepOnlyB   = "only in B"
	StepChanged = "changed" // an input in the cache key changed
	StepOutcome = "outcome" // equal inputs, different outcome
	StepTime    = "time"    // the duration changed by at least 20 % and 0.5 s
)

const maxChanges = 50 // per step

// Compare returns the differences between run a and run b.
func Compare(a, b *Document) *Comparison {
	c := &Comparison{Seconds: [2]float64{a.Seconds, b.Seconds}}
	c.Settings = pairs(a.settings(), b.settings())
	c.Tools = pairs(a.Toolchains, b.Toolchains)
	if len(a.Host) > 0 && len(b.Host) > 0 { // earlier versions of hexmage did not record the host
		c.Host = pairs(a.Host, b.Host)
	}
	c.steps(a, b)
	c.Outputs = outputs(a.Outputs, b.Outputs)
	c.Checks = pairs(a.checks(), b.checks())
	c.Metrics = CompareMetrics(a.Metrics(), b.Metrics())
	if len(c.Host) > 0 {
		c.Notes = append(c.Notes, "The runs are from different machines, so their durations are not comparable.")
	}
	if a.Variables != "" && b.Variables != "" && a.Variables != b.Variables {
		c.Notes = append(c.Notes, "Values of variables differ, but the records do not contain the names.")
	}
	return c
}

func (d *Document) settings() map[string]string {
	return map[string]string{
		"pipeline": d.Pipeline, "profile": d.Profile, "hexmage": d.Version, "result": string(d.Result),
		"parallel actions": strconv.Itoa(d.Parallel),
		"selected steps":   cmp.Or(strings.Join(d.Selected, ", "), "all"), "values of variables": d.Variables,
	}
}

func (d *Document) checks() map[string]string {
	all := map[string]string{}
	for _, k := range d.Checks {
		all[k.Check] = string(k.Result)
	}
	return all
}

// pairs returns the names whose values differ.
func pairs(a, b map[string]string) (all []Change) {
	names := map[string]string{}
	maps.Copy(names, a)
	maps.Copy(names, b)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if a[name] != b[name] {
			all = append(all, Change{Name: name, A: a[name], B: b[name]})
		}
	}
	return all
}

func outputs(a, b []runlog.Output) []Change {
	text := func(all []runlog.Output) map[string]string {
		by := map[string]string{}
		for _, o := range all {
			if by[o.Name] = "a folder"; o.Bytes > 0 {
				by[o.Name] = strconv.FormatInt(o.Bytes, 10) + " bytes"
			}
		}
		return by
	}
	changes := pairs(text(a), text(b))
	earlier := map[string]runlog.Output{}
	for _, o := range a {
		earlier[o.Name] = o
	}
	for _, o := range b {
		was, ok := earlier[o.Name]
		if ok && len(o.Content) > 0 && o.Bytes == was.Bytes && !bytes.Equal(o.Content, was.Content) {
			size := strconv.FormatInt(o.Bytes, 10) + " bytes"
			changes = append(changes, Change{Name: o.Name, A: size, B: size + ", others"})
		}
	}
	return changes
}

func (c *Comparison) steps(a, b *Document) {
	earlier := map[string]*Step{}
	for i := range a.Steps {
		earlier[a.Steps[i].Step] = &a.Steps[i]
	}
	look := newComparer(a, b)
	unseen := 0
	for i := range b.Steps {
		now := &b.Steps[i]
		was := earlier[now.Step]
		delete(earlier, now.Step)
		switch {
		case was == nil:
			c.Steps = append(c.Steps,
				StepChange{Step: now.Step, Change: StepOnlyB, Seconds: [2]float64{0, now.ran()},
					Ran: [2]int{0, now.Executed}})
		case !was.Ran() || !now.Ran():
			if was.Ran() != now.Ran() {
				unseen++
			}
			c.Same++
		default:
			if s := look.steps(was, now); s.Change == "" {
				c.Same++
			} else {
				c.Steps = append(c.Steps, s)
			}
		}
	}
	for i := range a.Steps {
		if was := earlier[a.Steps[i].Step]; was != nil {
			c.Steps = append(c.Steps,
				StepChange{Step: was.Step, Change: StepOnlyA, Seconds: [2]float64{was.ran(), 0},
					Ran: [2]int{was.Executed, 0}})
		}
	}
	if unseen > 0 {
		c.Notes = append(c.Notes, "Steps in only one of the runs: "+strconv.Itoa(unseen)+". The other "+
			"run failed or stopped before these steps.")
	}
}

// ran returns the duration of the actions that were not cached.
func (s *Step) ran() (seconds float64) {
	for _, a := range s.Actions {
		if a.Outcome != "cached" {
			seconds += a.Seconds
		}
	}
	return seconds
}

func (l *comparer) steps(a, b *Step) StepChange {
	s := StepChange{Step: b.Step, Seconds: [2]float64{a.ran(), b.ran()},
		Ran: [2]int{a.Executed + a.Failed, b.Executed + b.Failed}}
	if a.Made != "" && b.Made != "" {
		if s.Outputs = "the same"; a.Made != b.Made {
			s.Outputs = "differ"
		}
	}
	type name struct{ copy, action string }
	earlier := map[name]*Action{}
	for i := range a.Actions {
		earlier[name{a.Actions[i].Copy, a.Actions[i].Name}] = &a.Actions[i]
	}
	add := func(c Change) {
		// another action of the step has this change
		if slices.ContainsFunc(s.Inputs, func(h Change) bool { return h.Name == c.Name && h.A == c.A && h.B == c.B }) {
			return
		}
		if len(s.Inputs) >= maxChanges {
			s.More++
			return
		}
		s.Inputs = append(s.Inputs, c)
	}
	changed, outcome := false, false
	for i := range b.Actions {
		now := &b.Actions[i]
		at := name{now.Copy, now.Name}
		was := earlier[at]
		delete(earlier, at)
		if was == nil {
			changed = true
			add(Change{Name: "action " + now.title(), B: "is new"})
			continue
		}
		outcome = outcome || (was.Outcome == "failed") != (now.Outcome == "failed")
		if was.Key == now.Key {
			continue
		}
		changed = true
		found := l.actions(was, now)
		for _, c := range found.Changes {
			add(c)
		}
		s.More += found.More
		if len(found.Unknown) > 0 {
			s.Unknown = found.Unknown[0]
		}
	}
	for i := range a.Actions {
		if was := &a.Actions[i]; earlier[name{was.Copy, was.Name}] == was {
			changed = true
			add(Change{Name: "action " + was.title(), A: "is gone"})
		}
	}
	was, is := s.Seconds[0], s.Seconds[1]
	switch {
	case changed:
		s.Change = StepChanged
	case outcome || s.Outputs == "differ":
		s.Change = StepOutcome
	case s.Ran[0] > 0 && s.Ran[1] > 0 && max(was, is) > 1.2*min(was, is) && max(was, is)-min(was, is) > 0.5:
		s.Change = StepTime
	}
	return s
}

func (a *Action) title() string { return strings.TrimSpace(a.Copy + " " + a.Name) }
