package cli

import (
	"context"
	"errors"
	"time"

	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/plan"
)

// patience is how long the build waits for its whole plan before it begins with what there is of it. Most plans are made by then.
const patience = 20 * time.Millisecond

// planning is a plan that is being made.
type planning struct {
	made chan []*plan.Instance // at most one: all that nobody has taken yet
	done chan struct{}         // closed when plan and err are there
	plan *planned
	err  error
}

func (r *oneRun) plan(ctx context.Context) *planning {
	g := &planning{made: make(chan []*plan.Instance, 1), done: make(chan struct{})}
	end := r.phase("plan")
	go func() {
		defer close(g.done)
		g.plan, _, g.err = r.a.planAs(ctx, r.c.Pipeline, r.c.Steps, g.add)
		end()
	}()
	return g
}

// add has one goroutine that calls it.
func (g *planning) add(made []*plan.Instance) {
	select {
	case had := <-g.made:
		made = append(had, made...)
	default:
	}
	g.made <- made
}

// wait waits for the whole plan: it returns nil then; or, when slow has come, for instances of it. By then all files are read, those of modules in the cache, too.
func (g *planning) wait(slow <-chan time.Time) []*plan.Instance {
	select {
	case <-g.done:
		return nil
	case <-slow:
	}
	select {
	case <-g.done:
		return nil
	case first := <-g.made:
		return first
	}
}

// make plans the pipeline and builds it.
func (r *oneRun) make(ctx context.Context, began time.Time) (build.Result, error) {
	g := r.plan(ctx)
	var slow <-chan time.Time // nil: what was asked for needs the whole plan
	if r.watches == nil && len(r.c.Steps) == 0 && !r.a.Fresh.On && !r.c.Verify.On {
		slow = time.After(patience)
	}
	if first := g.wait(slow); first != nil {
		if r.open(ctx) == nil {
			return r.stream(ctx, g, first, began)
		}
		<-g.done // what is wrong with the pipeline is said before what is wrong with the cache
	}
	p, err := r.planned(ctx, g)
	if err != nil {
		return r.unable(err)
	}
	if err := r.open(ctx); err != nil {
		return r.unable(err)
	}
	if r.verify, err = startVerifying(r.c.Verify, r.engine, p.Plan); err != nil {
		return r.unable(err)
	}
	o := r.options(ctx)
	if o.Fresh, err = choose(r.a.Fresh, "--fresh", p.Plan); err != nil {
		return r.unable(err)
	}
	all := r.whole(p, began)
	o.Sink, o.Snapshot, o.Extender, o.Hints = all.Sink, all.Snapshot, all.Extender, all.Hints
	defer r.phase("build")()
	return build.Run(ctx, p.Plan, o)
}

// stream builds what is still being planned, and of which the first instances are made.
func (r *oneRun) stream(ctx context.Context, g *planning, first []*plan.Instance, began time.Time) (build.Result, error) {
	o := r.options(ctx)
	if r.previous.Snapshot != "" {
		o.Snapshot = &build.Snapshot{}
	}
	parts := make(chan build.Part, 1)
	parts <- build.Part{Instances: first}
	go func() {
		for {
			select {
			case made := <-g.made:
				parts <- build.Part{Instances: made}
				continue
			case <-g.done:
			}
			p, err := r.planned(ctx, g)
			if err != nil {
				parts <- build.Part{Err: err}
			} else {
				parts <- build.Part{Whole: r.whole(p, began)}
			}
			return
		}
	}()
	defer r.phase("build")()
	res, err := build.Stream(ctx, r.c.Pipeline, parts, o)
	if none := (*build.UnplannedError)(nil); errors.As(err, &none) {
		return r.unable(none.Err)
	}
	return res, err
}

// planned is the plan that was made, if this machine has what it needs.
func (r *oneRun) planned(ctx context.Context, g *planning) (*planned, error) {
	p, err := g.plan, g.err
	switch {
	case r.watches == nil:
	case err == nil:
		r.watches.plan(p.Reads)
	default:
		r.watches.unplanned(r.a.load(ctx, r.workspace, r.c.Pipeline))
	}
	if err != nil {
		return nil, err
	}
	if err := r.a.runnable(p, "the pipeline"); err != nil {
		return nil, err
	}
	return p, nil
}

// whole is what a build is told when its plan is made. From then on planning holds no memory.
func (r *oneRun) whole(p *planned, began time.Time) *build.Whole {
	all := &build.Whole{Plan: p.Plan, Extender: p.more, Hints: p.more.Explain}
	all.Sink = r.verify.wrap(r.watchers())
	r.watching.plan(p.Plan)
	if r.previous.Snapshot != "" {
		all.Snapshot = newSnapshot(r.now(r.engine.Fn), p, began)
	}
	p.files, p.names, p.Reads.Texts = nil, nil, nil
	return all
}
