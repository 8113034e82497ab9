package build

import (
	"context"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/cas"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/tree"
)

// Executor runs actions and can say, without running, what an action's result is.
type Executor interface {
	execute.Executor
	// Lookup returns the remembered result of the action, if there is one and its outputs are in the store.
	Lookup(ctx context.Context, a *action.Action) (*action.Result, bool, error)
}

// Options are what a build needs beside its plan.
type Options struct {
	Executor  Executor
	Store     cas.Store    // of everything; it is wrapped by Sources
	Sources   *cas.Sources // learns which workspace file has which digest
	Hasher    tree.Hasher  // of workspace files
	Fn        digest.Function
	Sink      event.Sink
	Workspace string // relative host paths are seen from here
	Out       string // folder for the pipeline's outputs; "" exports nothing
	State     string // folder where it is remembered what was exported
	LogDir    string // where the output of failed actions goes

	Jobs      int
	KeepGoing bool
	Fresh     bool           // look nothing up
	Pools     map[string]int // resources; one of each that is not named
}

// Result is how a build went.
type Result struct {
	event.BuildFinished
	Outputs []event.OutputReady
}

// Run carries out the plan. The error is about the engine (no space, no device, interrupted); actions that ran and failed
// are counted in the Result. The last event is BuildFinished in any case.
func Run(ctx context.Context, p *plan.Plan, o Options) (Result, error) {
	start := time.Now()
	g, units, err := newGraph(p)
	if err != nil {
		return Result{}, err
	}
	asm := newAssembler(g, o.Fn, o.Store, o.Hasher, o.Sources, o.Workspace)
	w := &worker{assembler: asm, o: o}
	pools := map[string]int{}
	for k, v := range o.Pools {
		pools[k] = v
	}
	l := &loop{g: g, work: w.do, sink: o.Sink, jobs: max(1, o.Jobs), keepGoing: o.KeepGoing, pools: pools, messages: make(chan message, 16)}
	o.Sink.Send(event.BuildStarted{Pipeline: p.Pipeline, Profile: p.Profile, Nodes: g.units})
	err = l.run(ctx, units)
	var r Result
	if err == nil && l.sum.Failed == 0 && o.Out != "" {
		r.Outputs, err = w.export(ctx, p)
	}
	l.sum.Seconds = time.Since(start).Seconds()
	o.Sink.Send(l.sum)
	r.BuildFinished = l.sum
	return r, err
}
