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

// Options are the settings of a build that are not part of the plan.
type Options struct {
	Executor  execute.Executor // runs actions and caches results, like execute.Cached
	Blobs     *store.HostFiles // store of all blobs, which knows the digests of workspace files
	Hasher    merkle.Hasher    // computes digests of workspace files
	Fn        digest.Function
	Sink      event.Sink
	Workspace string                      // folder to which host paths are relative
	Out       string                      // folder for the pipeline's outputs; "" exports nothing
	OutIn     string                      // see the parameter in of ValidateOutputDir
	State     string                      // folder for locks and records of runs
	Prune     bool                        // remove outputs of earlier runs that the plan lacks
	LogDir    string                      // folder for the output of failed actions
	Flush     func(context.Context) error // syncs stored results to disk, after long actions and after each run

	// StateFile is the path of the state file for this request; "" means no state file. If the build succeeds, Run
	// writes the file. To write it, Run calls Planning for the record of planning and of the Resolver, and adds the
	// outputs and all files that actions read. Last is the state file of the last run, or nil.
	StateFile string
	Planning  func() (*state.Planning, error)
	Last      *state.File

	// Secrets returns the values of all secrets in the plan. The engine calls it once, before the first action that
	// uses secrets. nil: the plan has no secrets.
	Secrets func() (secret.Values, error)

	Resolver plan.Resolver // resolves deferred parts of the plan; nil if nothing is deferred
	// Hints returns hints for a failed action of an instance for which Explains is set. The parameter known has the
	// values with which the engine resolved the instance, and output is the output of the action. nil: no hints.
	Hints func(at addrs.Instance, known plan.ResolvedInputs, spec string, output []byte) []string

	Roots []addrs.Output // trees whose digests Run returns in Result.Roots

	Jobs int
	// maximum number of concurrent cache lookups before execution, to hide the latency of a remote cache; 0: one lookup
	// at a time
	LookAhead int
	KeepGoing bool
	// reports whether to ignore cached results for a step, such as `run.bench["64"]`; nil: use all cached results
	Force func(step string) bool
	// Pools maps the name of a resource to its size, which is 1 for all other resources. The size of MemoryPool is the
	// number of bytes that actions may use on this machine. An action waits until enough of each resource is free.
	Pools map[string]int64
	// PeakMemory returns the peak memory in bytes of the last run of an action, or 0 if unknown. It must allow
	// concurrent calls.
	PeakMemory func(step, name string) int64 // nil: unknown
}

// Result is the result of a build.
type Result struct {
	event.BuildFinished
	Outputs []event.OutputReady
	Checks  []event.CheckFinished
	// digests of Options.Roots; the store has all Directory messages of the trees
	Roots  map[addrs.Output]digest.Digest
	Inputs []state.Seen // paths that actions read; also set if the build failed
}

// Run builds the plan. It returns an error if the engine fails, for example because the disk is full, a worker is
// missing, or the user interrupted the build. Failed actions are not an error; Result counts them. Run always sends
// BuildFinished as the last event.
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
	safe := make(chan error, 1)
	go func() { safe <- w.flush(ctx, l.sum.Executed) }()
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
	err = errors.Join(err, <-safe)
	r.Inputs = w.inputs.all()
	if good() && ctx.Err() == nil && o.StateFile != "" { // an interrupt leaves checks out
		// Without the file, the next run plans and looks up every action.
		if made, perr := o.Planning(); perr == nil {
			_ = w.stateFile(*made, started, r, left).Write(o.StateFile)
		}
	}
	l.sum.Seconds = time.Since(start).Seconds()
	l.sum.ChecksFailed = sent(o.Sink, r.Checks)
	o.Sink.Send(l.sum)
	r.BuildFinished = l.sum
	return r, err
}

// stateFile returns the state file of a successful build.
func (w *worker) stateFile(
	made state.Planning, started event.BuildStarted, r Result, left []state.Output,
) *state.File {
	f := state.File{Planning: made, Boot: atomicfile.Boot(), Build: started, Inputs: r.Inputs, Outputs: left,
		Checks: r.Checks}
	f.Build.Actions = 0
	for _, n := range w.g.order {
		f.Build.Actions += len(n.specs)
		for _, u := range n.specs {
			f.Always = f.Always || u.spec.NoCache || n.plan.SideEffects
		}
	}
	return &f
}

// Unchanged reports a build in which nothing changed, because the state file is still valid. It sends the same events
// as a build in which each action is a cache hit.
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

// flush syncs the results of executed actions to disk, also in an interrupted run.
func (w *worker) flush(ctx context.Context, executed int) error {
	if w.o.Flush == nil || executed == 0 {
		return nil
	}
	return w.o.Flush(context.WithoutCancel(ctx))
}

// newWorker returns the shared state of the workers of a graph.
func newWorker(g *graph, o Options, pipeline string) *worker {
	a := &assembler{g: g, fn: o.Fn, blobs: o.Blobs, hasher: o.Hasher, files: o.Blobs, workspace: o.Workspace,
		hosts: map[string]lazyEntry{}, artifacts: map[addrs.Output]lazyEntry{},
		folders: map[digest.Digest]*merkle.Dir{}}
	w := &worker{assembler: a, o: o, last: newLastRuns(o, pipeline), printed: atomicfile.TempName("printed")}
	w.values = func() (secret.Values, error) { return nil, nil }
	if o.Secrets != nil {
		w.values = sync.OnceValues(o.Secrets)
	}
	return w
}

// loop returns the loop that builds the worker's graph.
func (w *worker) loop() *loop {
	pools := map[string]*pool{}
	for name, size := range w.o.Pools {
		pools[name] = &pool{size: size}
	}
	w.g.lookAhead = w.o.LookAhead
	return &loop{g: w.g, work: w.do, sink: w.o.Sink, jobs: max(1, w.o.Jobs), keepGoing: w.o.KeepGoing, pools: pools,
		messages: make(chan message, 16)}
}

// roots returns the digests of the trees in Options.Roots.
func (w *worker) roots(ctx context.Context) (map[addrs.Output]digest.Digest, error) {
	found := map[addrs.Output]digest.Digest{}
	for _, o := range w.o.Roots {
		e, err := w.artifact(ctx, o)
		if err != nil {
			return nil, err
		}
		if e.Dir == nil {
			return nil, fmt.Errorf("output %s is not a folder", o)
		}
		root, blobs := e.Dir.Encode(w.fn)
		if err := w.keep(ctx, blobs); err != nil {
			return nil, err
		}
		found[o] = root
	}
	return found, nil
}
