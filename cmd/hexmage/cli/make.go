package cli

import (
	"context"
	"time"

	"github.com/hexmage/hexmage/internal/engine"
	"github.com/hexmage/hexmage/internal/state"
)

// keptPlan is a plan with everything that it was made from.
type keptPlan struct {
	*planned
	reads *state.Planning // nil: it is not known
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
		return r.unable(err)
	}
	o := r.options(p.Profile)
	if o.Fresh, err = choose(r.a.Fresh, "--fresh", p.Plan); err != nil {
		return r.unable(err)
	}
	o.Sink = r.verify.wrap(r.watchers())
	r.watching.plan(p.Plan)
	o.Last = r.last
	if p.reads != nil && !r.c.Verify.On {
		o.StateFile, o.Planning = r.stateFile, *p.reads
	}
	p.extend(&o)
	defer r.phase("build")()
	res, err := engine.Run(ctx, p.Plan, o)
	if r.watches != nil {
		r.watches.see(res.Inputs)
	}
	return res, err
}

// hasRoom refuses a run whose results are larger than the free disk. It looks results up only if those of all steps
// together are.
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
	w, err := r.a.preview(ctx, p, r.workspace, nil)
	if err != nil {
		return err
	}
	if full := w.expect(ctx, r.a.Jobs, free, r.a.Cache).full(); full != "" {
		return usageError("%s: %s", full, makeRoom)
	}
	return nil
}

// plan plans the pipeline, or returns the plan of the build before if planning would read what it read then.
func (r *oneRun) plan(began time.Time) (*keptPlan, error) {
	fn, err := r.a.digestFunction()
	if err != nil {
		return nil, err
	}
	m := r.a.machineOf(r.workspace, fn)
	if k := r.planning; k == nil || k.reads == nil || k.reads.Holds(m) != nil {
		p, _, err := r.a.plan(r.c.Pipeline, r.c.Steps)
		if err != nil {
			if r.watches != nil {
				r.watches.unplanned(r.a.load(r.workspace, r.c.Pipeline))
			}
			return nil, err
		}
		r.planning = &keptPlan{planned: p}
		if reads, err := planReads(m, r.workspace, p.Reads, began); err == nil {
			r.planning.reads = reads
		}
	}
	if r.watches != nil {
		r.watches.plan(r.planning.Reads)
	}
	return r.planning, nil
}
