package build

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/snapshot"
	"github.com/hexmage/hexmage/internal/store"
)

// library has the instances of a snapshot. Those that take part in a build are in its graph from the start; of others only outputs
// are wanted, and they are read when somebody asks.
type library struct {
	m     *snapshot.Reader
	first []int // unit of each instance; one more at the end

	mu     sync.Mutex
	at     map[addrs.Instance]int // nil until somebody asks
	loaded map[int]*instance
}

func newLibrary(m *snapshot.Reader, owner []int) (*library, error) {
	l := &library{m: m, loaded: map[int]*instance{}}
	unit := 0
	for i := range m.Instances() {
		l.first = append(l.first, unit)
		for unit < len(owner) && owner[unit] == i {
			unit++
		}
	}
	l.first = append(l.first, unit)
	if unit != len(owner) {
		return nil, ErrStale
	}
	return l, nil
}

// instance returns the instance with the address, none of whose units runs in this build; nil if there is none.
func (l *library) instance(at addrs.Instance) *instance {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at == nil {
		l.index()
	}
	i, ok := l.at[at]
	if !ok {
		return nil
	}
	if n := l.loaded[i]; n != nil {
		return n
	}
	n, err := l.read(i, nil, nil)
	if err != nil {
		return nil
	}
	l.loaded[i] = n
	return n
}

// index finds out which address each instance has.
func (l *library) index() {
	l.at = make(map[addrs.Instance]int, l.m.Instances())
	for i := range l.m.Instances() {
		if n, err := l.m.At(i); err == nil {
			l.at[n.At] = i
		}
	}
}

// read makes an instance with its units. Those for which hit is set wait to run, in g; the others are done.
func (l *library) read(i int, hit map[int]bool, g *graph) (*instance, error) {
	kept, err := l.m.Instance(i)
	if err != nil {
		return nil, err
	}
	n := &instance{level: kept.Level, resolved: true, outputs: kept.Outputs, byName: map[string]*unit{},
		plan: &plan.Instance{At: kept.At, Description: kept.Description, Where: kept.Where, Source: kept.Source, Retries: kept.Retries,
			Resources: kept.Resources, Cache: kept.Cache}}
	for at := l.first[i]; at < l.first[i+1]; at++ {
		u := &unit{instance: n, state: done, number: at}
		var k snapshot.Unit
		if hit[at] {
			if k, err = l.m.Unit(at); err == nil {
				u = g.newUnit(n, &k.Spec)
				u.number, u.last = at, &lastResult{key: k.Key, root: k.Root, outs: entriesOf(k.Outs)}
			}
		} else if k, err = l.m.Result(at); err == nil {
			u.spec, u.key, u.root, u.out = &k.Spec, k.Key, k.Root, entriesOf(k.Outs)
		}
		if err != nil {
			return nil, err
		}
		n.specs = append(n.specs, u)
		n.byName[k.Spec.Name] = u
	}
	return n, nil
}

// Run builds what changed. It returns ErrStale when that takes the long way; actions that ran until then are remembered.
func (r *Loaded) Run(ctx context.Context, o Options) (Result, error) {
	start := time.Now()
	w := newWorker(&graph{instances: map[addrs.Instance]*instance{}}, o)
	w.notes = newNotes()
	w.last = newLastRuns(o, r.title.Pipeline)
	w.fromSnapshot, w.others = true, map[string]snapshot.Host{}
	other, err := r.reread(ctx, w.assembler)
	if err != nil {
		return Result{}, fmt.Errorf("%w: %w", err, ErrStale) // the long way says what is wrong, and where
	}
	hit, owner, err := r.affected(other)
	if err != nil {
		return Result{}, ErrStale
	}
	units, gates, err := r.graph(w.g, hit, other, owner)
	if err != nil {
		return Result{}, fmt.Errorf("%w: %w", err, ErrStale)
	}
	outs := make([]output, r.m.Outputs())
	for i := range outs {
		x, err := r.m.OutputLinks(i)
		if err != nil {
			return Result{}, ErrStale
		}
		outs[i] = output{Output: plan.Output{Name: x.Name, Show: x.Show}, id: x.ID, lastID: x.ID, load: func() (plan.Output, error) { return r.output(i) }}
		if anyOf(hit, x.Units) || anyOf(other, x.Hosts) {
			if x.Values {
				return Result{}, ErrStale
			}
			outs[i].id = ""
		}
	}
	checks, err := r.checks(hit, other)
	if err != nil {
		return Result{}, err
	}
	if len(units) > 0 && o.Out != "" {
		w.exportCheck = o.checkExports()
		defer func() { <-w.exportCheck.done }()
	}
	l := w.loop()
	l.sum.Actions, l.sum.Cached = len(owner)-len(units), len(owner)-len(units)
	o.Sink.Send(event.BuildStarted{Pipeline: r.title.Pipeline, Profile: r.title.Profile, Actions: len(owner)})
	err = l.run(ctx, append(units, gates...))
	if errors.Is(err, ErrStale) && ctx.Err() == nil {
		if o.Flush != nil && l.sum.Executed > 0 { // the long way may have nothing to run any more
			err = errors.Join(err, o.Flush(context.WithoutCancel(ctx)))
		}
		return Result{}, err
	}
	same := func() ([]event.CheckFinished, error) { return checks, nil }
	res, err := w.end(ctx, l, outs, start, err, same, func([]event.CheckFinished) { r.keep(w, outs) })
	if err != nil && ctx.Err() == nil && lost(err) {
		return Result{}, fmt.Errorf("%w: %w", err, ErrStale)
	}
	return res, err
}

// output returns an output of the pipeline in full.
func (r *Loaded) output(i int) (plan.Output, error) {
	x, err := r.m.Output(i)
	return plan.Output{Name: x.Name, Show: x.Show, Class: x.Class, Artifact: x.Artifact, Literal: x.Literal}, err
}

// graph puts the instances with units that may have to run into g, and returns these units, and the gates that they wait for.
func (r *Loaded) graph(g *graph, hit, other map[int]bool, owner []int) (units, gates []*unit, err error) {
	if g.library, err = newLibrary(r.m, owner); err != nil {
		return nil, nil, err
	}
	in, after := map[int]*instance{}, map[int][]int{}
	for i := range r.m.Instances() {
		some := false
		for at := g.library.first[i]; at < g.library.first[i+1]; at++ {
			some = some || hit[at]
		}
		if !some {
			continue
		}
		n, err := g.library.read(i, hit, g)
		if err != nil {
			return nil, nil, err
		}
		kept, err := r.m.Instance(i)
		if err != nil {
			return nil, nil, err
		}
		if anyOf(hit, kept.AwaitUnits) || anyOf(other, kept.AwaitHosts) {
			return nil, nil, fmt.Errorf("which actions %s has may be another answer now: %w", n.plan.At, ErrStale)
		}
		if kept.Explains {
			return nil, nil, fmt.Errorf("should %s fail, its plan has the hints: %w", n.plan.At, ErrStale)
		}
		g.instances[n.plan.At] = n
		g.order = append(g.order, n)
		in[i], after[i] = n, kept.After
		for _, u := range n.specs {
			if u.state != done {
				units = append(units, u)
			}
		}
	}
	gates, err = r.gates(in, after)
	return units, gates, err
}

// gates does what graph.gates does, for the instances that take part in the build. What comes before one that does not, such as
// the first of a chain of which the middle is as it was, comes before those that come after it.
func (r *Loaded) gates(in map[int]*instance, after map[int][]int) ([]*unit, error) {
	var gates []*unit
	known := map[[2]int]*unit{}
	for i, n := range in {
		for of := after[i]; len(of) > 1; of = of[2:] {
			span := [2]int(of)
			if known[span] == nil {
				gate := &unit{}
				if err := r.gated(gate, of[:2], in, map[int]bool{}); err != nil {
					return nil, err
				}
				known[span] = gate
				gates = append(gates, gate)
			}
			n.after = append(n.after, known[span])
		}
	}
	return gates, nil
}

// gated adds to the gate what is to be done in this build of the instances in the spans.
func (r *Loaded) gated(gate *unit, spans []int, in map[int]*instance, seen map[int]bool) error {
	for ; len(spans) > 1; spans = spans[2:] {
		for i := spans[0]; i <= spans[1]; i++ {
			if seen[i] {
				continue
			}
			seen[i] = true
			if in[i] != nil {
				gate.gated = append(gate.gated, in[i])
				continue
			}
			kept, err := r.m.At(i)
			if err != nil {
				return err
			}
			if err := r.gated(gate, kept.After, in, seen); err != nil {
				return err
			}
		}
	}
	return nil
}

// keep leaves the snapshot with what this build found out.
func (r *Loaded) keep(w *worker, outs []output) {
	for _, n := range w.g.order {
		for _, u := range n.specs {
			if u.state != done || u.key.IsZero() {
				return
			}
			if u.last == nil {
				continue
			}
			outs, err := savedOuts(u.out)
			if err != nil {
				return
			}
			r.update.Results[u.number] = snapshot.Unit{Key: u.key, Root: u.root, Outs: outs}
		}
	}
	for i := range outs {
		if outs[i].lastID == outs[i].id {
			continue
		}
		x, err := r.m.Output(i)
		if err != nil {
			return
		}
		x.ID = outs[i].id
		r.update.Outputs[i] = x
	}
	r.update.Exported = w.o.exportsID()
	r.save(w.o)
}

// lost tells whether something that the snapshot names is no longer in the store.
func lost(err error) bool {
	return errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt)
}
