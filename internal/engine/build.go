package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/secret"
	"github.com/hexmage/hexmage/internal/state"
	"github.com/hexmage/hexmage/internal/store"
)

// Options are what a build needs beside its plan.
type Options struct {
	Executor  execute.Executor // remembers results, as execute.Cached does
	Blobs     *store.HostFiles // everything; it learns which workspace file has which digest
	Hasher    merkle.Hasher    // of workspace files
	Fn        digest.Function
	Sink      event.Sink
	Workspace string                      // relative host paths are seen from here
	Out       string                      // folder for the pipeline's outputs; "" exports nothing
	OutIn     string                      // folder from which no link leads to Out; "": the one that Out is in
	State     string                      // folder for locks and last runs
	Prune     bool                        // remove outputs of earlier runs that the plan no longer has
	LogDir    string                      // where the output of failed actions goes
	Flush     func(context.Context) error // makes stored results survive a power cut, after long actions and each run

	// StateFile is the path of the request's state file, and Planning what the plan was made from: Run adds what
	// actions read and what it leaves, and writes the file if the build succeeds. "": no file is kept. Last is the
	// file of the last run, or nil.
	StateFile string
	Planning  state.Planning
	Last      *state.File

	// Secrets has the values that the plan's secrets refer to. It is asked, once, when an action runs that has any.
	// nil: there are none.
	Secrets func() (secret.Values, error)

	Extender plan.Extender // says more of what in the plan waits; nil does for a plan in which nothing does
	// Hints are for people: of an instance that Explains, by what an action of it that failed has printed, with the
	// values by which the instance was extended. nil: there are none.
	Hints func(at addrs.Instance, known plan.Known, spec string, output []byte) []string

	Roots []addrs.Output // trees whose root digests the caller wants

	Jobs int
	// how many results are looked up at once, beside what runs, where that means to wait for others; 0: an action is
	// looked up in its own turn
	LookAhead int
	KeepGoing bool
	// says of a step, such as `run.bench["64"]`, that nothing of it is looked up; nil: of none
	Fresh func(step string) bool
	Pools map[string]int // resources; one of each that is not named

	// Memory is how many bytes there are for actions on this machine, and Took how many an action took at its peak
	// when it last ran, 0 where that is not known. An action that has to run waits while what runs is expected to
	// leave it too little. Took is asked by many goroutines. 0, or nil: nothing waits.
	Memory int64
	Took   func(step, name string) int64
}

// Result is how a build went.
type Result struct {
	event.BuildFinished
	Outputs []event.OutputReady
	Checks  []event.CheckFinished
	Roots   map[addrs.Output]digest.Digest // of Options.Roots; their Directory messages are in the store
	Inputs  []state.Seen                   // what was looked at for actions, also by a build that failed
}

// Run carries out the plan. The error is about the engine (no space, no machine to run on, interrupted); actions that
// ran and failed are counted in the Result. The last event is BuildFinished in any case.
func Run(ctx context.Context, p *plan.Plan, o Options) (r Result, err error) {
	start := time.Now()
	started := event.BuildStarted{Pipeline: p.Pipeline, Profile: p.Profile}
	g, units, err := newGraph(p)
	if err != nil {
		o.Sink.Send(started)
		o.Sink.Send(event.BuildFinished{})
		return Result{}, err
	}
	w := newWorker(g, o, p.Pipeline)
	l := w.loop()
	started.Actions = g.units
	o.Sink.Send(started)
	err = l.run(ctx, append(units, g.gates()...))
	good := func() bool { return err == nil && l.sum.Failed == 0 }
	var left []state.Output
	if good() && o.Out != "" {
		left, err = w.putOutputs(ctx, p.Outputs)
		for _, out := range left {
			r.Outputs = append(r.Outputs, out.OutputReady)
		}
	}
	if good() {
		r.Roots, err = w.roots(ctx)
	}
	if ctx.Err() == nil {
		var cerr error
		if r.Checks, cerr = w.checks(ctx, p.Checks); cerr != nil {
			err = errors.Join(err, cerr)
		}
	}
	err = errors.Join(err, w.flush(ctx, l.sum.Executed))
	r.Inputs = w.inputs.all()
	if good() && o.StateFile != "" {
		// Without the file the next run plans and looks every action up.
		_ = w.stateFile(started, r, left).Write(o.StateFile)
	}
	l.sum.Seconds = time.Since(start).Seconds()
	l.sum.ChecksFailed = sent(o.Sink, r.Checks)
	o.Sink.Send(l.sum)
	r.BuildFinished = l.sum
	return r, err
}

// stateFile returns the state file of a build that succeeded.
func (w *worker) stateFile(started event.BuildStarted, r Result, left []state.Output) *state.File {
	f := state.File{Planning: w.o.Planning, Boot: state.Boot(), Build: started, Inputs: r.Inputs, Outputs: left,
		Checks: r.Checks}
	f.Build.Actions = 0
	for _, n := range w.g.order {
		f.Build.Actions += len(n.specs)
		for _, u := range n.specs {
			f.Always = f.Always || u.spec.NoCache || n.plan.Cache == plan.CacheInputs
		}
	}
	return &f
}

// Unchanged ends a run whose state file holds: it sends the events of a build in which every action was cached.
func Unchanged(f *state.File, sink event.Sink, start time.Time) Result {
	r := Result{Checks: f.Checks}
	sink.Send(f.Build)
	for _, out := range f.Outputs {
		sink.Send(out.OutputReady)
		r.Outputs = append(r.Outputs, out.OutputReady)
	}
	r.Actions, r.Cached, r.Seconds = f.Build.Actions, f.Build.Actions, time.Since(start).Seconds()
	r.ChecksFailed = sent(sink, r.Checks)
	sink.Send(r.BuildFinished)
	return r
}

// flush makes the results of executed actions survive a power cut, also in a run that is interrupted.
func (w *worker) flush(ctx context.Context, executed int) error {
	if w.o.Flush == nil || executed == 0 {
		return nil
	}
	return w.o.Flush(context.WithoutCancel(ctx))
}

// newWorker returns what the units of a graph are done with.
func newWorker(g *graph, o Options, pipeline string) *worker {
	w := &worker{assembler: newAssembler(g, o.Fn, o.Hasher, o.Blobs, o.Workspace), o: o,
		last: newLastRuns(o, pipeline), printed: atomicfile.TempName("printed")}
	w.room = &room{total: o.Memory, took: o.Took}
	w.values = func() (secret.Values, error) { return nil, nil }
	if o.Secrets != nil {
		w.values = sync.OnceValues(o.Secrets)
	}
	return w
}

// loop returns what carries out the worker's graph.
func (w *worker) loop() *loop {
	pools := map[string]int{}
	for k, v := range w.o.Pools {
		pools[k] = v
	}
	w.g.lookAhead = w.o.LookAhead
	return &loop{g: w.g, work: w.do, sink: w.o.Sink, jobs: max(1, w.o.Jobs), keepGoing: w.o.KeepGoing, pools: pools,
		room: w.room, messages: make(chan message, 16)}
}

// roots returns the digests of the trees that the caller wants.
func (w *worker) roots(ctx context.Context) (map[addrs.Output]digest.Digest, error) {
	found := map[addrs.Output]digest.Digest{}
	for _, o := range w.o.Roots {
		e, err := w.artifact(ctx, o)
		if err != nil {
			return nil, err
		}
		if e.Dir == nil {
			return nil, fmt.Errorf("%s is no tree", o)
		}
		root, blobs := e.Dir.Encode(w.fn)
		if err := w.keep(ctx, blobs); err != nil {
			return nil, err
		}
		found[o] = root
	}
	return found, nil
}
