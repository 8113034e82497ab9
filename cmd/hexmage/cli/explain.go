package cli

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/engine"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/explain"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/internal/runlog"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/suggest"
)

// explainCmd is `hexmage explain PIPELINE [STEP [ACTION]]`.
type explainCmd struct {
	Pipeline string `arg:"" help:"Pipeline: the name of a file in pipelines/ (without .hcl) or of a folder in pipelines/."`
	Step     string `arg:"" optional:"" help:"Explain only this step. Write a step as KIND.NAME, and a step of a module as module.MODULE.KIND.NAME. KIND.NAME[\"KEY\"] is one instance of a step with for_each. Default: all steps."`
	Action   string `arg:"" optional:"" help:"Explain only this action of the step. 'hexmage plan -v' prints the names of actions. Default: all actions."`
}

// Help returns the examples of `hexmage explain --help`.
func (*explainCmd) Help() string {
	return `An action is one command of a step. For each action that will run, lists the arguments and input files
that changed since the last run. For each action that the last run executed, lists the changes that caused the
execution.

Examples:

    hexmage explain qwen3-aot-v79                                 the actions that will run, and the actions that ran last
    hexmage explain qwen3-aot-v79 module.aot.oppackage.llama      the actions of one step
    hexmage explain qwen3-aot-v79 module.aot.context.llm --json   the actions of one step as JSON

    hexmage explain wide 'exec.obj["src/a.c"]'                    one instance of a step with for_each
    hexmage compare theirs.json @1                                changes since a run on another machine`
}

// explanation describes one action.
type explanation struct {
	actionStatus
	Last        *earlierRun    `json:"last_run,omitempty"`
	Before      *earlierRun    `json:"run_before,omitempty"`   // run before Last, if the last run executed this action
	LastSuccess *earlierRun    `json:"last_success,omitempty"` // the last successful run, if the last run failed
	Waits       []actionStatus `json:"waits,omitempty"`
}

// earlierRun is an earlier run of an action, with the differences to now.
type earlierRun struct {
	Started time.Time     `json:"started"` // start of the run
	Outcome event.Outcome `json:"outcome"`
	Seconds float64       `json:"seconds"` // duration of the action
	Worker  string        `json:"worker,omitempty"`
	Key     string        `json:"key"`
	Same    bool          `json:"same"` // whether nothing differs
	Notes   []string      `json:"notes,omitempty"`

	Differences []explain.Difference `json:"differences"`
	More        int                  `json:"more_differences,omitempty"`
}

const (
	maxExplained = 20 // explained actions of a step; others are counted
	shownFew     = 12 // differences shown to people
	insideFew    = 3  // differences shown in a toolchain
)

// Run explains why each action of a step runs or is cached.
func (c *explainCmd) Run(ctx context.Context, a *app) error {
	base, key := addrs.CutKey(c.Step)
	var steps []string
	if base != "" {
		steps = []string{base}
	}
	p, err := a.plan(c.Pipeline, steps)
	if err != nil {
		return err
	}
	chosen, err := selected(steps)
	if err != nil {
		return err
	}
	wanted := map[string]bool{} // the step and its instances
	for _, n := range p.Instances {
		if short := n.At.Short(); len(chosen) == 0 || chosen[0].Covers(n.At.Step) {
			_, k := addrs.CutKey(short)
			wanted[short] = key == "" || key == k
		}
	}
	w, err := a.preview(ctx, p, func(step, _ string) bool { return wanted[step] })
	if err != nil {
		return err
	}
	var found []*engine.Previewed
	var copies, names []string
	for i := range w.seen.Actions {
		v := &w.seen.Actions[i]
		name, named := "", c.Action == ""
		if v.Spec != nil {
			name = v.Instance.ActionName(*v.Spec)
			like, _ := path.Match(c.Action, name) // plan shows unknown actions as *.o
			named = named || like || c.Action == name || c.Action == name+": "+v.Spec.Description
		}
		if step := v.Instance.At.Short(); wanted[step] && named {
			found = append(found, v)
		} else if _, copied := wanted[step]; copied {
			copies, names = append(copies, step), append(names, name)
		}
	}
	if len(found) == 0 {
		return c.notThere(copies, names)
	}
	return a.showExplained(ctx, w, found)
}

// notThere returns the error for an unknown instance or action of the step.
func (c *explainCmd) notThere(copies, names []string) error {
	if c.Action != "" {
		if near := suggest.Name(c.Action, names); near != "" {
			return usageError("step %s has no action %q. Did you mean %q?", c.Step, c.Action, near)
		}
		return usageError("step %s has no action %q; `hexmage plan %s` lists the actions", c.Step, c.Action, c.Pipeline)
	}
	if near := suggest.Name(c.Step, copies); near != "" {
		return usageError("unknown step %s. Did you mean %s?", c.Step, near)
	}
	return usageError("unknown step %s; `hexmage plan %s` lists the steps", c.Step, c.Pipeline)
}

func (a *app) showExplained(ctx context.Context, w *reasons, found []*engine.Previewed) error {
	// Cached actions without details come last. Many of them are counted only.
	var all []*explanation
	cached, more := 0, 0
	for _, v := range found {
		if len(found) > 1 && v.Status == engine.WillUse && !w.ranInNewest(v) && !a.JSON {
			cached++
			continue
		}
		if len(all) >= maxExplained && !a.JSON {
			more++
			continue
		}
		e, err := w.explain(ctx, v)
		if err != nil {
			return engineError(err)
		}
		all = append(all, e)
	}
	var b strings.Builder
	said := map[string]bool{} // actions whose status and reason are printed
	for _, e := range all {
		said[e.name()] = true
	}
	for i, e := range all {
		if i > 0 {
			b.WriteString("\n")
		}
		e.text(&b, said)
	}
	if more > 0 {
		fmt.Fprintf(&b, "\nand %d more uncached actions; to explain one, add its name\n", more)
	}
	if cached > 0 {
		if len(all) > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%d of %d actions are cached\n", cached, len(found))
	}
	return a.show(map[string]any{"format": "hexmage-explain/0", "pipeline": w.p.Pipeline, "profile": w.p.Profile,
		"actions": all}, "%s", &b)
}

// explain finds the details of an action.
func (w *reasons) explain(ctx context.Context, v *engine.Previewed) (*explanation, error) {
	e := &explanation{actionStatus: w.statusOf(ctx, v, true)}
	for _, step := range v.Waits {
		for i := range w.seen.Actions {
			on := &w.seen.Actions[i]
			if on != v && on.Instance.At.Short() == step && on.Status != engine.WillUse {
				e.Waits = append(e.Waits, w.statusOf(ctx, on, true))
			}
		}
	}
	if v.Action == nil {
		return e, nil
	}
	run, last := w.book.Last(w.p.Profile, e.Step, e.Name)
	if last == nil {
		return e, nil
	}
	var err error
	if e.Last, err = w.earlier(ctx, run, last, v); err != nil {
		return nil, err
	}
	if e.Last.Same && last.Outcome == event.Executed {
		if run, before := w.book.LastBefore(run, e.Step, e.Name); before != nil {
			if e.Before, err = w.earlier(ctx, run, before, v); err != nil {
				return nil, err
			}
		}
	}
	if run, good := w.book.LastSuccess(w.p.Profile, e.Step, e.Name); good != nil && last.Outcome == event.Failed {
		e.LastSuccess, err = w.earlier(ctx, run, good, v)
	}
	return e, err
}

// ranInNewest reports whether the newest run executed the action, and an earlier run has a record of it.
func (w *reasons) ranInNewest(v *engine.Previewed) bool {
	step, spec := v.Instance.At.Short(), v.Spec.Name
	run, last := w.book.Last(w.p.Profile, step, spec)
	if last == nil || last.Outcome != event.Executed || run.ID != w.book.Refs()[0].ID {
		return false
	}
	_, before := w.book.LastBefore(run, step, spec)
	return before != nil
}

func (w *reasons) earlier(ctx context.Context, run *runlog.Run, a *runlog.Action,
	v *engine.Previewed) (*earlierRun, error) {
	t := &earlierRun{Started: run.Started, Outcome: a.Outcome, Seconds: a.Duration.Seconds(), Worker: a.Worker,
		Key: a.Key.Hex(), Same: a.Key == v.Key, Differences: []explain.Difference{}}
	if t.Same {
		return t, nil
	}
	c, err := w.compare(ctx, false, run, a, v)
	switch {
	case errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt):
		t.Notes = append(t.Notes, "the inputs changed, but the cache evicted the old inputs")
	case err != nil:
		return nil, err
	default:
		t.Differences, t.More = append(t.Differences, c.Differences...), c.More
		t.Notes = append(t.Notes, c.Unknown...)
	}
	return t, nil
}

// text formats the explanation for people. It prints each awaited action once, since several actions of a step wait for
// the same ones.
func (e *explanation) text(b *strings.Builder, said map[string]bool) {
	line := string(e.Status)
	switch {
	case e.Status == engine.WillUse && e.Last == nil:
		line += ": the result is cached, but hexmage has no record of a run"
	case e.Status == engine.WillUse && e.Last.Same:
		line += ": no changes since the last run"
	case e.Status == engine.WillUse:
		line += ": the result is from a run before the previous one"
	case e.Reason != "":
		line += ": " + e.Reason
	}
	fmt.Fprintf(b, "%s\n  %s\n", e.name(), line)
	for _, x := range e.Waits {
		if !said[x.name()] {
			fmt.Fprintf(b, "    %s %s\n", x.name(), &x)
		}
		said[x.name()] = true
	}
	e.Last.text(b, "last run")
	e.Before.text(b, "run before")
	e.LastSuccess.text(b, "last success")
}

func (t *earlierRun) text(b *strings.Builder, what string) {
	if t == nil {
		return
	}
	how := string(t.Outcome)
	if t.Outcome != event.Cached {
		how += " in " + seconds(t.Seconds)
	}
	fmt.Fprintf(b, "  %s: %s, %s, key %.12s\n", what, t.Started.Local().Format("2006-01-02 15:04:05"), how, t.Key)
	if t.Same {
		b.WriteString("    no changes\n")
	}
	for i, d := range t.Differences {
		if i == shownFew {
			fmt.Fprintf(b, "    and %d more; --json shows all\n", len(t.Differences)-i+t.More)
			break
		}
		fmt.Fprintf(b, "    %s\n", d)
		for j, in := range d.Inside {
			if j == insideFew {
				break
			}
			fmt.Fprintf(b, "      %s\n", strings.TrimPrefix(in.String(), explain.Input+" "))
		}
		if n := len(d.Inside) + d.MoreInside - insideFew; n > 0 {
			fmt.Fprintf(b, "      and %d more\n", n)
		}
	}
	for _, n := range t.Notes {
		fmt.Fprintf(b, "    unknown: %s\n", n)
	}
}

// seconds formats a duration for people.
func seconds(s float64) string { return report.Seconds(time.Duration(s * float64(time.Second))) }

// reasons finds why actions will run, from earlier runs of the pipeline.
type reasons struct {
	p        *plan.Plan
	seen     *engine.Previews
	book     *runlog.History
	costs    func() runlog.Costs
	results  store.Results
	forced   func(step string) bool // reports forced steps; nil: none
	versions map[string]string      // current versions of toolchains
	loaded   map[string]loadedAction
	where    func(*action.Action) string // returns why an action will run locally or not; nil: all run locally
	download int64                       // bytes to download
	fetches  func(action.Spec) string    // describes an action's downloads
}

type loadedAction struct {
	action *action.Action
	blobs  store.Blobs
	err    error
}

// preview returns the reasons for a run of the plan. keep, which may be nil, selects cached actions to compare as well.
func (a *app) preview(ctx context.Context, p *planned,
	keep func(step, spec string) bool) (*reasons, error) {
	o, results, err := a.lookupOnly(ctx)
	if err != nil {
		return nil, err
	}
	if o.Force, err = choose(a.Force, "--force", p.Plan); err != nil {
		return nil, err
	}
	p.extend(&o)
	seen, err := engine.Preview(ctx, p.Plan, o, keep)
	if err != nil {
		return nil, engineError(err)
	}
	return &reasons{p: p.Plan, seen: seen, where: a.far.where(), book: runlog.Open(a.runLogOf(p.Pipeline)),
		costs: a.costs(p.Pipeline), forced: o.Force, results: results,
		versions: toolchainVersions(p.Plan), loaded: map[string]loadedAction{},
		download: a.toDownload(seen), fetches: a.fetches}, nil
}

// reason returns the reason for the action's status in a few words.
func (w *reasons) reason(ctx context.Context, v *engine.Previewed) string {
	switch v.Status {
	case engine.Deferred:
		return "waits for " + some(v.Waits, 3)
	case engine.WillFail:
		return v.Err.Error()
	case engine.WillUse:
		return ""
	}
	step, spec := v.Instance.At.Short(), v.Spec.Name
	run, last := w.book.Last(w.p.Profile, step, spec)
	switch {
	case v.Spec.NoCache:
		return "the step runs every time (cache = false)"
	case w.forced != nil && w.forced(step):
		return "--force"
	case last == nil:
		return "never ran"
	case last.Key == v.Key && last.Outcome == event.Failed:
		return "failed last time"
	case last.Key == v.Key:
		return "the cache evicted the result"
	}
	c, err := w.compare(ctx, true, run, last, v)
	if err != nil {
		return "changed, but the cache evicted the old inputs"
	}
	if r := c.Reason(); r != "" {
		return r
	}
	return "changed"
}

// compare compares the key of an action in an earlier run with its current key.
func (w *reasons) compare(ctx context.Context, outline bool, run *runlog.Run, then *runlog.Action,
	v *engine.Previewed) (explain.Comparison, error) {
	old, ok := w.loaded[then.Key.Hex()]
	if !ok {
		old.action, old.blobs, old.err = explain.Load(ctx, w.seen.Store, w.results, then.Key)
		w.loaded[then.Key.Hex()] = old
	}
	if old.err != nil {
		return explain.Comparison{}, old.err
	}
	c := explain.Compare(ctx, old.blobs, explain.Made{Action: old.action, Toolchains: run.Toolchains},
		explain.Made{Action: v.Action, Toolchains: w.versions}, outline)
	c.Place(v.Spec)
	return c, nil
}

// some joins the first few names.
func some(names []string, few int) string {
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}
