package execute

import (
	"context"
	"fmt"
	"sync"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/store"
)

type stepKey struct{}

type stepName struct{ step, name string }

// WithStep returns a context that says which step the action that is looked up or executed under it is of, and its name
// within the step. Decorators that choose among steps or report on them go by it.
func WithStep(ctx context.Context, step, name string) context.Context {
	return context.WithValue(ctx, stepKey{}, stepName{step, name})
}

// VerifyOptions are what Verify needs.
type VerifyOptions struct {
	Next   Caching                // executes and remembers
	Again  Executor               // executes and remembers nothing
	Store  store.Blobs            // has the outputs of both
	Roots  string                 // a folder that all exec roots are below, of earlier processes too
	Select func(step string) bool // which steps are verified; nil: all
}

// Verify returns an Executor that runs each action once more than needed and compares what the two runs left, bit by bit:
// an action whose result is known is run once, another twice. Lookup finds nothing for actions that are to be verified, so
// whoever watches sees them run. What the cache knows stays as it is, and it is what Execute returns.
func Verify(o VerifyOptions) *Verifier {
	return &Verifier{o: o, found: map[stepName]event.ActionVerified{}}
}

// Verifier is what Verify returns.
type Verifier struct {
	o VerifyOptions

	mu    sync.Mutex
	found map[stepName]event.ActionVerified
	sum   event.VerifyFinished
}

// Take returns what came of verifying the step's action, once; false if it was not to be verified or did not run.
func (v *Verifier) Take(step, name string) (event.ActionVerified, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	e, ok := v.found[stepName{step, name}]
	delete(v.found, stepName{step, name})
	return e, ok
}

// Summary returns how many actions had which verdict so far.
func (v *Verifier) Summary() event.VerifyFinished {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.sum
}

func (v *Verifier) tell(s stepName, e event.ActionVerified) {
	e.Step, e.Name = s.step, s.name
	v.mu.Lock()
	defer v.mu.Unlock()
	v.found[s] = e
	switch e.Verdict {
	case event.Same:
		v.sum.Same++
	case event.Different:
		v.sum.Different++
	default:
		v.sum.Unverified++
	}
}

// selected tells whether the action that ctx is about is to be verified.
func (v *Verifier) selected(ctx context.Context) (stepName, bool) {
	s, _ := ctx.Value(stepKey{}).(stepName)
	return s, v.o.Select == nil || v.o.Select(s.step)
}

// unverifiable says why the action cannot be run twice and compared, or "".
func unverifiable(a *action.Action) string {
	executor := a.Command.Platform[action.PropertyExecutor]
	switch {
	case executor != "" && executor != action.ExecutorLocal:
		return "it runs on a " + executor + ", where times and temperatures differ"
	case a.DoNotCache:
		return "it may do something else each time (cache = false)"
	case a.Command.Platform[action.PropertyEffects] != "":
		return "it has effects beside its outputs (cache = \"inputs\")"
	case len(a.Command.Outputs) == 0:
		return "it has no outputs"
	}
	return ""
}

// Lookup implements Lookup.
func (v *Verifier) Lookup(ctx context.Context, a *action.Action) (*action.Result, bool, error) {
	if _, ok := v.selected(ctx); ok && unverifiable(a) == "" {
		return nil, false, nil
	}
	r, ok, err := v.o.Next.Lookup(ctx, a)
	if s, chosen := v.selected(ctx); ok && chosen {
		v.tell(s, event.ActionVerified{Verdict: event.Unverified, Reason: unverifiable(a), Known: true})
	}
	return r, ok, err
}

// Execute implements Executor.
func (v *Verifier) Execute(ctx context.Context, a *action.Action) (*action.Result, error) {
	s, ok := v.selected(ctx)
	if !ok {
		return v.o.Next.Execute(ctx, a)
	}
	if reason := unverifiable(a); reason != "" {
		r, err := v.o.Next.Execute(ctx, a)
		if err == nil {
			v.tell(s, event.ActionVerified{Verdict: event.Unverified, Reason: reason})
		}
		return r, err
	}
	first, known, err := v.o.Next.Lookup(ctx, a)
	if err == nil && !known {
		first, err = v.o.Next.Execute(ctx, a)
	}
	if err != nil {
		return nil, err
	}
	if first.ExitCode != 0 {
		v.tell(s, event.ActionVerified{Verdict: event.Unverified, Reason: fmt.Sprintf("it ended with exit code %d, and is not remembered", first.ExitCode)})
		return first, nil
	}
	ReportProgress(ctx, 0, 0, "runs again, to compare")
	second, err := v.o.Again.Execute(ctx, a)
	if err != nil {
		return nil, err
	}
	c := comparer{blobs: v.o.Store, roots: v.o.Roots}
	if err := c.results(ctx, first, second); err != nil {
		return nil, &Error{Op: "compare the outputs of two runs", Err: err}
	}
	e := event.ActionVerified{Verdict: event.Same, Known: known, Differences: c.found, More: c.more}
	if len(c.found) > 0 {
		e.Verdict = event.Different
	}
	v.tell(s, e)
	own := *first
	own.Cached = false // it did run, if not for the outputs
	if known {
		own.Duration, own.Worker = second.Duration, second.Worker
	}
	return &own, nil
}
