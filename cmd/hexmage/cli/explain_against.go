package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/engine"
	"github.com/hexmage/hexmage/internal/explain"
	"github.com/hexmage/hexmage/internal/history"
	"github.com/hexmage/hexmage/internal/nearest"
)

// against is another run, with which actions of a step are compared as they would be here.
type against struct {
	name   string            // what the command line calls it
	theirs *history.Document // of whoever it may be
	other  map[actionName]*history.Action

	here    *history.Document          // what a run here would have of the actions in question
	actions map[string]*history.Action // by their keys
}

// actionName is an action of a copy of a step.
type actionName struct{ copy, action string }

func actionOf(v *engine.Previewed) actionName {
	n := actionName{copy: v.Instance.At.Short()}
	if v.Spec != nil {
		n.action = v.Spec.Name
	}
	return n
}

// against reads the other run, and makes a document of the actions, which has what that of a run has.
func (a *app) against(ctx context.Context, name string, w *reasons, found []*engine.Previewed) (*against, error) {
	theirs, err := a.document(ctx, name, true)
	if err != nil {
		return nil, err
	}
	x := &against{name: name, theirs: theirs, other: map[actionName]*history.Action{},
		actions: map[string]*history.Action{}}
	steps := map[string]bool{}
	for i := range theirs.Steps {
		s := &theirs.Steps[i]
		for _, all := range [][]history.Action{s.Kept, s.Actions} {
			for j := range all {
				x.other[actionName{cmp.Or(all[j].Copy, s.Step), all[j].Name}] = &all[j]
				steps[s.Step] = true
			}
		}
	}
	if !slices.ContainsFunc(found, func(v *engine.Previewed) bool { return steps[plainStep(v)] }) {
		return nil, x.lacks(w.p.Pipeline, w.p.Profile, plainStep(found[0]))
	}
	m := explain.NewMaterials(a.hider())
	open := func(name string) (history.Folder, bool) { return m.Folder(ctx, name) }
	x.here = &history.Document{Toolchains: w.versions, Open: open}
	for _, v := range found {
		if v.Action == nil {
			continue
		}
		h := &history.Action{Key: v.Key.Hex()}
		x.here.Digests = v.Key.Function().String()
		m.Add(ctx, h, v.Action, w.seen.Store)
		x.actions[h.Key] = h
	}
	return x, nil
}

// lacks is the error for a step of which the other run has nothing.
func (x *against) lacks(pipeline, profile, step string) error {
	if slices.ContainsFunc(x.theirs.Steps, func(s history.Step) bool { return s.Step == step }) {
		return usageError("run %s has nothing of %s: it ended before (%s). Have the step run there, and that run "+
			"exported", x.theirs.ID, step, x.theirs.Result)
	}
	this := withProfile(pipeline, profile)
	if of := withProfile(x.theirs.Pipeline, x.theirs.Profile); of != this {
		return usageError("run %s has no step %s: it is of %s, and this is %s. Have a run of %s exported",
			x.theirs.ID, step, of, this, this)
	}
	if only := x.theirs.Selected; len(only) > 0 {
		return usageError("run %s has no step %s: it was of %s alone. Have a run of the whole pipeline exported, or "+
			"of the step", x.theirs.ID, step, some(only, 3))
	}
	var names []string
	for _, s := range x.theirs.Steps {
		names = append(names, s.Step)
	}
	hint := "the pipelines differ: compare their files"
	if near := nearest.Name(step, names); near != "" {
		hint = "it has " + near + ", so the pipelines differ: compare their files"
	}
	return usageError("run %s has no step %s: %s", x.theirs.ID, step, hint)
}

// plainStep is the step as a document calls it: without the keys of copies of its modules.
func plainStep(v *engine.Previewed) string {
	s := v.Instance.At.Step
	s.Module = s.Module.Written()
	return s.Short()
}

// same tells whether the action is as in the other run.
func (x *against) same(v *engine.Previewed) bool {
	h := x.other[actionOf(v)]
	return h != nil && v.Action != nil && h.Key == v.Key.Hex()
}

// compare says in what the action as it would be here differs from the other run's.
func (x *against) compare(v *engine.Previewed) *earlierRun {
	t := &earlierRun{Run: x.theirs.ID, Started: x.theirs.Started, Differences: []explain.Difference{}}
	h := x.other[actionOf(v)]
	if h == nil {
		return t
	}
	t.Outcome, t.Seconds, t.Worker, t.Key, t.Same = h.Outcome, h.Seconds, h.Worker, h.Key, h.Key == v.Key.Hex()
	if t.Same {
		return t
	}
	c := explain.Of(history.Differ(x.theirs, h, x.here, x.actions[v.Key.Hex()]))
	c.Place(v.Spec)
	t.Differences, t.More = append(t.Differences, c.Differences...), c.More
	t.Notes = append(t.Notes, c.Unknown...)
	if h.Run != "" {
		t.Notes = append(t.Notes, fmt.Sprintf("whether run %s would have had it so, too: it did not look at it, "+
			"and what is compared is of run %s", x.theirs.ID, h.Run))
	}
	return t
}

// verdict is what a comparison came to, in a few words.
func (t *earlierRun) verdict() string {
	switch {
	case t.Same:
		return "as in run " + t.Run + ": nothing differs"
	case t.Outcome == "":
		return "run " + t.Run + " has no such action: what makes the actions of the step is something else there"
	case len(t.Differences) == 0:
		return "another than in run " + t.Run
	}
	return "another than in run " + t.Run + ": " + explain.Comparison{Differences: t.Differences, More: t.More}.Reason()
}

// next says what else there is to know, and where to go on when what differs first was made by another step, or is
// not made yet.
func (x *against) next(b *strings.Builder, w *reasons, all []*explanation) {
	pipeline, profile := w.p.Pipeline, w.p.Profile
	if x.theirs.Pipeline != pipeline || x.theirs.Profile != profile {
		fmt.Fprintf(b, "\nnote: run %s is of %s, and this is %s\n", x.theirs.ID,
			withProfile(x.theirs.Pipeline, x.theirs.Profile), withProfile(pipeline, profile))
	}
	if d := x.theirs.Digests; d != "" && x.here.Digests != "" && d != x.here.Digests {
		fmt.Fprintf(b, "\nnote: HEXMAGE_DIGEST=%s has it compared with the digests of run %s\n", d, x.theirs.ID)
	}
	for _, e := range all {
		maker, says := "", "what made that another one"
		switch {
		case e.Against != nil:
			for _, d := range e.Against.Differences {
				if maker, _, _ = strings.Cut(d.From, ".outputs."); isStep(maker) {
					break
				}
			}
		case len(e.Waits) > 0:
			maker, says = e.Waits[0].Step,
				"what it is made of is known here when that has run. What may have made that another one"
		}
		if !isStep(maker) {
			continue
		}
		if strings.ContainsAny(maker, `"[`) {
			maker = "'" + maker + "'"
		}
		fmt.Fprintf(b, "\n%s:\n  hexmage explain %s %s --against %s\n", says, pipeline, maker, x.name)
		return
	}
}

// isStep tells whether a text is the address of a step, or of a copy of one.
func isStep(text string) bool {
	step, _ := addrs.CutKey(text)
	_, err := addrs.ParseStep(step)
	return step != "" && err == nil
}

// withProfile is a pipeline with its profile.
func withProfile(pipeline, profile string) string {
	if profile == "" {
		return pipeline + " without a profile"
	}
	return pipeline + " with profile " + profile
}
