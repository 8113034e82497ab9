package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/event"
)

// steps keeps, per step of a build, what a person wants to know: how many of its actions ended, and how.
type steps struct {
	by      map[string]*stepState // those that have not ended
	groups  map[string]*group
	order   []*group
	running map[int]*activity
	total   int
	ended   int
}

// stepState is one instance of a step.
type stepState struct {
	name     string
	group    *group
	actions  int // 0: not known yet
	ended    int
	cached   int
	executed int
	failed   int
	skipped  int
	busy     time.Duration // of its actions, added up
	workers  []string      // other than this machine's own, each once
}

// group is all instances of a step: one, or the copies that for_each makes.
type group struct {
	name    string // exec.obj
	planned int    // instances whose number of actions is known
	ended   int    // of these
	late    bool   // some became known only after others had ended: more may come

	held    []*stepState // ended, not shown yet: the first few of them
	actions [2]int       // how many actions those that ended and are not shown have, by held word
	count   [2]int       // and how many instances they are
}

type activity struct {
	step, name, text string
	start            time.Time
	done, total      int64
	progress         string
}

func newSteps() *steps {
	return &steps{by: map[string]*stepState{}, groups: map[string]*group{}, running: map[int]*activity{}}
}

func (s *steps) step(name string) *stepState {
	st := s.by[name]
	if st == nil {
		st = &stepState{name: name, group: s.group(name)}
		s.by[name] = st
	}
	return st
}

// group returns the group of a step's instance: exec.obj for exec.obj["a.c"].
func (s *steps) group(name string) *group {
	base, _, _ := strings.Cut(name, "[")
	g := s.groups[base]
	if g == nil {
		g = &group{name: base}
		s.groups[base] = g
		s.order = append(s.order, g)
	}
	return g
}

// add takes an event in. It returns the step that the event completed, if it did.
func (s *steps) add(e event.Event, now time.Time) *stepState {
	switch e := e.(type) {
	case event.ActionsPlanned:
		st := s.step(e.Step)
		st.actions = e.Actions
		st.group.planned++
		st.group.late = st.group.late || st.group.ended > 0
		s.total += e.Actions
	case event.ActionStarted:
		text := e.Description
		if text == "" {
			text = e.Name
		}
		s.running[e.ID] = &activity{step: e.Step, name: e.Name, text: text, start: now}
	case event.ActionProgress:
		if a := s.running[e.ID]; a != nil {
			a.done, a.total, a.progress = e.Done, e.Total, e.Text
		}
	case event.ActionFinished:
		delete(s.running, e.ID)
		st := s.step(e.Step)
		s.ended++
		st.count(e)
		if st.actions > 0 && st.ended == st.actions {
			st.group.ended++
			delete(s.by, e.Step)
			return st
		}
	}
	return nil
}

func (st *stepState) count(e event.ActionFinished) {
	st.ended++
	switch e.Outcome {
	case event.Cached:
		st.cached++
	case event.Executed:
		st.executed++
		st.busy += e.Duration
	case event.Failed:
		st.failed++
		st.busy += e.Duration
	case event.Skipped:
		st.skipped++
	}
	if e.Worker != "" && e.Worker != action.ExecutorLocal && !slices.Contains(st.workers, e.Worker) {
		st.workers = append(st.workers, e.Worker)
	}
}

// verified is what came of running an action once more: nothing for people when all is the same.
func (l *lines) verified(e event.ActionVerified) string {
	name := strings.TrimSpace(e.Step + " " + e.Name)
	var b strings.Builder
	switch e.Verdict {
	case event.Unverified:
		fmt.Fprintf(&b, "  %s %s: %s\n", l.yellow("not verified"), name, e.Reason)
	case event.Different:
		with := "two runs left different outputs"
		if e.Known {
			with = "it left something else than what the cache has"
		}
		fmt.Fprintf(&b, "\n%s %s: %s\n", l.red("≠"), l.bold(name), with)
		for _, d := range e.Differences {
			b.WriteString(l.difference(d))
		}
		if e.More > 0 {
			fmt.Fprintf(&b, "  and %d more\n", e.More)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (l *lines) difference(d event.Difference) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %s %s\n", l.bold(strings.TrimSpace(plain(d.Path)+" "+l.dim(d.Kind+":"))), d.Detail)
	for _, p := range d.Parts {
		fmt.Fprintf(&b, "    %s\n", plain(p))
	}
	for i, line := range d.Lines {
		sign := "-"
		if i > 0 || d.Kind == "exit code" {
			sign = "+"
		}
		fmt.Fprintf(&b, "    %s %s\n", sign, shown(line))
	}
	for _, h := range d.Hints {
		b.WriteString(indent(l.yellow("looks like ")+h, "    ") + "\n")
	}
	return b.String()
}

func (l *lines) verifySummary(e event.VerifyFinished) string {
	text := fmt.Sprintf("verified: %d the same", e.Same)
	if e.Different > 0 {
		text += ", " + l.red(fmt.Sprintf("%d different", e.Different))
	}
	if e.Unverified > 0 {
		text += fmt.Sprintf(", %d not verified", e.Unverified)
	}
	return text + "\n"
}
