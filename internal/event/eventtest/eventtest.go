// Package eventtest contains conformance tests for event.Sink. Sink tests any sink. Decorator tests a sink that
// forwards events to another sink. The parameter name is the tested type, as %T prints it. TestSeams of package
// archtest reads these names, and fails if an implementation lacks a conformance test.
package eventtest

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
)

// Run returns the events of a watched build that verifies actions, in order. The list contains an event of each kind,
// with all fields set.
func Run() []event.Event {
	key := digest.BLAKE3.Bytes([]byte("action"))
	failed := event.ActionFinished{
		ID: 3, Step: "exec.fails", Name: "one", Description: "fail", Outcome: event.Failed, Key: key.Hex(),
		Action: key, Seconds: 1, Worker: "local",
		Failure: &event.Failure{
			Summary: "exit code 1", Where: "pipelines/p.hcl:3", Source: []string{`step "exec" "fails" {`},
			Command: []string{"cc", "-c", "a.c"}, ExitCode: 1,
			Output: "a.c:3:5: error: expected ';'\n", Log: "no/such/log", Hints: []string{"add it"},
			InfrastructureError: true,
		},
	}
	return []event.Event{
		event.WatchStarted{Files: 3, Polling: true},
		event.FilesChanged{Paths: []string{"a.c", "b.c"}},
		event.Diagnostic{Severity: "warning", Summary: "Odd", Detail: "It is odd.", File: "pipelines/p.hcl", Line: 3,
			Column: 1},
		event.BuildStarted{Pipeline: "p", Profile: "open", Actions: 4},
		event.ActionsPlanned{Step: "exec.compiles", Actions: 2},
		event.ActionStarted{ID: 1, Step: "exec.compiles", Name: "a.o", Description: "compile a.c"},
		event.ActionProgress{ID: 1, Done: 1, Total: 2, Unit: "bytes", Text: "half"},
		event.ActionFinished{ID: 1, Step: "exec.compiles", Name: "a.o", Outcome: event.Executed, Key: key.Hex(),
			Action: key, Seconds: 1, Worker: "local", Warning: "old"},
		event.ActionVerified{
			Step: "exec.compiles", Name: "a.o", Verdict: event.Different, Reason: "it differs",
			ComparedWithCache: true, More: 1,
			Differences: []event.Difference{{Path: "a.o", Kind: "content", Lines: []string{"a", "b"}}},
		},
		event.ActionFinished{ID: 2, Step: "exec.compiles", Name: "b.o", Outcome: event.Cached, Key: key.Hex(),
			Action: key},
		event.BuildProgress{Ended: 2, Actions: 4, RemainingSeconds: 1.5},
		failed,
		failed, // the same errors for another target
		event.ActionFinished{ID: 4, Step: "exec.waits", Outcome: event.NotRun},
		event.OutputReady{Name: "o", Path: "out/o", Show: "out/o"},
		event.CheckFinished{Check: "check.o", Where: "p.hcl:1", Severity: "error", Result: event.CheckPassed},
		event.VerifyFinished{Same: 1, Different: 1, Unverified: 1},
		event.BuildFinished{Actions: 4, Executed: 1, Cached: 1, Failed: 1, NotRun: 1, Seconds: 2},
		event.Error{Message: "no more", ExitCode: 3},
	}
}

// Sink tests a sink that the function open returns. The sink must accept all events, and must not change any event. The
// test includes events without fields, because an interrupted build may send incomplete events.
func Sink(t *testing.T, name string, open func(t *testing.T) event.Sink) {
	s := open(t)
	if got := fmt.Sprintf("%T", s); got != name {
		t.Fatalf("the suite checks a %s, but got a %s", name, got)
	}
	sent, same := Run(), Run()
	for i, e := range sent {
		if s.Send(e); !reflect.DeepEqual(e, same[i]) {
			t.Errorf("the sink changed a %T to %+v, want %+v", e, e, same[i])
		}
	}
	for _, e := range sent {
		s.Send(reflect.Zero(reflect.TypeOf(e)).Interface().(event.Event))
	}
}

// Decorator tests a sink that the function wrap returns. The sink must forward each event once, but may change the
// reason for a failure.
func Decorator(t *testing.T, name string, wrap func(t *testing.T, next event.Sink) event.Sink) {
	next := &record{}
	Sink(t, name, func(t *testing.T) event.Sink { return wrap(t, next) })
	s := wrap(t, next)
	for _, e := range Run() {
		next.events = nil
		s.Send(e)
		n := 0
		for _, got := range next.events {
			if reflect.DeepEqual(bare(got), bare(e)) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("the sink forwards %T %d times, want once: %+v", e, n, next.events)
		}
	}
}

// record stores events.
type record struct{ events []event.Event }

func (k *record) Send(e event.Event) { k.events = append(k.events, e) }

// bare returns the event without the parts of a failure that a decorator may change.
func bare(e event.Event) event.Event {
	if f, ok := e.(event.ActionFinished); ok && f.Failure != nil {
		f.Failure = &event.Failure{Summary: f.Failure.Summary, ExitCode: f.Failure.ExitCode,
			InfrastructureError: f.Failure.InfrastructureError}
		return f
	}
	return e
}
