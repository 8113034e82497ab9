// Package collect creates the document of a run from the run's record, and from cache keys and results in the store.
//
// If the store has evicted a key or result, the document does not contain it. The package does not know how to display
// a document, and runs nothing.
package collect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/explain"
	"github.com/hexmage/hexmage/internal/history"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/runlog"
	"github.com/hexmage/hexmage/internal/store"
)

// Stores holds two stores: one for results, and one for the inputs of cache keys.
type Stores struct {
	Blobs   store.Blobs
	Results store.Results
}

// Document creates the document of a run. If hide is not nil, the document also contains the inputs of each cache key,
// and hide replaces private texts. You can then share the document.
func Document(ctx context.Context, book *runlog.History, run *runlog.Run, stores Stores,
	hide *explain.Hider) (*history.Document, error) {
	c := &collector{book: book, run: run, stores: stores, hide: hide, materials: explain.NewMaterials(hide),
		loaded: map[digest.Digest]loadedAction{}, sizes: map[digest.Digest]int64{}}
	s := run.Summary
	c.d = &history.Document{
		Format: history.Format, ID: run.ID, Pipeline: run.Pipeline, Profile: run.Profile, Version: run.Version,
		Variables: run.Variables, Selected: run.Selected, Force: run.Force,
		Parallel: run.Jobs, Host: run.Host, Toolchains: run.Toolchains, Started: run.Started,
		Seconds: run.Took.Seconds(), Result: history.ResultOf(run),
		Executed: run.Executed, Cached: run.Cached, Failed: run.Failed, NotRun: run.NotRun, Actions: s.Actions,
		ChecksFailed: s.ChecksFailed,
		Outputs:      s.Outputs, Checks: s.Checks, Failures: s.Failures, Warnings: s.Warnings,
	}
	if !run.Ended {
		count(c.d, run)
	}
	if err := c.steps(ctx); err != nil {
		return nil, err
	}
	c.d.MarkCritical()
	if hide != nil {
		if err := c.forOthers(ctx); err != nil {
			return nil, err
		}
	}
	c.unknown()
	return c.d, nil
}

// count counts the actions of a run that was killed before it counted them.
func count(d *history.Document, run *runlog.Run) {
	for _, a := range run.Actions {
		switch a.Outcome {
		case event.Executed:
			d.Executed++
		case event.Cached:
			d.Cached++
		default:
			d.Failed++
		}
		d.Seconds = max(d.Seconds, (a.Start + a.Duration).Seconds())
	}
	d.Actions = len(run.Actions)
}

type collector struct {
	book   *runlog.History
	run    *runlog.Run
	stores Stores
	hide   *explain.Hider // nil: the document stays on this machine
	d      *history.Document

	materials *explain.Materials

	loaded map[digest.Digest]loadedAction
	sizes  map[digest.Digest]int64 // of folders
	gone   int                     // number of actions whose outputs are unknown
	none   bool                    // the record has no graph
}

type loadedAction struct {
	action *action.Action
	blobs  store.Blobs
	err    error
}

// steps adds the steps, dependencies first.
func (c *collector) steps(ctx context.Context) error {
	by := map[string]*history.Step{}
	graph := c.graph()
	at := map[string]int{}
	var order []string
	for i, s := range graph {
		at[s.Step] = i
		order = append(order, s.Step)
	}
	for i := range c.run.Actions {
		a := &c.run.Actions[i]
		name := addrs.WithoutKeys(a.Step)
		s := by[name]
		if s == nil {
			s = &history.Step{Step: name}
			by[name] = s
			if _, ok := at[name]; !ok {
				order = append(order, name)
			}
		}
		did, err := c.action(ctx, a)
		if err != nil {
			return err
		}
		s.Add(did)
	}
	place := map[string]int{}
	var put func(name string)
	put = func(name string) {
		if _, ok := place[name]; ok {
			return
		}
		place[name] = -1 // ends a cycle: merging the instances of a module can create one
		var needs []int
		if i, ok := at[name]; ok {
			for _, n := range graph[i].Needs {
				need := graph[n].Step
				if put(need); place[need] >= 0 {
					needs = append(needs, place[need])
				}
			}
		}
		s := by[name]
		if s == nil {
			s = &history.Step{Step: name}
		}
		slices.Sort(needs)
		s.Module, s.Needs = moduleOf(name), slices.Compact(needs)
		s.Sum()
		place[name] = len(c.d.Steps)
		c.d.Steps = append(c.d.Steps, *s)
	}
	for _, name := range order {
		put(name)
	}
	return nil
}

// graph returns the steps of the plan, from this run or from the run that made the plan.
func (c *collector) graph() []runlog.Step {
	if len(c.run.Summary.Steps) > 0 {
		return c.run.Summary.Steps
	}
	has := func(r *runlog.Run) bool { return len(r.Summary.Steps) > 0 }
	if r := c.book.Earlier(c.run, has); r != nil {
		return r.Summary.Steps
	}
	c.none = true
	return nil
}

func (c *collector) unknown() {
	note := func(is bool, text string) {
		if is {
			c.d.Unknown = append(c.d.Unknown, text)
		}
	}
	note(c.none, "The record of this run has no dependencies between steps, so the critical path is unknown. The run "+
		"was stopped, or an older hexmage made the record.")
	note(c.gone > 0, fmt.Sprintf("The sizes omit the outputs of %d actions, because the cache evicted their "+
		"results or the results depend on a depfile.", c.gone))
	note(c.run.Summary.Cut, "The record is truncated, so some outputs, checks, warnings or tables are missing.")
}

func moduleOf(step string) string {
	s, err := addrs.ParseStep(step)
	if err != nil {
		return ""
	}
	return string(s.Module)
}

func (c *collector) action(ctx context.Context, a *runlog.Action) (history.Action, error) {
	did := history.Action{Copy: a.Step, Name: a.Name, Outcome: a.Outcome, Start: a.Start.Seconds(),
		Seconds: a.Duration.Seconds()}
	if a.Key.IsZero() {
		did.Reason = "an input was missing"
		return did, ctx.Err()
	}
	did.Key = a.Key.Hex()
	did.Reason = c.reason(ctx, a)
	if r, err := c.stores.Results.Get(ctx, a.Key); err == nil {
		c.outputs(ctx, &did, r)
	} else if a.Outcome != event.Failed {
		c.gone++
	}
	c.of(ctx, &did, a.Key)
	return did, ctx.Err()
}

// of adds the inputs of the action's cache key if the document is for export.
func (c *collector) of(ctx context.Context, did *history.Action, key digest.Digest) {
	if c.hide == nil {
		return
	}
	c.d.Digests = key.Function().String()
	if l := c.load(ctx, key); l.err == nil {
		c.materials.Add(ctx, did, l.action, l.blobs)
	}
	did.Reason = c.hide.Text(did.Reason)
}

// forOthers prepares the document for export: it adds the trees, and removes secrets and local paths from the outputs
// of programs.
func (c *collector) forOthers(ctx context.Context) error {
	trees, whole, err := c.materials.Trees(ctx)
	if err != nil {
		return err
	}
	c.d.Trees = trees
	if !whole {
		c.d.Unknown = append(c.d.Unknown, "The document lists some input folders without contents, because the "+
			"cache evicted the contents or the folders are too large.")
	}
	text := c.hide.Text
	c.d.Outputs = slices.Clone(c.d.Outputs)
	for i := range c.d.Outputs {
		o := &c.d.Outputs[i]
		o.Path = strings.TrimPrefix(text(o.Path), text(c.hide.At(explain.Workspace))+"/")
		if utf8.Valid(o.Content) {
			o.Content = []byte(text(string(o.Content)))
		}
	}
	c.d.Failures = slices.Clone(c.d.Failures)
	for i := range c.d.Failures {
		f := &c.d.Failures[i]
		f.Summary, f.Where, f.Output, f.Hints = text(f.Summary), text(f.Where), text(f.Output), slices.Clone(f.Hints)
		for j := range f.Hints {
			f.Hints[j] = text(f.Hints[j])
		}
	}
	c.d.Warnings = slices.Clone(c.d.Warnings)
	for i := range c.d.Warnings {
		c.d.Warnings[i].Text = text(c.d.Warnings[i].Text)
	}
	c.d.Checks = slices.Clone(c.d.Checks)
	for i := range c.d.Checks {
		k := &c.d.Checks[i]
		k.Where, k.Message = text(k.Where), text(k.Message)
	}
	return nil
}

// outputs adds the outputs of the action.
func (c *collector) outputs(ctx context.Context, did *history.Action, r *action.Result) {
	did.Made = map[string]string{}
	for _, f := range r.Files {
		did.Bytes += f.Digest.Size()
		did.Made[f.Path] = f.Digest.Hex()[:16]
	}
	for _, d := range r.Dirs {
		did.Bytes += c.size(ctx, d)
		did.Made[d.Path] = d.Root.Hex()[:16]
	}
}

// size returns the total size of the files in a folder, 0 if unknown.
func (c *collector) size(ctx context.Context, d action.OutputDir) int64 {
	if n, ok := c.sizes[d.Root]; ok {
		return n
	}
	tree, err := merkle.LoadOutput(ctx, c.stores.Blobs, d)
	var n int64
	if err != nil {
		c.gone++
	} else {
		_ = tree.Walk(func(_ string, e merkle.Entry) error {
			if e.File != nil {
				n += e.File.Digest.Size()
			}
			return nil
		})
	}
	c.sizes[d.Root] = n
	return n
}

func (c *collector) load(ctx context.Context, key digest.Digest) loadedAction {
	l, ok := c.loaded[key]
	if !ok {
		l.action, l.blobs, l.err = explain.Load(ctx, c.stores.Blobs, c.stores.Results, key)
		c.loaded[key] = l
	}
	return l
}

// reason returns a short text why the action ran, or why it was cached.
func (c *collector) reason(ctx context.Context, a *runlog.Action) string {
	earlier, last := c.book.LastBefore(c.run, a.Step, a.Name)
	if a.Outcome == event.Cached {
		switch {
		case last == nil:
			return "the result was cached, but hexmage has no record of an earlier run"
		case last.Key == a.Key:
			return "nothing changed since run " + earlier.ID
		}
		return "the result is from a run before the previous one"
	}
	now := c.load(ctx, a.Key)
	switch {
	case now.err == nil && now.action.DoNotCache:
		return "the step runs every time (cache = false)"
	case c.forced(a.Step):
		return "--force"
	case last == nil:
		return "never ran before"
	case last.Key == a.Key && last.Outcome == event.Failed:
		return "failed last time"
	case last.Key == a.Key:
		return "the cache evicted the result"
	}
	if now.err != nil {
		return "changed, but the cache evicted the new inputs"
	}
	old, blobs, err := explain.Load(ctx, now.blobs, c.stores.Results, last.Key)
	if err != nil {
		return "changed, but the cache evicted the old inputs"
	}
	differs := explain.Compare(ctx, blobs, explain.Made{Action: old}, explain.Made{Action: now.action}, true)
	return cmp.Or(differs.Reason(), "changed")
}

// forced reports whether the run ignored cached results of the step.
func (c *collector) forced(step string) bool {
	base, _ := addrs.CutKey(step)
	at, err := addrs.ParseStep(base)
	for _, f := range c.run.Force {
		s, wrong := addrs.ParseStep(f)
		if f == "" || err == nil && wrong == nil && s.Covers(at) {
			return true
		}
	}
	return false
}
