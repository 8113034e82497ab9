package cli

import (
	"bytes"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/event/eventtest"
	"github.com/hexmage/hexmage/internal/execute/verify"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/internal/step/steptest"
	"github.com/hexmage/hexmage/runner"
)

func TestSinks(t *testing.T) {
	for name, wrap := range map[string]func(t *testing.T, next event.Sink) event.Sink{
		"cli.sinks":        func(_ *testing.T, next event.Sink) event.Sink { return sinks{next} },
		"*cli.watching":    func(_ *testing.T, next event.Sink) event.Sink { return &watching{Sink: next} },
		"*cli.failureSink": func(_ *testing.T, next event.Sink) event.Sink { return &failureSink{next: next} },
		"*cli.diagnosing": func(t *testing.T, next event.Sink) event.Sink { // with what it puts around it
			return (&app{Env: Env{Stderr: &bytes.Buffer{}}}).diagnosed(t.TempDir(), next)
		},
		"*cli.dedupFailures": func(_ *testing.T, next event.Sink) event.Sink { return &dedupFailures{next: next} },
		"*cli.verifying": func(_ *testing.T, next event.Sink) event.Sink {
			return (&verifying{verifier: verify.New(verify.Options{})}).wrap(next)
		},
	} {
		t.Run(name, func(t *testing.T) { eventtest.Decorator(t, name, wrap) })
	}
}

// onSerial puts the user's choice into every action on a device, also into actions that wait for a listing.
func TestKindOnSerial(t *testing.T) {
	k := step.New(step.Schema{Summary: "Runs.", Example: "step"}, func(_ struct{}, p *step.Plan) {
		device := func(p *step.Plan) {
			p.Action("host", "", "true")
			p.Action("device", "", "true").Set(action.PropertyExecutor, runner.Executor)
		}
		device(p)
		p.Await(nil, func(p *step.Plan, _ action.Listing) error { device(p); return nil })
	})
	steptest.Kind(t, "cli.onSerial", onSerial{k, "1234"}, step.Request{})
	next, _ := k.Plan(step.Request{})
	p, diags := onSerial{k, "1234"}.Plan(step.Request{})
	if diags.HasErrors() || len(p.Await) != len(next.Await) {
		t.Fatalf("%+v, %v", p, diags)
	}
	expanded, _, err := p.Expand(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, specs := range [][]action.Spec{p.Specs, expanded} {
		if len(specs) != 2 || specs[0].Platform[runner.PropertySerial] != "" ||
			specs[1].Platform[runner.PropertySerial] != "1234" {
			t.Errorf("%+v", specs)
		}
	}
}
