// Package verify runs actions twice and reports whether their outputs are the same, and where they differ. New returns
// an execute.Executor around another one. The package does not know what a step or a plan is.
package verify

import (
	"context"
	"fmt"
	"sync"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/store"
)

type stepName struct{ step, name string }

// Options are what New needs.
type Options struct {
	Next   execute.Executor       // executes and remembers
	Again  execute.Executor       // executes and remembers nothing
	Store  store.Blobs            // has the outputs of both
	Select func(step string) bool // which steps are verified; nil: all
}

// New returns an Executor that runs each action once more than needed and compares what the two runs left, bit by bit:
// an action whose result is known is run once, another twice. What the cache knows stays as it is, and it is what
// Execute returns.
func New(o Options) *Verifier {
	return &Verifier{o: o, found: map[stepName]event.ActionVerified{}}
}

// Verifier is what New returns.
type Verifier struct {
	o Options

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

func (v *Verifier) record(s stepName, e event.ActionVerified) {
	e.Step, e.Name = s.step, s.name
	v.mu.Lock()
	defer v.mu.Unlock()
	v.found[s] = e
	switch e.Verdict {
	case event.Same:
		v.sum.Same++
	case event.Different:
		v.sum.Different++
	case event.Declared:
		v.sum.Declared++
	default:
		v.sum.Unverified++
	}
}

// selected tells whether the action is to be verified.
func (v *Verifier) selected(a *execute.Request) (stepName, bool) {
	return stepName{a.Step, a.Name}, v.o.Select == nil || v.o.Select(a.Step)
}

// unverifiable says why the action cannot be run twice and compared, or "".
func unverifiable(a *action.Action) string {
	executor := a.Command.Platform[action.PropertyExecutor]
	switch {
	case executor != "" && executor != action.ExecutorLocal:
		return "it runs on a " + executor + ", where no two runs are alike"
	case a.DoNotCache:
		return "it may do something else each time (cache = false)"
	case a.Command.Platform[action.PropertyEffects] != "":
		return "it has effects beside its outputs (cache = \"inputs\")"
	case len(a.Command.Outputs) == 0:
		return "it has no outputs"
	}
	return ""
}

// Execute implements Executor.
func (v *Verifier) Execute(ctx context.Context, a *execute.Request) (*action.Result, error) {
	s, ok := v.selected(a)
	if !ok {
		return v.o.Next.Execute(ctx, a)
	}
	if reason := unverifiable(a.Action); reason != "" {
		r, err := v.o.Next.Execute(ctx, a)
		if err == nil {
			v.record(s, event.ActionVerified{Verdict: event.Unverified, Reason: reason, Known: r.Cached})
		}
		return r, err
	}
	first, known, err := execute.Lookup(ctx, v.o.Next, a)
	switch {
	case err != nil:
	case known:
		err = a.Begin() // the user sees it run
	default:
		first, err = v.o.Next.Execute(ctx, a)
	}
	if err != nil {
		return nil, err
	}
	if !a.Succeeded(first.ExitCode) {
		v.record(s, event.ActionVerified{Verdict: event.Unverified,
			Reason: fmt.Sprintf("it ended with exit code %d, and is not remembered", first.ExitCode)})
		return first, nil
	}
	a.Report(0, 0, "runs again, to compare")
	second, err := v.o.Again.Execute(ctx, a)
	if err != nil {
		return nil, err
	}
	c := comparer{blobs: v.o.Store, varies: a.Varies, all: second.Varies}
	if err := c.results(ctx, first, second); err != nil {
		return nil, &execute.Error{Op: "compare the outputs of two runs", Err: err}
	}
	e := event.ActionVerified{Verdict: event.Same, Known: known, Differences: c.found, More: c.more}
	if len(c.found) > 0 {
		e.Verdict = event.Declared
		if c.wrong > 0 {
			e.Verdict = event.Different
		}
	}
	v.record(s, e)
	own := *first
	own.Cached = false // it did run, if not for the outputs
	if known {
		own.Duration, own.Worker = second.Duration, second.Worker
	}
	return &own, nil
}
