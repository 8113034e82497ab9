package build

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
	"github.com/hexmage/hexmage/internal/store"
)

// Options are what a build needs beside its plan.
type Options struct {
	Executor  execute.Caching
	Blobs     *store.HostFiles // everything; it learns which workspace file has which digest
	Results   store.Results    // asked for the messages beside a result; nil: nothing is known of earlier actions
	Hasher    merkle.Hasher    // of workspace files
	Fn        digest.Function
	Sink      event.Sink
	Workspace string                      // relative host paths are seen from here
	Out       string                      // folder for the pipeline's outputs; "" exports nothing
	OutIn     string                      // folder from which no link leads to Out; "": the one that Out is in
	State     string                      // folder where it is remembered what was exported
	Prune     bool                        // remove outputs of earlier runs that the plan no longer has
	LogDir    string                      // where the output of failed actions goes
	Flush     func(context.Context) error // makes stored results survive a power cut, after long actions and each run

	Snapshot *Snapshot // what is kept for the next run; nil: nothing

	// OnRead is told of every file and folder of the machine that was looked at for actions, also of a build that failed, as stat.Lstats
	// takes it, and whether it is a folder. nil: nobody asks.
	OnRead func(path string, dir bool)

	// Secrets has the values that the plan's secrets refer to. It is asked, once, when an action runs that has any. nil: there are none.
	Secrets func() (secret.Values, error)

	Extender plan.Extender // says more of what in the plan waits; nil does for a plan in which nothing does
	// Hints are for people: of an instance that Explains, by what an action of it that failed has printed, with the values by which the instance was
	// extended. nil: there are none.
	Hints func(at addrs.Instance, known plan.Known, spec string, output []byte) []string

	Roots []addrs.Output // trees whose root digests the caller wants

	Jobs      int
	Lookups   int // how many results are looked up at once, beside what runs, where that means to wait for others; 0: an action is looked up in its own turn
	KeepGoing bool
	Fresh     func(step string) bool // says of a step, such as `run.bench["64"]`, that nothing of it is looked up; nil: of none
	All       bool                   // every action is looked at, whatever a snapshot says of it
	Each      bool                   // ActionFinished is sent of every action, also of those that a snapshot says nothing can have changed of
	Pools     map[string]int         // resources; one of each that is not named

	// Memory is how many bytes there are for actions on this machine, and Took how many an action took at its peak when it last ran, 0 where that is not
	// known. An action that has to run waits while what runs is expected to leave it too little. Took is asked by many goroutines. 0, or nil: nothing waits.
	Memory int64
	Took   func(step, name string) int64

	// Plain has a plan that was loaded be carried out only if what may run and be put out needs neither the Secrets, the Extender and the Hints nor another
	// executor, the network or this machine's own files, is remembered, all checks are known, and it is known what the change reaches.
	Plain bool
}

// Result is how a build went.
type Result struct {
	event.BuildFinished
	Outputs []event.OutputReady
	Checks  []event.CheckFinished
	Roots   map[addrs.Output]digest.Digest // of Options.Roots; their Directory messages are in the store
}

// Run carries out the plan. The error is about the engine (no space, no machine to run on, interrupted); actions that ran and failed
// are counted in the Result. The last event is BuildFinished in any case.
func Run(ctx context.Context, p *plan.Plan, o Options) (Result, error) {
	return run(ctx, p, o, time.Now())
}

func run(ctx context.Context, p *plan.Plan, o Options, start time.Time) (Result, error) {
	parts := make(chan Part, 1)
	parts <- Part{Whole: &Whole{Plan: p, Sink: o.Sink, Snapshot: o.Snapshot, Extender: o.Extender, Hints: o.Hints}}
	return stream(ctx, p.Pipeline, parts, o, start)
}

// scope is what of a plan a build looks at, and what it knows of the rest: of a plan that was just made all, of one with what the last build found out
// what a change reaches.
type scope struct {
	pipeline, profile string

	actions  int              // of the plan, as far as they are known
	known    int              // actions of instances that take no part
	cached   int              // actions that take no part, of any instance
	sendRest func(event.Sink) // sends that those that take no part are cached; nil: nobody asks
	units    []*unit
	outs     []output
	checks   []check
	keep     func([]output, []event.CheckFinished) // leaves a snapshot
}

// build carries out what is in the scope, exports, has the checks evaluated, makes what was stored safe, and has the next run's snapshot kept.
func (w *worker) build(ctx context.Context, l *loop, s *scope, start time.Time) (r Result, err error) {
	l.sum.Actions += s.known
	l.sum.Cached += s.cached
	w.o.Sink.Send(event.BuildStarted{Pipeline: s.pipeline, Profile: s.profile, Actions: s.actions})
	if s.sendRest != nil {
		s.sendRest(w.o.Sink)
	}
	w.early.Store(w.copyEarly(ctx, s.outs))
	err = l.run(ctx, s.units)
	good := func() bool { return err == nil && l.sum.Failed == 0 }
	if good() && w.o.Out != "" {
		r.Outputs, err = w.export(ctx, s.outs)
	}
	w.early.Load().close()
	if good() {
		r.Roots, err = w.roots(ctx)
	}
	if ctx.Err() == nil {
		var cerr error
		if r.Checks, cerr = w.checks(ctx, s.checks); cerr != nil {
			err = errors.Join(err, cerr)
		}
	}
	err = errors.Join(err, w.flush(ctx, l.sum.Executed))
	w.notes.report(w.o.OnRead)
	if good() && w.o.Snapshot != nil {
		s.keep(s.outs, r.Checks)
	}
	if w.partial && lost(err) {
		return r, err // all of it follows
	}
	l.sum.Seconds = time.Since(start).Seconds()
	l.sum.ChecksFailed = sent(w.o.Sink, r.Checks)
	w.o.Sink.Send(l.sum)
	r.BuildFinished = l.sum
	return r, err
}

// flush makes the results of executed actions survive a power cut, also in a run that is interrupted.
func (w *worker) flush(ctx context.Context, executed int) error {
	if w.o.Flush == nil || executed == 0 {
		return nil
	}
	return w.o.Flush(context.WithoutCancel(ctx))
}

// newWorker returns what the units of a graph are done with.
func newWorker(g *graph, o Options) *worker {
	w := &worker{assembler: newAssembler(g, o.Fn, o.Hasher, o.Blobs, o.Workspace), o: o, printed: atomicfile.TempName("printed")}
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
	w.g.lookups = w.o.Lookups
	return &loop{g: w.g, work: w.do, sink: w.o.Sink, jobs: max(1, w.o.Jobs), keepGoing: w.o.KeepGoing, pools: pools, room: w.room, messages: make(chan message, 16)}
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
