package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/explain"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/runlog"
	"github.com/hexmage/hexmage/internal/store"
)

// why says why actions will run, from what earlier runs of the pipeline left.
type why struct {
	ctx      context.Context
	p        *plan.Plan
	seen     *build.Previews
	book     *runlog.Book
	results  store.Results
	fresh    func(step string) bool // nil: none
	versions map[string]string      // of toolchains, now
	loaded   map[string]loadedAction
}

type loadedAction struct {
	action *action.Action
	blobs  store.Blobs
	err    error
}

// preview finds out what a run of the plan would do. keep, which may be nil, chooses the actions that are compared although
// they are cached.
func (a *app) preview(ctx context.Context, p *plan.Plan, workspace string, keep func(step, spec string) bool) (*why, error) {
	o, err := a.onlyLook(workspace)
	if err != nil {
		return nil, err
	}
	if o.Fresh, err = a.Fresh.choose("--fresh", p); err != nil {
		return nil, err
	}
	seen, err := build.Preview(ctx, p, o, keep)
	if err != nil {
		return nil, engine(err)
	}
	return &why{ctx: ctx, p: p, seen: seen, book: runlog.Open(a.historyOf(workspace, p.Pipeline)), fresh: o.Fresh, results: o.Results,
		versions: toolchainVersions(p), loaded: map[string]loadedAction{}}, nil
}

// reason says in a few words why the action has its status.
func (w *why) reason(v *build.Previewed) string {
	switch v.Status {
	case build.Deferred:
		return "waits for " + some(v.Waits, 3)
	case build.WillFail:
		return v.Err.Error()
	case build.WillUse:
		return ""
	}
	step, spec := v.Instance.At.Short(), v.Spec.Name
	run, last := w.book.Last(w.p.Profile, step, spec)
	switch {
	case v.Spec.NoCache:
		return "it runs every time (cache = false)"
	case w.fresh != nil && w.fresh(step):
		return "--fresh"
	case last == nil:
		return "never ran"
	case last.Key == v.Key && last.Outcome == event.Failed:
		return "failed last time"
	case last.Key == v.Key:
		return "its result is no longer in the cache"
	}
	c, err := w.compare(run, last, v, 2)
	if err != nil {
		return "changed; what it was is no longer in the cache"
	}
	if r := c.Reason(); r != "" {
		return r
	}
	return "changed"
}

// compare compares what an action of a run was made of with what it would be made of now.
func (w *why) compare(run *runlog.Run, then *runlog.Action, v *build.Previewed, limit int) (explain.Comparison, error) {
	old, ok := w.loaded[then.Key.Hex()]
	if !ok {
		old.action, old.blobs, old.err = explain.Load(w.ctx, w.seen.Store, w.results, then.Key)
		w.loaded[then.Key.Hex()] = old
	}
	if old.err != nil {
		return explain.Comparison{}, old.err
	}
	c, err := explain.Compare(w.ctx, old.blobs, old.action, v.Action, limit)
	if err != nil {
		return c, err
	}
	c.Place(v.Spec)
	for i := range c.Differences {
		if d := &c.Differences[i]; d.What == explain.Toolchain {
			d.Old, d.New = release(run.Toolchains[d.Name], d.Old), release(w.versions[d.Name], d.New)
		}
	}
	return c, nil
}

// release is a toolchain's version with its root digest.
func release(version, root string) string {
	switch {
	case version == "" || root == "":
		return root
	case root == "":
		return version
	}
	return version + " (" + root + ")"
}

// gone tells whether the error means that what an action was made of is no longer in the cache.
func gone(err error) bool {
	return errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt)
}

// some names the first few.
func some(names []string, few int) string {
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}
