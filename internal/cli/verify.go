package cli

import (
	"strings"

	"github.com/alecthomas/kong"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/plan"
)

// verifyFlag is --verify, or --verify=STEP, which may be repeated.
type verifyFlag struct {
	on    bool
	steps []string // of the flag; none: all steps
}

// Decode implements kong.MapperValue.
func (f *verifyFlag) Decode(ctx *kong.DecodeContext) error {
	f.on = true
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		if s, ok := ctx.Scan.Pop().Value.(string); ok {
			f.steps = append(f.steps, s)
		}
	}
	return nil
}

// IsBool tells kong that the flag may stand without a value.
func (*verifyFlag) IsBool() bool { return true }

// verifying puts what verification found among a build's events. A nil one stands for a build that does not verify.
type verifying struct {
	next     event.Sink
	verifier *execute.Verifier
}

// start makes the engine verify the steps that the flag names. It returns nil when the flag was not given.
func (f *verifyFlag) start(e *engineParts, p *plan.Plan) (*verifying, error) {
	if !f.on {
		return nil, nil
	}
	chosen, err := selected(f.steps)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, n := range p.Nodes {
		known[n.At.Step.Short()] = true
	}
	wanted := map[string]bool{}
	for _, s := range chosen {
		if !known[s.Short()] {
			return nil, usage("--verify=%s: no such step is part of this run", s.Short())
		}
		wanted[s.Short()] = true
	}
	o := execute.VerifyOptions{Next: e.executor, Again: e.again, Store: e.sources, Roots: e.roots}
	if len(wanted) > 0 {
		o.Select = func(step string) bool {
			name, _, _ := strings.Cut(step, "[")
			return wanted[name]
		}
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
	if n, ok := e.(event.NodeFinished); ok {
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
