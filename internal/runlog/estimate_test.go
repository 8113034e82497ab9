package runlog_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/runlog"
)

// sink keeps events.
type sink []event.Event

func (s *sink) Send(e event.Event) { *s = append(*s, e) }

// TestEstimate goes through builds of this run log: a, b and c are independent, 10 s each; d needs a and takes 30 s;
// e is three actions of 6 s.
func TestEstimate(t *testing.T) {
	nodes := []runlog.Instance{{Step: "exec.a"}, {Step: "exec.b"}, {Step: "exec.c"},
		{Step: "exec.d", Needs: []string{"exec.a", "no.such"}}, {Step: "exec.e"}}
	started := func(id int, step, name string) event.Event {
		return event.ActionStarted{ID: id, Step: step, Name: name}
	}
	ended := func(id int, step, name string, o event.Outcome) event.Event {
		return event.ActionFinished{ID: id, Step: step, Name: name, Outcome: o}
	}
	begin := []event.Event{event.BuildStarted{Profile: "simulated"}, event.ActionsPlanned{Step: "exec.a", Actions: 1},
		event.ActionsPlanned{Step: "exec.b", Actions: 1},
		event.ActionsPlanned{Step: "exec.c", Actions: 1}, event.ActionsPlanned{Step: "exec.d", Actions: 1},
		event.ActionsPlanned{Step: "exec.e", Actions: 3}}
	type wait time.Duration
	for name, c := range map[string]struct {
		jobs int
		more []any
		want time.Duration // -1: not known
	}{
		"nothing runs": {jobs: 1, want: -1},
		"one worker":   {jobs: 1, more: []any{started(1, "exec.a", "")}, want: (10*3 + 30 + 18) * time.Second},
		// the chain is longer than 78/2
		"two workers": {jobs: 2, more: []any{started(1, "exec.a", "")}, want: (10 + 30) * time.Second},
		"a while later": {jobs: 1, more: []any{started(1, "exec.a", ""), wait(4 * time.Second)},
			want: 74 * time.Second},
		"one ended": {jobs: 1,
			more: []any{started(1, "exec.a", ""), wait(10 * time.Second), ended(1, "exec.a", "", event.Executed)},
			want: 68 * time.Second},
		"longer than it took": {jobs: 8, more: []any{started(1, "exec.a", ""), wait(20 * time.Second)},
			want: 32 * time.Second},
		"one of three": {jobs: 1, more: []any{started(5, "exec.e", "1"), ended(5, "exec.e", "1", event.Executed),
			ended(1, "exec.a", "", event.Executed), ended(4, "exec.d", "", event.Executed)},
			want: (10*2 + 12) * time.Second},
		// Half of what was seen of e was cached: of the last one, two thirds are expected.
		"half cached": {jobs: 1,
			more: []any{ended(1, "exec.a", "", event.Cached), ended(2, "exec.b", "", event.Cached),
				ended(3, "exec.c", "", event.Cached),
				ended(4, "exec.d", "", event.Cached), ended(5, "exec.e", "1", event.Cached),
				started(6, "exec.e", "2"), ended(6, "exec.e", "2", event.Executed)}, want: 4 * time.Second},
		"all ended": {jobs: 1, more: []any{started(1, "exec.a", ""), ended(1, "exec.a", "", event.Executed),
			ended(2, "exec.b", "", event.Cached), ended(3, "exec.c", "", event.Cached),
			ended(4, "exec.d", "", event.Cached), ended(5, "exec.e", "1", event.Cached),
			ended(6, "exec.e", "2", event.Cached), ended(7, "exec.e", "3", event.Cached)}, want: -1},
	} {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			took := map[string]time.Duration{"exec.a": 10, "exec.b": 10, "exec.c": 10, "exec.d": 30}
			var es []event.Event
			for step, d := range took {
				es = append(es, did(step, "", event.Executed, step, d*time.Second))
			}
			for i := range 3 {
				es = append(es, did("exec.e", fmt.Sprint(i+1), event.Executed, fmt.Sprint(i), 6*time.Second))
			}
			record(t, dir, append(es, event.BuildFinished{Executed: 7})...)
			time.Sleep(time.Second)
			// tells no duration
			record(t, dir, did("exec.a", "", event.Cached, "x", time.Millisecond), event.BuildFinished{Cached: 1})
			var s sink
			e := runlog.Estimate(&s, c.jobs, runlog.Open(dir).Costs)
			e.Plan(nodes)
			sent := 0
			for _, ev := range begin {
				e.Send(ev)
				sent++
			}
			for _, m := range c.more {
				switch m := m.(type) {
				case wait:
					time.Sleep(time.Duration(m))
				case event.Event:
					e.Send(m)
					sent++
				}
			}
			left, ok := e.Left()
			if ok != (c.want >= 0) || ok && (left-c.want).Abs() > time.Millisecond {
				t.Errorf("%s: %v, %v; want %v", name, left, ok, c.want)
			}
			progress := 0
			for _, ev := range s {
				if p, ok := ev.(event.BuildProgress); ok {
					progress++
					if p.Actions != 7 || p.RemainingSeconds <= 0 {
						t.Errorf("%s: %+v", name, p)
					}
				}
			}
			if len(s)-progress != sent || progress > 1 {
				t.Errorf("%s: %d events came of %d, %d progress", name, len(s), sent, progress)
			}
		})
	}
}

// What never ran before has no estimate; of a few new copies among many known ones it is what the others took.
func TestEstimateOfTheUnknown(t *testing.T) {
	dir := t.TempDir()
	var nodes []runlog.Instance
	var es []event.Event
	for i := range 10 {
		nodes = append(nodes, runlog.Instance{Step: fmt.Sprintf("exec.x[%q]", fmt.Sprint(i))})
		es = append(es, did(nodes[i].Step, "", event.Executed, fmt.Sprint(i), 2*time.Second))
	}
	record(t, dir, append(es[:8:8], event.BuildFinished{Executed: 8})...)
	costs := runlog.Open(dir).Costs
	var s sink
	e := runlog.Estimate(&s, 1, costs)
	e.Plan(nodes)
	e.Send(event.BuildStarted{Profile: "simulated"})
	for _, n := range nodes {
		e.Send(event.ActionsPlanned{Step: n.Step, Actions: 1})
	}
	e.Send(event.ActionStarted{ID: 1, Step: nodes[0].Step})
	if left, ok := e.Left(); !ok || (left-20*time.Second).Abs() > time.Second {
		t.Errorf("%v, %v", left, ok)
	}
	e = runlog.Estimate(&s, 1, costs)
	e.Plan([]runlog.Instance{{Step: "exec.new"}, {Step: "exec.newer"}, nodes[0]})
	e.Send(event.BuildStarted{Profile: "simulated"})
	e.Send(event.ActionStarted{ID: 1, Step: "exec.new"})
	if left, ok := e.Left(); ok {
		t.Errorf("most never ran, and %v are left", left)
	}
}

// Steps of a module with for_each are not one group: a new copy of one takes what other copies of that step took.
func TestEstimateInModules(t *testing.T) {
	dir := t.TempDir()
	step := func(key, name string) string { return fmt.Sprintf("module.m[%q].exec.%s", key, name) }
	record(t, dir, did(step("a", "short"), "", event.Executed, "1", time.Second),
		did(step("a", "long"), "", event.Executed, "2", 99*time.Second), event.BuildFinished{Executed: 2})
	var s sink
	e := runlog.Estimate(&s, 1, runlog.Open(dir).Costs)
	e.Plan([]runlog.Instance{{Step: step("a", "short")}, {Step: step("a", "long")}, {Step: step("b", "short")}})
	e.Send(event.BuildStarted{Profile: "simulated"})
	for _, name := range []string{step("a", "short"), step("a", "long"), step("b", "short")} {
		e.Send(event.ActionsPlanned{Step: name, Actions: 1})
	}
	e.Send(event.ActionFinished{Step: step("a", "long"), Outcome: event.Executed})
	e.Send(event.ActionStarted{ID: 1, Step: step("a", "short")})
	if left, ok := e.Left(); !ok || left > 3*time.Second {
		t.Errorf("%v, %v; want what the step took in the other copy of the module", left, ok)
	}
}
