package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/explain"
	"github.com/hexmage/hexmage/internal/nearest"
	"github.com/hexmage/hexmage/internal/runlog"
)

// explainCmd is `hexmage explain PIPELINE STEP [ACTION]`.
type explainCmd struct {
	Pipeline string `arg:"" help:"Name of a file in pipelines/, without .hcl."`
	Step     string `arg:"" help:"The step (KIND.NAME), or one copy of it (KIND.NAME[\"KEY\"])."`
	Action   string `arg:"" optional:"" help:"One action of the step, as plan names it."`
}

// explanation is what there is to say about one action.
type explanation struct {
	Step        string       `json:"step"`
	Name        string       `json:"name,omitempty"`
	Status      build.Status `json:"status"`
	Reason      string       `json:"reason,omitempty"`
	Key         string       `json:"key,omitempty"`
	Last        *then        `json:"last_run,omitempty"`
	LastSuccess *then        `json:"last_success,omitempty"` // only when the last run failed
	Waits       []*waiting   `json:"waits,omitempty"`
}

// then is an earlier run of an action, and in what it differs.
type then struct {
	Started time.Time     `json:"started"` // the run
	Outcome event.Outcome `json:"outcome"`
	Seconds float64       `json:"seconds"` // the action
	Worker  string        `json:"worker,omitempty"`
	Key     string        `json:"key"`
	Same    bool          `json:"same"` // nothing differs
	Notes   []string      `json:"notes,omitempty"`
	Comp    explain.Comparison
}

// waiting is an action of a step that another waits for.
type waiting struct {
	Step   string       `json:"step"`
	Name   string       `json:"name,omitempty"`
	Status build.Status `json:"status"`
	Reason string       `json:"reason,omitempty"`
}

const (
	maxExplained   = 20   // actions of a step that are explained; the others are counted
	maxDifferences = 1000 // of one action
	shownFew       = 12   // differences that people see
)

// Run explains.
func (c *explainCmd) Run(ctx context.Context, a *app) error {
	base, _, copied := strings.Cut(strings.TrimPrefix(c.Step, "step."), "[")
	p, workspace, err := a.plan(c.Pipeline, []string{base})
	if err != nil {
		return err
	}
	want := func(step, spec string) bool {
		if c.Action != "" && spec != c.Action {
			return false
		}
		if copied {
			return step == strings.TrimPrefix(c.Step, "step.")
		}
		b, _, _ := strings.Cut(step, "[")
		return b == base
	}
	w, err := a.preview(ctx, p, workspace, want)
	if err != nil {
		return err
	}
	var found []*build.Previewed
	var copies, names []string
	for i := range w.seen.Actions {
		v := &w.seen.Actions[i]
		name := ""
		if v.Spec != nil {
			name = v.Spec.Name
		}
		if step := v.Instance.At.Short(); want(step, name) {
			found = append(found, v)
		} else if b, _, _ := strings.Cut(step, "["); b == base {
			copies, names = append(copies, step), append(names, name)
		}
	}
	if len(found) == 0 {
		return c.notThere(copies, names)
	}
	return a.showExplained(w, found)
}

// notThere is the error for a copy or an action that the step does not have.
func (c *explainCmd) notThere(copies, names []string) error {
	if c.Action != "" {
		if near := nearest.Name(c.Action, names); near != "" {
			return usage("%s has no action %q: did you mean %q?", c.Step, c.Action, near)
		}
		return usage("%s has no action %q: `hexmage plan %s` lists them", c.Step, c.Action, c.Pipeline)
	}
	if near := nearest.Name(c.Step, copies); near != "" {
		return usage("there is no %s: did you mean %s?", c.Step, near)
	}
	return usage("there is no %s: `hexmage plan %s` lists what there is", c.Step, c.Pipeline)
}

func (a *app) showExplained(w *why, found []*build.Previewed) error {
	// Those that are cached and nothing more to say of come last, counted when there are many.
	var all []*explanation
	cached, more := 0, 0
	for _, v := range found {
		if len(found) > 1 && v.Status == build.WillUse && !a.JSON {
			cached++
			continue
		}
		if len(all) >= maxExplained && !a.JSON {
			more++
			continue
		}
		e, err := w.explain(v)
		if err != nil {
			return engine(err)
		}
		all = append(all, e)
	}
	if a.JSON {
		return a.printJSON(map[string]any{"format": "hexmage-explain/0", "pipeline": w.p.Pipeline, "profile": w.p.Profile, "actions": all})
	}
	var b strings.Builder
	for i, e := range all {
		if i > 0 {
			b.WriteString("\n")
		}
		e.text(&b)
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
	fmt.Fprint(a.env.Stdout, b.String())
	return nil
}

// explain finds out all there is to say about an action.
func (w *why) explain(v *build.Previewed) (*explanation, error) {
	e := &explanation{Step: v.Instance.At.Short(), Status: v.Status, Reason: w.reason(v)}
	if v.Spec != nil {
		e.Name = v.Spec.Name
	}
	for _, step := range v.Waits {
		for i := range w.seen.Actions {
			on := &w.seen.Actions[i]
			if on.Instance.At.Short() == step && on.Status != build.WillUse {
				x := &waiting{Step: step, Status: on.Status, Reason: w.reason(on)}
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
	if e.Last, err = w.then(run, last, v); err != nil {
		return nil, err
	}
	if run, good := w.book.LastSuccess(w.p.Profile, e.Step, e.Name); good != nil && last.Outcome == event.Failed {
		e.LastSuccess, err = w.then(run, good, v)
	}
	return e, err
}

func (w *why) then(run *runlog.Run, a *runlog.Action, v *build.Previewed) (*then, error) {
	t := &then{Started: run.Started, Outcome: a.Outcome, Seconds: a.Duration.Seconds(), Worker: a.Worker, Key: a.Key.Hex(), Same: a.Key == v.Key}
	t.Comp.Differences = []explain.Difference{}
	if t.Same {
		return t, nil
	}
	c, err := w.compare(run, a, v, maxDifferences)
	switch {
	case gone(err):
		t.Notes = append(t.Notes, "something differs; what it was made of then is no longer in the cache")
	case err != nil:
		return nil, err
	default:
		t.Comp = c
		if c.Differences == nil {
			t.Comp.Differences = []explain.Difference{}
		}
		t.Notes = append(t.Notes, c.Unknown...)
		t.Comp.Unknown = nil
	}
	return t, nil
}
