package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/safepath"
	"github.com/hexmage/hexmage/internal/store"
)

// Status is the predicted outcome of an action. hexmage predicts it without running anything.
type Status string

// The statuses.
const (
	WillUse  Status = "cached"     // the result is in the cache
	WillRun  Status = "will run"   // the inputs are known, and the result is not in the cache
	Deferred Status = "deferred"   // the inputs are unknown until other actions have run
	WillFail Status = "cannot run" // a dependency is missing, or the plan is wrong
)

// Previewed is the predicted outcome of one action. For an instance whose actions are not known yet, it is the
// predicted outcome of the whole instance.
type Previewed struct {
	Instance *plan.Instance // instance of the step, with its specs if they are known
	Spec     *action.Spec   // nil: the instance's actions are deferred
	Status   Status
	Key      digest.Digest  // of WillUse and WillRun
	Action   *action.Action // of WillUse and WillRun
	Waits    []string       // for Deferred: the sorted instances that must run first
	Err      error          // reason for WillFail
}

// Previews holds the predicted outcomes of all actions of a build.
type Previews struct {
	Actions []Previewed // in the plan's order
	// Store contains Options.Blobs, and the messages of all actions that will run or for which keep returned true.
	Store store.Blobs
}

// Preview predicts the outcome of a build without running or writing anything. It uses only these options: Workspace,
// State, Jobs, Force and the stores. Previews.Store contains the messages of each action that will run, and of each
// action for which keep returns true. The function keep may be nil. Preview returns an error only if the engine fails.
func Preview(ctx context.Context, p *plan.Plan, o Options, keep func(step, spec string) bool) (*Previews, error) {
	g, units, err := newGraph(p)
	if err != nil {
		return nil, err
	}
	over := store.Overlay(o.Blobs, nil)
	last := newLastRuns(o, p.Pipeline)
	o.LogDir, o.State, o.Out = "", "", ""
	v := &previewer{
		worker: newWorker(g, o, p.Pipeline),
		keepIt: keep, seen: map[*unit]Previewed{}, bad: map[*instance]Previewed{},
	}
	v.last, v.blobs = last, over
	l := &loop{g: g, work: v.do, sink: discard{}, jobs: max(1, o.Jobs, o.LookAhead), keepGoing: true,
		messages: make(chan message, 16)}
	if err := l.run(ctx, units); err != nil && ctx.Err() != nil {
		return nil, err
	}
	return &Previews{Actions: v.all(g, units), Store: over}, nil
}

// previewer processes units like a worker, but never executes. A unit that would execute ends as skipped, and so do its
// dependents.
type previewer struct {
	*worker
	keepIt func(step, spec string) bool

	mu   sync.Mutex
	seen map[*unit]Previewed     // WillUse, WillRun and WillFail
	bad  map[*instance]Previewed // instances whose actions cannot be determined
}

func (v *previewer) do(ctx context.Context, u *unit, _ func(message)) outcome {
	if u.spec == nil {
		o := v.expand(ctx, u)
		if o.failure != nil {
			v.mu.Lock()
			v.bad[u.instance] = Previewed{Status: WillFail, Err: errors.New(o.failure.Summary)}
			v.mu.Unlock()
		}
		o.err = nil
		return o
	}
	p, out := v.classify(ctx, u)
	v.saw(u, p)
	if p.Status != WillUse {
		return outcome{kind: event.NotRun}
	}
	return out
}

func (v *previewer) saw(u *unit, p Previewed) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seen[u] = p
}

func (v *previewer) classify(ctx context.Context, u *unit) (Previewed, outcome) {
	fail := func(err error) (Previewed, outcome) { return Previewed{Status: WillFail, Err: err}, outcome{} }
	a, _, literals, err := v.prepare(ctx, u)
	if err != nil {
		return fail(err)
	}
	dirs := a.Directories
	a.Directories = nil // Previews.Store has the selected messages
	p := Previewed{Status: WillRun, Key: a.Key(v.fn), Action: a}
	var out outcome
	if !v.forced(u) && v.last.counts(u, p.Key) {
		res, ok, err := execute.Lookup(ctx, v.o.Executor, u.request(a))
		if err != nil {
			return fail(err)
		}
		if ok {
			if out = v.finish(u, a, res, outcome{kind: event.Cached}); out.kind == event.Cached {
				p.Status = WillUse
			}
		}
	}
	if p.Status == WillRun || v.keepIt != nil && v.keepIt(u.instance.plan.At.Short(), u.spec.Name) {
		if err := errors.Join(v.keep(ctx, literals), v.keep(ctx, dirs)); err != nil {
			return fail(err)
		}
	}
	return p, out
}

// all returns the previews of all units, including those that wait.
func (v *previewer) all(g *graph, units []*unit) []Previewed {
	expansions := map[*instance]*unit{}
	for _, u := range units {
		if u.spec == nil {
			expansions[u.instance] = u
		}
	}
	var all []Previewed
	add := func(u *unit) {
		p, ok := v.seen[u]
		if u.spec == nil {
			p, ok = v.bad[u.instance]
		}
		if !ok {
			p = Previewed{Status: Deferred, Waits: waitsFor(g, u)}
			if err := v.absent(u); err != nil {
				p = Previewed{Status: WillFail, Err: err}
			}
		}
		p.Instance, p.Spec = u.instance.plan, u.spec
		all = append(all, p)
	}
	for _, n := range g.order {
		if !n.resolved {
			if u := expansions[n]; u != nil {
				add(u)
			}
			continue
		}
		for _, u := range n.specs {
			add(u)
		}
	}
	return all
}

// absent returns the error for a missing workspace input of a waiting action. Otherwise the build could fail hours
// later.
func (v *previewer) absent(u *unit) error {
	if u.spec == nil {
		return nil
	}
	for _, in := range u.spec.Inputs {
		if in.Host == nil || filepath.IsAbs(filepath.FromSlash(in.Host.Path)) {
			continue
		}
		place, err := safepath.Resolve(v.workspace, filepath.FromSlash(in.Host.Path))
		if errors.Is(err, fs.ErrNotExist) || err == nil && !place.Stamp.Exists() {
			return fmt.Errorf("input %s: %w", in.Path, &InputError{Path: in.Host.Path})
		}
	}
	return nil
}

// waitsFor returns the instances whose actions block u.
func waitsFor(g *graph, u *unit) []string {
	on := map[string]bool{}
	_ = g.eachBlocker(u.instance, u.inputs(), 0, func(n *instance, b *unit) { // a wrong plan failed earlier
		switch {
		case n != nil:
			on[n.plan.At.Short()] = true
		case b.state != done:
			on[b.instance.plan.At.Short()] = true
		}
	})
	return slices.Sorted(maps.Keys(on))
}

// discard is a sink that ignores all events.
type discard struct{}

// Send implements event.Sink.
func (discard) Send(event.Event) {}
