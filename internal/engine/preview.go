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
	"github.com/hexmage/hexmage/internal/rooted"
	"github.com/hexmage/hexmage/internal/store"
)

// Status is what a build would do with an action, as far as that can be told without running anything.
type Status string

// The statuses.
const (
	WillUse  Status = "cached"     // its result is known
	WillRun  Status = "will run"   // its inputs are there, its result is not
	Deferred Status = "deferred"   // what it will be made of is not known before others ran
	WillFail Status = "cannot run" // something that it needs is not there, or the plan is wrong
)

// Previewed is what a build would do with one action, or with a step's instance whose actions are not known yet.
type Previewed struct {
	Instance *plan.Instance // with the step's specs, where they could be found out
	Spec     *action.Spec   // nil: the instance's actions are not known yet
	Status   Status
	Key      digest.Digest  // of WillUse and WillRun
	Action   *action.Action // of the same
	Waits    []string       // of Deferred: the instances it waits for, sorted
	Err      error          // of WillFail
}

// Previews is what a build would do.
type Previews struct {
	Actions []Previewed // in the plan's order
	// Store has, beside all of Options.Blobs, the messages of actions that will run, and of those that were asked
	// for.
	Store store.Blobs
}

// Preview finds out what a build would do. It runs nothing, and writes nothing to the store or anywhere else. Of the
// options it needs those of the stores, Workspace, State, Jobs and Fresh. Of actions for which keep returns true, the
// messages are kept in Previews.Store although their result is known; keep may be nil. The error is about the engine.
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
		pools: map[string]int{}, messages: make(chan message, 16)}
	if err := l.run(ctx, units); err != nil && ctx.Err() != nil {
		return nil, err
	}
	return &Previews{Actions: v.all(g, units), Store: over}, nil
}

// previewer looks at units as a worker does that may not execute anything. What it would have to execute ends as
// skipped, and so does what waits for it.
type previewer struct {
	*worker
	keepIt func(step, spec string) bool

	mu   sync.Mutex
	seen map[*unit]Previewed     // WillUse, WillRun and WillFail
	bad  map[*instance]Previewed // of those whose actions cannot be found out
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
		return outcome{kind: event.Skipped}
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
	a.Directories = nil // Previews.Store has those that are wanted
	p := Previewed{Status: WillRun, Key: a.Key(v.fn), Action: a}
	var out outcome
	if !v.fresh(u) && v.last.counts(u, p.Key) {
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

// all returns what was seen, and what was not seen because it waits for something.
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

// absent is the error for an input of the workspace that is not there, of an action that waits: hours may pass until
// it is its turn.
func (v *previewer) absent(u *unit) error {
	if u.spec == nil {
		return nil
	}
	for _, in := range u.spec.Inputs {
		if in.Host == nil || filepath.IsAbs(filepath.FromSlash(in.Host.Path)) {
			continue
		}
		place, err := rooted.Resolve(v.workspace, filepath.FromSlash(in.Host.Path))
		if errors.Is(err, fs.ErrNotExist) || err == nil && !place.Stamp.Exists() {
			return fmt.Errorf("input %s: %w", in.Path, &InputError{Path: in.Host.Path})
		}
	}
	return nil
}

// waitsFor returns the instances whose actions keep u waiting.
func waitsFor(g *graph, u *unit) []string {
	on := map[string]bool{}
	_ = g.eachBlocker(u.instance, u.inputs(), 0, func(n *instance, b *unit) { // a wrong plan has failed before
		switch {
		case n != nil:
			on[n.plan.At.Short()] = true
		case b.state != done:
			on[b.instance.plan.At.Short()] = true
		}
	})
	return slices.Sorted(maps.Keys(on))
}

// discard is a sink for what nobody wants to know.
type discard struct{}

// Send implements event.Sink.
func (discard) Send(event.Event) {}
