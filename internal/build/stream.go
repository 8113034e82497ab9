package build

import (
	"container/heap"
	"context"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/plan"
)

// Part is a part of a plan that is still being made. Parts come in dependency order; the last one has the plan, or why there is none.
type Part struct {
	Instances []*plan.Instance // that no part before had, and that the plan will have as they are

	Whole *Whole
	Err   error
}

// Whole is a plan, and what of Options is not known before it is.
type Whole struct {
	Plan     *plan.Plan
	Sink     event.Sink
	Snapshot *Snapshot
	Extender plan.Extender
	Hints    func(at addrs.Instance, known plan.Known, spec string, output []byte) []string
}

// UnplannedError is the error of a build whose plan could not be made.
type UnplannedError struct{ Err error }

func (e *UnplannedError) Error() string { return e.Err.Error() }
func (e *UnplannedError) Unwrap() error { return e.Err }

// Stream is Run for a plan of the pipeline that is still being made. Before it is whole, actions begin that have no effects outside of their outputs; nobody is
// told of them until then. If there is no plan in the end, what runs is stopped and no event is sent: what was done is known to the next build.
func Stream(ctx context.Context, pipeline string, parts <-chan Part, o Options) (Result, error) {
	return stream(ctx, pipeline, parts, o, time.Now())
}

func stream(ctx context.Context, pipeline string, parts <-chan Part, o Options, start time.Time) (Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := newWorker(&graph{}, o)
	w.last = newLastRuns(o, pipeline)
	if o.Snapshot != nil || o.OnRead != nil {
		w.notes = newNotes()
	}
	w.whole = make(chan struct{})
	l := w.loop()
	l.sink = nil
	defer l.begin()()
	all, late, err := l.untilWhole(ctx, parts)
	if err == nil {
		return w.carryOut(ctx, l, all, late, start)
	}
	close(w.whole)
	cancel()
	l.drain()
	_ = w.flush(ctx, l.sum.Executed) // the plan's error is what the user needs
	return Result{}, &UnplannedError{err}
}

// untilWhole carries out what may be before the plan is whole. It returns the plan, and the units that were not to begin before.
func (l *loop) untilWhole(ctx context.Context, parts <-chan Part) (*Whole, []*unit, error) {
	var late []*unit
	stopped := ctx.Done()
	for {
		for ctx.Err() == nil && !l.failed() {
			u := l.next()
			if u == nil {
				break
			}
			l.start(ctx, u)
		}
		select {
		case m := <-l.messages:
			l.note(l.take(m))
		case <-stopped:
			stopped = nil
		case p := <-parts:
			if p.Whole != nil || p.Err != nil {
				return p.Whole, late, p.Err
			}
			for _, n := range p.Instances {
				units, err := l.g.add(n)
				l.note(err)
				if !harmless(n) {
					late = append(late, units...)
					continue
				}
				for _, u := range units {
					if !isolated(u.spec) {
						late = append(late, u)
						continue
					}
					l.note(l.admit([]*unit{u}))
				}
			}
		}
	}
}

// harmless says whether actions of an instance may begin before it is known that the whole pipeline can be planned: they come after nothing, and their
// results are remembered, so there are no others that count.
func harmless(n *plan.Instance) bool {
	return n.Waits == plan.ForNothing && len(n.After) == 0 && len(n.Missing) == 0 && (n.Cache == plan.CacheDefault || n.Cache == plan.CacheLocal)
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

// drain waits for all that runs.
func (l *loop) drain() {
	for l.running > 0 {
		m := <-l.messages
		if m.out != nil {
			l.running--
		}
	}
}

// carryOut goes on with a plan that is whole.
func (w *worker) carryOut(ctx context.Context, l *loop, all *Whole, late []*unit, start time.Time) (Result, error) {
	p := all.Plan
	w.o.Sink, w.o.Snapshot, w.o.Extender, w.o.Hints = all.Sink, all.Snapshot, all.Extender, all.Hints
	freeHeap(len(p.Instances))
	close(w.whole)
	units, err := w.g.complete(p)
	if err != nil {
		w.o.Sink.Send(event.BuildStarted{Pipeline: p.Pipeline, Profile: p.Profile})
		w.o.Sink.Send(event.BuildFinished{})
		return Result{}, err
	}
	heap.Init(&l.tight) // how many wait for whom is known now
	l.sink = w.o.Sink
	s := &scope{pipeline: p.Pipeline, profile: p.Profile, actions: w.g.units, units: append(append(late, units...), w.g.gates()...), outs: make([]output, len(p.Outputs)), checks: make([]check, len(p.Checks))}
	for i, out := range p.Outputs {
		s.outs[i] = output{Name: out.Name, Show: out.Show, planned: &p.Outputs[i]}
	}
	for i, c := range p.Checks {
		s.checks[i].Check = c
	}
	s.keep = func(outs []output, checks []event.CheckFinished) { w.saveSnapshot(p, outs, checks) }
	return w.build(ctx, l, s, start)
}

// add takes an instance into a graph that is not whole yet, and returns its units.
func (g *graph) add(pn *plan.Instance) ([]*unit, error) {
	n := &instance{planned: pn, plan: pn}
	g.mu.Lock()
	g.instances.put(n)
	g.mu.Unlock()
	g.order = append(g.order, n)
	if pn.Waits != plan.ForNothing {
		return []*unit{g.newUnit(n, nil)}, nil
	}
	return g.resolve(n, pn.Specs, pn.Outputs)
}

// complete takes in what the graph does not have yet of a plan, brings all into the plan's order, and returns the new units.
func (g *graph) complete(p *plan.Plan) ([]*unit, error) {
	var units []*unit
	for _, pn := range p.Instances {
		if g.instances.at(pn.At) != nil {
			continue
		}
		us, err := g.add(pn)
		if err != nil {
			return nil, err
		}
		units = append(units, us...)
	}
	g.order = g.order[:0]
	for _, pn := range p.Instances {
		g.order = append(g.order, g.instances.at(pn.At))
	}
	whole := map[addrs.Step]int{}            // levels that all copies of a step have at least
	for i := len(g.order) - 1; i >= 0; i-- { // topological: dependents come later
		n := g.order[i]
		n.level = max(n.level, whole[n.plan.At.Step])
		n.plan.EachNeed(func(at addrs.Instance) {
			if dep := g.instances.at(at); dep != nil {
				dep.level = max(dep.level, n.level+1)
			} else {
				whole[at.Step] = max(whole[at.Step], n.level+1)
			}
		})
	}
	heap.Init(&g.ready)
	heap.Init(&g.away)
	heap.Init(&g.unknown)
	return units, nil
}
