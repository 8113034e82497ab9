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

// Comparison is in what two runs differ.
type Comparison struct {
	Settings []Change       `json:"settings,omitempty"` // pipeline, profile, variables, hexmage, …
	Tools    []Change       `json:"tools,omitempty"`    // versions of toolchains
	Host     []Change       `json:"host,omitempty"`
	Steps    []StepChange   `json:"steps,omitempty"` // that differ in more than their times, or in these by much
	Same     int            `json:"same"`            // steps that do not
	Outputs  []Change       `json:"outputs,omitempty"`
	Checks   []Change       `json:"checks,omitempty"`
	Metrics  []MetricChange `json:"metrics,omitempty"`
	Seconds  [2]float64     `json:"seconds"`
	Notes    []string       `json:"notes,omitempty"` // what is to be borne in mind, and what cannot be told
}

// Change is one thing that differs. An empty text is of a thing that is not there.
type Change struct {
	Name string `json:"name"`
	A    string `json:"a"`
	B    string `json:"b"`

	Inside []Change `json:"inside,omitempty"` // of a toolchain: what in it differs, by path
	More   int      `json:"more,omitempty"`   // beyond those
}

// StepChange is a step that differs.
type StepChange struct {
	Step    string     `json:"step"`
	Change  string     `json:"change"`            // one of the Step constants
	Inputs  []Change   `json:"inputs,omitempty"`  // what its keys were made of, and differs
	More    int        `json:"more,omitempty"`    // differences beyond those
	Outputs string     `json:"outputs,omitempty"` // "differ", "the same", or "" where that is not known
	Seconds [2]float64 `json:"seconds"`           // of all its actions that ran
	Ran     [2]int     `json:"ran"`               // actions that did
	Unknown string     `json:"unknown,omitempty"` // why no inputs are told
}

// Values of StepChange.Change.
const (
	StepOnlyA   = "only in A"
	StepOnlyB   = "only in B"
	StepChanged = "changed" // it was made of something else
	StepOutcome = "outcome" // of the same, something else came
	StepTime    = "time"    // it took longer, or shorter, by a fifth and half a second at least
)

const maxChanges = 50 // of one step

// Compare says in what b differs from a.
func Compare(a, b *Document) *Comparison {
	c := &Comparison{Seconds: [2]float64{a.Seconds, b.Seconds}}
	c.Settings = pairs(a.settings(), b.settings())
	c.Tools = pairs(a.Toolchains, b.Toolchains)
	if len(a.Host) > 0 && len(b.Host) > 0 { // records of an earlier hexmage do not have it
		c.Host = pairs(a.Host, b.Host)
	}
	c.steps(a, b)
	c.Outputs = outputs(a.Outputs, b.Outputs)
	c.Checks = pairs(a.checks(), b.checks())
	c.Metrics = CompareMetrics(a.Metrics(), b.Metrics())
	if len(c.Host) > 0 {
		c.Notes = append(c.Notes, "The runs are of different machines: their times are not to be compared.")
	}
	if a.Variables != "" && b.Variables != "" && a.Variables != b.Variables {
		c.Notes = append(c.Notes, "Variables have other values; which, is not on record.")
	}
	return c
}

func (d *Document) settings() map[string]string {
	return map[string]string{
		"pipeline": d.Pipeline, "profile": d.Profile, "hexmage": d.Version, "result": string(d.Result),
		"actions at once": strconv.Itoa(d.Parallel),
		"steps asked for": cmp.Or(strings.Join(d.Selected, ", "), "all"), "values of variables": d.Variables,
	}
}

func (d *Document) checks() map[string]string {
	all := map[string]string{}
	for _, k := range d.Checks {
		all[k.Check] = string(k.Result)
	}
	return all
}

// pairs are the names at which the two differ.
func pairs(a, b map[string]string) (all []Change) {
	names := maps.Clone(a)
	if names == nil {
		names = map[string]string{}
	}
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
	for _, o := range b {
		i := slices.IndexFunc(a, func(other runlog.Output) bool { return other.Name == o.Name })
		if i >= 0 && len(o.Content) > 0 && o.Bytes == a[i].Bytes && !bytes.Equal(o.Content, a[i].Content) {
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
		c.Notes = append(c.Notes, "Steps that are on record of one run only: "+strconv.Itoa(unseen)+". The other "+
			"did not come to them: it failed or was stopped before.")
	}
}

// ran is how long the actions took that did not come from the cache.
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
		// of another action of the step
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
