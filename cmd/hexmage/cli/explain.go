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
	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/engine"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/explain"
	"github.com/hexmage/hexmage/internal/nearest"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/internal/runlog"
	"github.com/hexmage/hexmage/internal/store"
)

// explainCmd is `hexmage explain PIPELINE STEP [ACTION]`.
type explainCmd struct {
	Pipeline string `arg:"" help:"A pipeline: the name of a file in pipelines/ without .hcl, or of a folder there."`
	Step     string `arg:"" help:"The step (KIND.NAME, module.NAME.KIND.NAME), or one copy of it (KIND.NAME[\"KEY\"])."`
	Action   string `arg:"" optional:"" help:"One action of the step, as plan names it."`
}

// Help has the examples of `hexmage explain --help`.
func (*explainCmd) Help() string {
	return `It runs nothing. What changed is told by digests, for input files with their paths.

Examples:

    hexmage explain qwen3-aot-v79 module.aot.oppackage.llama       every action of the step that is not cached
    hexmage explain qwen3-aot-v79 module.aot.context.llm --json    for programs
    hexmage explain wide 'exec.obj["src/a.c"]'                     one copy of a step with for_each
    hexmage compare theirs.json @1                                 why was it another here than in a run that somebody exported`
}

// explanation is what there is to say about one action.
type explanation struct {
	Step        string          `json:"step"`
	Name        string          `json:"name,omitempty"`
	Status      engine.Status   `json:"status"`
	Reason      string          `json:"reason,omitempty"`
	Key         string          `json:"key,omitempty"`
	Last        *earlierRun     `json:"last_run,omitempty"`
	LastSuccess *earlierRun     `json:"last_success,omitempty"` // only when the last run failed
	Waits       []*actionStatus `json:"waits,omitempty"`
}

// earlierRun is an earlier run of an action, and in what it differs.
type earlierRun struct {
	Started time.Time     `json:"started"` // the run
	Outcome event.Outcome `json:"outcome"`
	Seconds float64       `json:"seconds"` // the action
	Worker  string        `json:"worker,omitempty"`
	Key     string        `json:"key"`
	Same    bool          `json:"same"` // nothing differs
	Notes   []string      `json:"notes,omitempty"`

	Differences []explain.Difference `json:"differences"`
	More        int                  `json:"more_differences,omitempty"`
}

const (
	maxExplained = 20 // actions of a step that are explained; the others are counted
	shownFew     = 12 // differences that people see
	insideFew    = 3  // in a toolchain
)

// Run explains.
func (c *explainCmd) Run(ctx context.Context, a *app) error {
	base, key := addrs.CutKey(c.Step)
	p, workspace, err := a.plan(c.Pipeline, []string{base})
	if err != nil {
		return err
	}
	step, err := addrs.ParseStep(base)
	if err != nil {
		return usageError("%w", err)
	}
	wanted := map[string]bool{} // the step, and which of its copies
	for _, n := range p.Instances {
		if short := n.At.Short(); step.Covers(n.At.Step) {
			_, k := addrs.CutKey(short)
			wanted[short] = key == "" || key == k
		}
	}
	w, err := a.preview(ctx, p, workspace, func(step, _ string) bool { return wanted[step] })
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
			like, _ := path.Match(c.Action, name) // plan names what it does not know yet as *.o
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

// notThere is the error for a copy or an action that the step does not have.
func (c *explainCmd) notThere(copies, names []string) error {
	if c.Action != "" {
		if near := nearest.Name(c.Action, names); near != "" {
			return usageError("%s has no action %q: did you mean %q?", c.Step, c.Action, near)
		}
		return usageError("%s has no action %q: `hexmage plan %s` lists them", c.Step, c.Action, c.Pipeline)
	}
	if near := nearest.Name(c.Step, copies); near != "" {
		return usageError("there is no %s: did you mean %s?", c.Step, near)
	}
	return usageError("there is no %s: `hexmage plan %s` lists what there is", c.Step, c.Pipeline)
}

func (a *app) showExplained(ctx context.Context, w *reasons, found []*engine.Previewed) error {
	// Those that are cached and nothing more to say of come last, counted when there are many.
	var all []*explanation
	cached, more := 0, 0
	for _, v := range found {
		if len(found) > 1 && v.Status == engine.WillUse && !a.JSON {
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
	if a.JSON {
		return a.printJSON(map[string]any{"format": "hexmage-explain/0", "pipeline": w.p.Pipeline,
			"profile": w.p.Profile, "actions": all})
	}
	var b strings.Builder
	said := map[string]bool{} // actions of which their status and its reason are said
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
		fmt.Fprintf(&b, "\nand %d more that are not cached: name one of them\n", more)
	}
	if cached > 0 {
		if len(all) > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%d of %d actions are cached\n", cached, len(found))
	}
	fmt.Fprint(a.Env.Stdout, ansi.Visible(b.String(), false))
	return nil
}

// explain finds out all there is to say about an action.
func (w *reasons) explain(ctx context.Context, v *engine.Previewed) (*explanation, error) {
	e := &explanation{Step: v.Instance.At.Short(), Status: v.Status, Reason: w.reason(ctx, v)}
	if v.Spec != nil {
		e.Name = v.Spec.Name
	}
	for _, step := range v.Waits {
		for i := range w.seen.Actions {
			on := &w.seen.Actions[i]
			if on != v && on.Instance.At.Short() == step && on.Status != engine.WillUse {
				x := &actionStatus{Step: step, Status: on.Status, Reason: w.reason(ctx, on)}
				if on.Spec != nil {
					x.Name = on.Spec.Name
				}
				e.Waits = append(e.Waits, x)
			}
		}
	}
	if v.Action == nil {
		return e, nil
	}
	e.Key = v.Key.Hex()
	run, last := w.book.Last(w.p.Profile, e.Step, e.Name)
	if last == nil {
		return e, nil
	}
	var err error
	if e.Last, err = w.earlier(ctx, run, last, v); err != nil {
		return nil, err
	}
	if run, good := w.book.LastSuccess(w.p.Profile, e.Step, e.Name); good != nil && last.Outcome == event.Failed {
		e.LastSuccess, err = w.earlier(ctx, run, good, v)
	}
	return e, err
}

func (w *reasons) earlier(ctx context.Context, run *runlog.Run, a *runlog.Action,
	v *engine.Previewed) (*earlierRun, error) {
	t := &earlierRun{Started: run.Started, Outcome: a.Outcome, Seconds: a.Duration.Seconds(), Worker: a.Worker,
		Key: a.Key.Hex(), Same: a.Key == v.Key, Differences: []explain.Difference{}}
	if t.Same {
		return t, nil
	}
	c, err := w.compare(ctx, explain.Compare, run, a, v)
	switch {
	case gone(err):
		t.Notes = append(t.Notes, "something differs; what it was made of then is no longer in the cache")
	case err != nil:
		return nil, err
	default:
		t.Differences, t.More = append(t.Differences, c.Differences...), c.More
		t.Notes = append(t.Notes, c.Unknown...)
	}
	return t, nil
}

func (e *explanation) name() string { return strings.TrimSpace(e.Step + " " + e.Name) }

// text writes the explanation for people. What it waits for is said once: several actions of a step wait for the same
// ones, and for each other.
func (e *explanation) text(b *strings.Builder, said map[string]bool) {
	line := string(e.Status)
	switch {
	case e.Status == engine.WillUse && e.Last == nil:
		line += ": its result is known, though no run of it is on record here"
	case e.Status == engine.WillUse && e.Last.Same:
		line += ": nothing differs from the last run"
	case e.Status == engine.WillUse:
		line += ": its result is known from an earlier run than the last"
	case e.Reason != "":
		line += ": " + e.Reason
	}
	fmt.Fprintf(b, "%s\n  %s\n", e.name(), line)
	for _, x := range e.Waits {
		name := strings.TrimSpace(x.Step + " " + x.Name)
		if !said[name] {
			fmt.Fprintf(b, "    %s\n", strings.TrimSuffix(fmt.Sprintf("%s %s: %s", name, x.Status, x.Reason), ": "))
		}
		said[name] = true
	}
	e.Last.text(b, "last run")
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
		b.WriteString("    nothing differs\n")
	}
	for i, d := range t.Differences {
		if i == shownFew {
			fmt.Fprintf(b, "    and %d more (--json shows them)\n", len(t.Differences)-i+t.More)
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
			fmt.Fprintf(b, "      and %d more in it\n", n)
		}
	}
	for _, n := range t.Notes {
		fmt.Fprintf(b, "    not known: %s\n", n)
	}
}

// seconds is a duration for people.
func seconds(s float64) string { return report.Seconds(time.Duration(s * float64(time.Second))) }

// reasons says why actions will run, from what earlier runs of the pipeline left.
type reasons struct {
	p        *plan.Plan
	seen     *engine.Previews
	book     *runlog.Book
	costs    func() runlog.Costs
	results  store.Results
	fresh    func(step string) bool // nil: none
	versions map[string]string      // of toolchains, now
	loaded   map[string]loadedAction
	where    func(*action.Action) string // says where an action will run; nil: all run here
	download int64                       // bytes that are to be downloaded
}

type loadedAction struct {
	action *action.Action
	blobs  store.Blobs
	err    error
}

// preview finds out what a run of the plan would do. keep, which may be nil, chooses the actions that are compared
// although they are cached.
func (a *app) preview(ctx context.Context, p *planned, workspace string,
	keep func(step, spec string) bool) (*reasons, error) {
	o, results, err := a.lookupOnly(ctx, workspace)
	if err != nil {
		return nil, err
	}
	if o.Fresh, err = choose(a.Fresh, "--fresh", p.Plan); err != nil {
		return nil, err
	}
	p.extend(&o)
	seen, err := engine.Preview(ctx, p.Plan, o, keep)
	if err != nil {
		return nil, engineError(err)
	}
	return &reasons{p: p.Plan, seen: seen, where: a.far.where(), book: runlog.Open(a.runLogOf(p.Pipeline)),
		costs: a.costs(p.Pipeline), fresh: o.Fresh, results: results,
		versions: toolchainVersions(p.Plan), loaded: map[string]loadedAction{},
		download: a.toDownload(seen)}, nil
}

// reason says in a few words why the action has its status.
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
	c, err := w.compare(ctx, explain.Outline, run, last, v)
	if err != nil {
		return "changed; what it was is no longer in the cache"
	}
	if r := c.Reason(); r != "" {
		return r
	}
	return "changed"
}

// compare compares what an action of a run was made of with what it would be made of now.
func (w *reasons) compare(ctx context.Context,
	by func(context.Context, store.Blobs, explain.Made, explain.Made) explain.Comparison, run *runlog.Run,
	then *runlog.Action, v *engine.Previewed) (explain.Comparison, error) {
	old, ok := w.loaded[then.Key.Hex()]
	if !ok {
		old.action, old.blobs, old.err = explain.Load(ctx, w.seen.Store, w.results, then.Key)
		w.loaded[then.Key.Hex()] = old
	}
	if old.err != nil {
		return explain.Comparison{}, old.err
	}
	c := by(ctx, old.blobs, explain.Made{Action: old.action, Toolchains: run.Toolchains},
		explain.Made{Action: v.Action, Toolchains: w.versions})
	c.Place(v.Spec)
	return c, nil
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
