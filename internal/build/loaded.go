package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hexmage/hexmage/internal/action"
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
	n, err := l.read(i, nil, nil, nil)
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
			l.at[n.Plan.At] = i
		}
	}
}

// read makes an instance with its units. Those for which hit is set wait to run, in g; the others are done. The hosts in other are something else now.
func (l *library) read(i int, hit []bool, other map[int]bool, g *graph) (*instance, error) {
	kept, err := l.m.Instance(i)
	if err != nil {
		return nil, err
	}
	n := &instance{plan: &kept.Plan, level: kept.Level, resolved: true, outputs: kept.Plan.Outputs}
	for at := l.first[i]; at < l.first[i+1]; at++ {
		u := &unit{instance: n, state: done, number: int32(at)}
		var k snapshot.Unit
		if anyHit(hit, at) {
			if k, err = l.m.Unit(at); err == nil {
				u = g.newUnit(n, &k.Spec)
				u.number, u.last = int32(at), &lastResult{key: k.Key, root: k.Root, outs: k.Outs, read: anyOf(other, k.Hosts)}
			}
		} else if k, err = l.m.Result(at); err == nil {
			u.spec, u.key, u.root, u.out = &k.Spec, k.Key, k.Root, k.Outs
		}
		if err != nil {
			return nil, err
		}
		n.add(u)
	}
	return n, nil
}

// ErrNotPlain says that a build would not be a plain one: see Options.Plain. It is no failure, and nothing was done or told, but where what the snapshot
// names turned out to be gone: then all of the build follows what was told.
var ErrNotPlain = errors.New("more is needed than what carries out a plain build")

// Run builds what changed, or all of it where o.All says so or where it cannot be told what that is. The error is ErrStale when the snapshot is not
// what its checksum says, ErrNotPlain where o.Plain is not to be had; else see Run of plans.
func (r *Loaded) Run(ctx context.Context, o Options) (Result, error) {
	start := time.Now()
	if r.others || o.All {
		return r.all(ctx, o, start)
	}
	w := newWorker(&graph{instances: map[addrs.Instance]*instance{}}, o)
	w.notes, w.exportCheck = newNotes(), r.exports
	w.last = newLastRuns(o, r.title.Pipeline)
	w.partial, w.others = true, map[string]snapshot.Host{}
	w.exported, w.savedOutput = r.title.Exported, func(i int) (plan.Output, error) {
		x, err := r.m.Output(i)
		return x.Plan, err
	}
	other, err := r.reread(ctx, w.assembler)
	if err != nil {
		return Result{}, err
	}
	s, err := r.changes(w, other)
	if errors.Is(err, errAll) {
		return r.all(ctx, o, start)
	}
	if err != nil {
		return Result{}, fmt.Errorf("%w: %w", err, ErrStale)
	}
	if o.Plain {
		if plain, err := r.plain(w.g, s); err != nil || !plain {
			return Result{}, errors.Join(ErrNotPlain, err)
		}
	}
	freeHeap(len(s.units))
	res, err := w.build(ctx, w.loop(), s, start)
	if changed := (*store.ChangedError)(nil); lost(err) && ctx.Err() == nil && !errors.As(err, &changed) { // it was in the snapshot: its action runs again
		return r.all(ctx, o, start)
	}
	return res, err
}

// errAll says that it cannot be told what a change reaches.
var errAll = errors.New("all of it has to be looked at")

// all builds the whole plan.
func (r *Loaded) all(ctx context.Context, o Options, start time.Time) (Result, error) {
	if o.Plain {
		return Result{}, ErrNotPlain
	}
	p, err := r.m.Plan()
	if err != nil {
		return Result{}, fmt.Errorf("%w: %w", err, ErrStale)
	}
	from, err := r.reads()
	if err != nil {
		return Result{}, fmt.Errorf("%w: %w", err, ErrStale)
	}
	o.Snapshot = &Snapshot{Path: o.Snapshot.Path, Reads: from.reads, Globs: from.globs, Lookups: from.lookups}
	for i, read := range r.update.Reads {
		from.reads[i] = read
	}
	return run(ctx, p, o, start)
}

// changes is what there may be to do because the hosts in other are something else now. The error is errAll where that cannot be told.
func (r *Loaded) changes(w *worker, other map[int]bool) (*scope, error) {
	hit, owner, err := r.affected(other)
	if err != nil {
		return nil, err
	}
	for _, i := range r.title.Awaiting {
		n, err := r.m.Instance(i)
		if err != nil {
			return nil, err
		}
		if anyHit(hit, n.AwaitUnits...) || anyOf(other, n.AwaitHosts) {
			return nil, errAll // which actions it has may be another answer now
		}
	}
	s := &scope{pipeline: r.title.Pipeline, profile: r.title.Profile, actions: len(owner)}
	var outs errgroup.Group // beside the graph: both may be ten thousand records
	outs.Go(func() (err error) {
		s.outs, err = r.outputs(hit, other)
		return err
	})
	s.units, err = r.graph(w.g, hit, other, owner)
	if err = errors.Join(err, outs.Wait()); err != nil {
		return nil, err
	}
	s.known, s.cached = len(owner), len(owner)
	for _, n := range w.g.order {
		s.known -= len(n.specs)
		for _, u := range n.specs {
			if u.state != done {
				s.cached--
			}
		}
	}
	if w.o.Each {
		s.sendRest = func(sink event.Sink) { r.sendCached(sink, hit) }
	}
	if s.checks, err = r.checks(hit, other); err != nil {
		return nil, err
	}
	s.keep = func(outs []output, checks []event.CheckFinished) { r.keep(w, outs, checks, s.checks) }
	return s, nil
}

// plain tells whether all that may run, and all outputs that may be something else, are what Options.Plain says.
func (r *Loaded) plain(g *graph, s *scope) (bool, error) {
	for _, n := range g.order {
		for _, u := range n.specs {
			if u.state != done && (n.plan.Waits != plan.ForNothing || n.plan.Explains || !isolated(u.spec) || u.spec.Platform[action.PropertyHost] != "") {
				return false, nil
			}
		}
	}
	for i := range s.outs {
		if s.outs[i].id != "" {
			continue
		}
		if x, err := r.m.Output(s.outs[i].number); err != nil || x.Plan.Waits != plan.ForNothing {
			return false, err
		}
	}
	return !slices.ContainsFunc(s.checks, func(c check) bool { return c.known == nil }), nil
}

// outputs are those of the pipeline. Of those that may be something else than they were it is to be found out what they are.
func (r *Loaded) outputs(hit []bool, other map[int]bool) ([]output, error) {
	outs := make([]output, r.m.Outputs())
	for i := range outs {
		x, err := r.m.OutputLinks(i)
		if err != nil {
			return nil, err
		}
		outs[i] = output{Name: x.Plan.Name, Show: x.Plan.Show, number: i, id: x.ID, lastID: x.ID}
		if anyHit(hit, x.Units...) || anyOf(other, x.Hosts) {
			outs[i].id = ""
		}
	}
	return outs, nil
}

// graph puts the instances with units that may have to run into g, and returns these units, and the gates that they wait for.
func (r *Loaded) graph(g *graph, hit []bool, other map[int]bool, owner []int) (units []*unit, err error) {
	if g.library, err = newLibrary(r.m, owner); err != nil {
		return nil, err
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
		n, err := g.library.read(i, hit, other, g)
		if err != nil {
			return nil, err
		}
		kept, err := r.m.At(i)
		if err != nil {
			return nil, err
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
	gates, err := r.gates(in, after)
	return append(units, gates...), err
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
				gate := &unit{gate: &gate{}}
				if err := r.gated(gate.gate, of[:2], in, map[int]bool{}); err != nil {
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
func (r *Loaded) gated(to *gate, spans []int, in map[int]*instance, seen map[int]bool) error {
	for ; len(spans) > 1; spans = spans[2:] {
		for i := spans[0]; i <= spans[1]; i++ {
			if seen[i] {
				continue
			}
			seen[i] = true
			if in[i] != nil {
				to.needs = append(to.needs, in[i])
				continue
			}
			kept, err := r.m.At(i)
			if err != nil {
				return err
			}
			if err := r.gated(to, kept.After, in, seen); err != nil {
				return err
			}
		}
	}
	return nil
}

// keep leaves the snapshot with what this build found out.
func (r *Loaded) keep(w *worker, outs []output, found []event.CheckFinished, checks []check) {
	for _, n := range w.g.order {
		for _, u := range n.specs {
			if u.state != done || u.key.IsZero() {
				return
			}
			if u.last == nil {
				continue
			}
			if !r.programs(u) {
				_ = os.Remove(w.o.Snapshot.Path) // the next run plans
				return
			}
			r.update.Results[int(u.number)] = snapshot.Unit{Key: u.key, Root: u.root, Outs: u.out}
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
	for i := range checks {
		if checks[i].known == nil {
			c := *checks[i].saved
			c.Result, c.Message = string(found[i].Result), found[i].Message
			r.update.Checks[i] = c
		}
	}
	r.update.Exported = w.o.exportsID()
	r.save(w.o)
}

// programs tells whether the programs that the unit's action starts are among the hosts that it is known to read. They are not when one is found in
// another place than the last time.
func (r *Loaded) programs(u *unit) bool {
	if len(u.programs) == 0 {
		return true
	}
	kept, err := r.m.Unit(int(u.number))
	if err != nil {
		return false
	}
	known := map[string]bool{}
	for _, i := range kept.Hosts {
		if h, err := r.m.Host(i); err == nil {
			known[h.Path] = true
		}
	}
	return !slices.ContainsFunc(u.programs, func(p *program) bool { return !known[p.at] })
}

// lost tells whether something that the snapshot names is no longer in the store.
func lost(err error) bool {
	return errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt)
}

// isolated says whether an action reaches nothing but its inputs and outputs.
func isolated(s *action.Spec) bool {
	if s.NoCache || s.Platform[action.PropertyNetwork] != "" || hasSecrets(s) {
		return false
	}
	where := s.Platform[action.PropertyExecutor]
	return where == "" || where == action.ExecutorLocal
}

// hasSecrets says whether the command gets what a plan has only references to.
func hasSecrets(s *action.Spec) bool {
	for property := range s.Platform {
		if strings.HasPrefix(property, action.PropertySecret) || strings.HasPrefix(property, action.PropertySecretFile) {
			return true
		}
	}
	return false
}
