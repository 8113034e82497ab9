// Package verify runs actions twice, and reports whether and where the outputs of the two runs differ. New returns an
// execute.Executor that wraps another Executor. The package does not know steps or plans.
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

// Options configure a Verifier.
type Options struct {
	Next   execute.Executor       // runs actions and caches results
	Again  execute.Executor       // runs actions and does not cache results
	Store  store.Blobs            // store of all outputs of Next and Again
	Select func(step string) bool // reports whether to verify a step; nil: all steps
}

// New returns an Executor that compares the outputs of two runs of each action byte by byte. If an action has a cached
// result, the Executor runs the action once and compares the outputs with the cached result. Otherwise it runs the
// action twice. Execute returns the first of the two results, and does not change the cache.
func New(o Options) *Verifier {
	return &Verifier{o: o, found: map[stepName]event.ActionVerified{}}
}

// Verifier is an execute.Executor that verifies actions.
type Verifier struct {
	o Options

	mu    sync.Mutex
	found map[stepName]event.ActionVerified
	sum   event.VerifyFinished
}

// Take removes and returns the verification of an action. It returns false if the action was not selected or did not
// run.
func (v *Verifier) Take(step, name string) (event.ActionVerified, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	e, ok := v.found[stepName{step, name}]
	delete(v.found, stepName{step, name})
	return e, ok
}

// Summary returns the current number of actions for each verdict.
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
	case event.ExpectedDifference:
		v.sum.ExpectedDifferences++
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
		return "it runs on a " + executor + ", where results vary between runs"
	case a.DoNotCache:
		return "its results may vary between runs (cache = false)"
	case a.Command.Platform[action.PropertyEffects] != "":
		return "it has side effects (side_effects = true)"
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
			v.record(s, event.ActionVerified{Verdict: event.Unverified, Reason: reason, ComparedWithCache: r.Cached})
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
			Reason: fmt.Sprintf("the command failed with exit code %d", first.ExitCode)})
		return first, nil
	}
	a.Report(0, 0, "runs a second time to compare the outputs")
	again := *a
	again.DropCheckpoint = true // a resumed run would hide a difference
	second, err := v.o.Again.Execute(ctx, &again)
	if err != nil {
		return nil, err
	}
	c := comparer{blobs: v.o.Store, varies: a.Varies, all: second.Varies}
	if err := c.results(ctx, first, second); err != nil {
		return nil, &execute.Error{Op: "compare the outputs of two runs", Err: err}
	}
	e := event.ActionVerified{Verdict: event.Same, ComparedWithCache: known, Differences: c.found, More: c.more}
	if len(c.found) > 0 {
		e.Verdict = event.ExpectedDifference
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
