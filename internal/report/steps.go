package report

import (
	"time"

	"github.com/hexmage/hexmage/internal/event"
)

// steps keeps, per step of a build, what a person wants to know: how many of its actions ended, and how.
type steps struct {
	by      map[string]*stepState
	order   []string
	running map[int]*activity
	total   int
	ended   int
}

type stepState struct {
	name     string
	nodes    int // 0: not known yet
	ended    int
	outcomes map[event.Outcome]int
	busy     time.Duration // of its actions, added up
	worker   string
	printed  bool
}

type activity struct {
	step, name, text string
	start            time.Time
	done, total      int64
	progress         string
}

func newSteps() *steps {
	return &steps{by: map[string]*stepState{}, running: map[int]*activity{}}
}

func (s *steps) step(name string) *stepState {
	st := s.by[name]
	if st == nil {
		st = &stepState{name: name, outcomes: map[event.Outcome]int{}}
		s.by[name] = st
		s.order = append(s.order, name)
	}
	return st
}

// add takes an event in. It returns the step that the event completed, if it did.
func (s *steps) add(e event.Event, now time.Time) *stepState {
	switch e := e.(type) {
	case event.NodePlanned:
		st := s.step(e.Step)
		st.nodes = e.Nodes
		s.total += e.Nodes
	case event.NodeStarted:
		text := e.Description
		if text == "" {
			text = e.Name
		}
		s.running[e.ID] = &activity{step: e.Step, name: e.Name, text: text, start: now}
	case event.NodeProgress:
		if a := s.running[e.ID]; a != nil {
			a.done, a.total, a.progress = e.Done, e.Total, e.Text
		}
	case event.NodeFinished:
		delete(s.running, e.ID)
		st := s.step(e.Step)
		st.ended++
		s.ended++
		st.outcomes[e.Outcome]++
		if e.Outcome == event.Executed || e.Outcome == event.Failed {
			st.busy += e.Duration
		}
		if e.Worker != "" && e.Worker != "local" {
			st.worker = e.Worker
		}
		if st.nodes > 0 && st.ended == st.nodes && !st.printed {
			st.printed = true
			return st
		}
	}
	return nil
}
