// Package collect makes the document of a run from its record and what the store has of the actions' keys and
// results. Where that is gone, the document says less. It does not know how a document is shown, and runs nothing.
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

// Stores is where results and what keys were made of are looked for.
type Stores struct {
	Blobs   store.Blobs
	Results store.Results
}

// Document makes the document of a run of the book. With hide it is for others: it has what each action's key was
// made of, also of those that the run did not come to, and nothing of what hide takes out.
func Document(ctx context.Context, book *runlog.Book, run *runlog.Run, stores Stores,
	hide *explain.Hider) (*history.Document, error) {
	c := &collector{book: book, run: run, stores: stores, hide: hide, materials: explain.NewMaterials(hide),
		loaded: map[digest.Digest]loadedAction{}, sizes: map[digest.Digest]int64{}}
	s := run.Summary
	c.d = &history.Document{
		Format: history.Format, ID: run.ID, Pipeline: run.Pipeline, Profile: run.Profile, Version: run.Version,
		Variables: run.Variables, Selected: run.Selected, Fresh: run.Fresh,
		Parallel: run.Jobs, Host: run.Host, Toolchains: run.Toolchains, Started: run.Started,
		Seconds: run.Took.Seconds(), Result: history.ResultOf(run),
		Executed: run.Executed, Cached: run.Cached, Failed: run.Failed, Skipped: run.Skipped, Actions: s.Actions,
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

// count counts the actions of a run that was killed before it did.
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
	book   *runlog.Book
	run    *runlog.Run
	stores Stores
	hide   *explain.Hider // nil: the document is for this machine
	d      *history.Document

	materials *explain.Materials
	plan      []runlog.Step

	loaded map[digest.Digest]loadedAction
	sizes  map[digest.Digest]int64 // of folders
	gone   int                     // actions of whose outputs nothing is known any more
	none   bool                    // there is no graph
}

type loadedAction struct {
	action *action.Action
	blobs  store.Blobs
	err    error
}

// steps fills in the steps, in an order in which what a step needs comes before it.
func (c *collector) steps(ctx context.Context) error {
	by := map[string]*history.Step{}
	graph := c.graph()
	c.plan = graph
	at := map[string]int{}
	var order []string
	for i, s := range graph {
		at[s.Step] = i
		order = append(order, s.Step)
	}
	for i := range c.run.Actions {
		a := &c.run.Actions[i]
		name := plain(a.Step)
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
	if c.hide != nil {
		if err := c.addEarlier(ctx, by); err != nil {
			return err
		}
	}
	place := map[string]int{}
	var put func(name string)
	put = func(name string) {
		if _, ok := place[name]; ok {
			return
		}
		place[name] = -1 // a cycle, which copies of a module could make of what is none, ends here
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

// graph is the plan's steps: the run's own, or those of the run that made the plan.
func (c *collector) graph() []runlog.Step {
	if len(c.run.Summary.Steps) > 0 {
		return c.run.Summary.Steps
	}
	has := func(r *runlog.Run) bool { return len(r.Summary.Steps) > 0 }
	if r := c.book.Earlier(c.run, has); r != nil {
		if len(c.d.Toolchains) == 0 {
			c.d.Toolchains = r.Toolchains
		}
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
	note(c.none, "Which step needs which is not on record: the run was stopped, or is of an earlier hexmage. So "+
		"there is no critical path.")
	note(c.gone > 0, fmt.Sprintf("Of %d actions the outputs do not count in the sizes: their results are no longer "+
		"in the cache, or are kept by what a depfile named.", c.gone))
	note(c.run.Summary.Cut, "There was more to tell than a record takes: some outputs, checks, warnings or tables "+
		"are left out.")
}

// plain is an address without keys.
func plain(step string) string {
	base, _ := addrs.CutKey(step)
	if s, err := addrs.ParseStep(base); err == nil {
		s.Module = s.Module.Written()
		return s.Short()
	}
	return base
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
		Seconds: a.Duration.Seconds(), Worker: a.Worker}
	if a.Key.IsZero() {
		did.Reason = "an input of it was not there"
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

// of fills in what the action was made of, where the document is for others.
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

// addEarlier adds the actions that the run did not come to, as it failed or was stopped before, by the last run that
// did.
func (c *collector) addEarlier(ctx context.Context, by map[string]*history.Step) error {
	type name struct{ step, action string }
	seen := map[name]bool{}
	for _, a := range c.run.Actions {
		seen[name{a.Step, a.Name}] = true
	}
	for _, r := range c.book.Runs() { // the newest first
		if r.Profile != c.run.Profile || r.Variables != c.run.Variables || !r.Started.Before(c.run.Started) {
			continue
		}
		for i := range r.Actions {
			a := &r.Actions[i]
			at := name{a.Step, a.Name}
			s := by[plain(a.Step)]
			if s == nil && !c.planned(plain(a.Step)) || a.Key.IsZero() || seen[at] {
				continue
			}
			if seen[at] = true; s == nil {
				s = &history.Step{Step: plain(a.Step)}
				by[s.Step] = s
			}
			k := history.Action{Copy: a.Step, Name: a.Name, Key: a.Key.Hex(), Outcome: a.Outcome, Run: r.ID}
			if k.Copy == s.Step {
				k.Copy = ""
			}
			c.of(ctx, &k, a.Key)
			s.Kept = append(s.Kept, k)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// planned tells whether the run's plan has the step.
func (c *collector) planned(step string) bool {
	return slices.ContainsFunc(c.plan, func(s runlog.Step) bool { return s.Step == step })
}

// forOthers adds the trees, and takes out of what people and programs said what is not for others.
func (c *collector) forOthers(ctx context.Context) error {
	trees, whole, err := c.materials.Trees(ctx)
	if err != nil {
		return err
	}
	c.d.Trees = trees
	if !whole {
		c.d.Unknown = append(c.d.Unknown, "Of some folders of inputs it is not said what is in them: they are no "+
			"longer in the cache, or there is too much.")
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

// outputs fills in what the action made.
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

// size is that of all files in a folder, 0 where it is not known.
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

// reason says in a few words why the action ran, or why it did not.
func (c *collector) reason(ctx context.Context, a *runlog.Action) string {
	earlier, last := c.book.LastBefore(c.run, a.Step, a.Name)
	if a.Outcome == event.Cached {
		switch {
		case last == nil:
			return "its result was known, though no earlier run of it is on record"
		case last.Key == a.Key:
			return "nothing differed from run " + earlier.ID
		}
		return "its result was known from an earlier run than the last"
	}
	now := c.load(ctx, a.Key)
	switch {
	case now.err == nil && now.action.DoNotCache:
		return "it runs every time (cache = false)"
	case c.fresh(a.Step):
		return "--fresh"
	case last == nil:
		return "never ran before"
	case last.Key == a.Key && last.Outcome == event.Failed:
		return "failed last time"
	case last.Key == a.Key:
		return "its result was no longer in the cache"
	}
	if now.err != nil {
		return "changed; what it was made of is no longer in the cache"
	}
	old, blobs, err := explain.Load(ctx, now.blobs, c.stores.Results, last.Key)
	if err != nil {
		return "changed; what it was is no longer in the cache"
	}
	differs := explain.Outline(ctx, blobs, explain.Made{Action: old}, explain.Made{Action: now.action})
	return cmp.Or(differs.Reason(), "changed")
}

// fresh tells whether results of the step were not to count.
func (c *collector) fresh(step string) bool {
	base, _ := addrs.CutKey(step)
	at, err := addrs.ParseStep(base)
	for _, f := range c.run.Fresh {
		s, wrong := addrs.ParseStep(f)
		if f == "" || err == nil && wrong == nil && s.Covers(at) {
			return true
		}
	}
	return false
}
