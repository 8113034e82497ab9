package cli

import (
	"context"
	"time"

	"github.com/hexmage/hexmage/cmd/hexmage/front"
	"github.com/hexmage/hexmage/internal/build"
)

// make plans the whole pipeline and builds it.
func (r *oneRun) make(ctx context.Context, began time.Time) (build.Result, error) {
	end := r.phase("plan")
	p, _, err := r.a.plan(ctx, r.c.Pipeline, r.c.Steps)
	end()
	switch {
	case r.watches == nil:
	case err == nil:
		r.watches.plan(p.Reads)
	default:
		r.watches.unplanned(r.a.load(ctx, r.workspace, r.c.Pipeline))
	}
	if err == nil {
		err = r.a.runnable(p, "the pipeline")
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
	o := r.options(ctx)
	if o.Fresh, err = choose(r.a.Fresh, "--fresh", p.Plan); err != nil {
		return r.unable(err)
	}
	front.OneMore()
	o.Sink = r.verify.wrap(r.watchers())
	r.watching.Plan(p.Plan)
	if r.previous.Snapshot != "" {
		o.Snapshot = newSnapshot(r.now(r.engine.Fn), p, began)
	}
	p.extend(&o)
	p.files, p.names, p.Reads.Texts = nil, nil, nil // the build does not need them
	defer r.phase("build")()
	return build.Run(ctx, p.Plan, o)
}
