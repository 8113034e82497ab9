package report

import (
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
