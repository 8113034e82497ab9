package cli

import (
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/plan"
)

// verifying puts what verification found among a build's events. A nil one stands for a build that does not verify.
type verifying struct {
	next     event.Sink
	verifier *execute.Verifier
}

// startVerifying makes the engine verify the steps that the flag names. It returns nil when the flag was not given.
func startVerifying(f stepsFlag, e *engineParts, p *plan.Plan) (*verifying, error) {
	if !f.on {
		return nil, nil
	}
	chosen, err := f.choose("--verify", p)
	if err != nil {
		return nil, err
	}
	o := execute.VerifyOptions{Next: e.executor, Again: e.again, Store: e.blobs, Roots: e.roots}
	if len(f.steps) > 0 {
		o.Select = chosen
	}
	v := execute.Verify(o)
	e.executor = v
	return &verifying{verifier: v}, nil
}

// before returns a sink that passes events on to next, with those about verification in between.
func (v *verifying) before(next event.Sink) event.Sink {
	if v == nil {
		return next
	}
	v.next = next
	return v
}

// Send implements event.Sink.
func (v *verifying) Send(e event.Event) {
	if _, last := e.(event.BuildFinished); last {
		v.next.Send(v.verifier.Summary())
	}
	v.next.Send(e)
	if n, ok := e.(event.ActionFinished); ok {
		if found, ok := v.verifier.Take(n.Step, n.Name); ok {
			v.next.Send(found)
		}
	}
}

// outcome is the error for what the verification found: exit code 1 and nothing more to say.
func (v *verifying) outcome() error {
	if v != nil && v.verifier.Summary().Different > 0 {
		return &exitError{code: ExitFailed} // the report has said it
	}
	return nil
}
