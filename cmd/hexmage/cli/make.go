package cli

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/hexmage/hexmage/internal/engine"
	"github.com/hexmage/hexmage/internal/state"
)

// keptPlan is a plan with everything that planning read.
type keptPlan struct {
	*planned
	reads *state.Planning // nil: unknown
}

// make plans the pipeline and builds it.
func (r *oneRun) make(ctx context.Context, began time.Time) (engine.Result, error) {
	if r.costs == nil {
		r.costs = r.a.costs(r.c.Pipeline)
	}
	end := r.phase("plan")
	p, err := r.plan(began)
	end()
	if err == nil {
		err = r.a.runnable(p.planned, "the pipeline")
	}
	if err == nil {
		err = r.hasRoom(ctx, p.planned)
	}
	if err == nil {
		err = r.open(ctx)
	}
	if err == nil {
		r.verify, err = startVerifying(r.c.Verify, r.engine, p.Plan)
	}
	if err != nil {
		return engine.Result{}, err
	}
	o := r.options(p.Profile)
	if o.Force, err = choose(r.a.Force, "--force", p.Plan); err != nil {
		return engine.Result{}, err
	}
	o.Sink = r.verify.wrap(r.watchers())
	r.watching.plan(p.Plan)
	o.Last = r.last
	if p.reads != nil && !r.c.Verify.On {
		o.StateFile = r.stateFile
		o.Planning = func() (*state.Planning, error) { return r.readsOf(p, began) }
	}
	p.extend(&o)
	defer r.phase("build")()
	res, err := engine.Run(ctx, p.Plan, o)
	if r.watches != nil {
		r.watches.see(res.Inputs)
		r.watches.plan(p.more.Reads())
	}
	return res, err
}

// readsOf returns everything that planning and the resolver read.
func (r *oneRun) readsOf(p *keptPlan, began time.Time) (*state.Planning, error) {
	all := *p.reads
	more, err := planReads(r.a.machineOf(r.fn), r.a.here(), p.more.Reads(), began)
	if err != nil {
		return nil, err
	}
	all.Reads, all.Globs = slices.Concat(all.Reads, more.Reads), slices.Concat(all.Globs, more.Globs)
	all.Variables = maps.Clone(all.Variables)
	maps.Copy(all.Variables, more.Variables)
	return &all, nil
}

// hasRoom returns an error if a run's outputs are larger than the free disk. It looks up results only if the sum of all
// outputs is larger.
func (r *oneRun) hasRoom(ctx context.Context, p *planned) error {
	var all int64
	for _, n := range p.Instances {
		all += n.OutputBytes
	}
	free := int64(-1)
	if all > 0 {
		free = freeFor(r.a.Cache)
	}
	if free < 0 || all <= free {
		return nil
	}
	w, err := r.a.preview(ctx, p, nil)
	if err != nil {
		return err
	}
	if full := w.expect(ctx, r.a.Jobs, free, r.a.Cache).full(); full != "" {
		return usageError("%s: %s", full, makeRoom)
	}
	return nil
}

// plan plans the pipeline. It returns the last build's plan if everything that planning read is unchanged.
func (r *oneRun) plan(began time.Time) (*keptPlan, error) {
	fn, err := r.a.digestFunction()
	if err != nil {
		return nil, err
	}
	m := r.a.machineOf(fn)
	if k := r.planning; k == nil || k.reads == nil || k.reads.Holds(m) != nil {
		p, err := r.a.plan(r.c.Pipeline, r.c.Steps)
		if err != nil {
			if r.watches != nil {
				r.watches.unplanned(r.a.load(r.c.Pipeline))
			}
			return nil, err
		}
		r.planning = &keptPlan{planned: p}
		if reads, err := planReads(m, r.a.here(), p.Reads, began); err == nil {
			r.planning.reads = reads
		}
	}
	if r.watches != nil {
		r.watches.plan(r.planning.Reads)
	}
	return r.planning, nil
}
