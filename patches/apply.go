package patches

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/patches/rules"
	"github.com/hexmage/hexmage/patches/series"
	"github.com/hexmage/hexmage/patches/srctree"
)

// maxHeader limits the size of a header in bytes. Qualcomm's largest have a few hundred kB.
const maxHeader = 16 << 20

// headers reads the headers of an SDK.
type headers struct {
	dir   string                     // its folder include/QNN
	names map[string]map[string]bool // names found so far, by path or pattern
}

// needed reports whether a condition holds for the headers, and the reason. A nil condition always holds.
func (h headers) needed(w *rules.When) (bool, string, error) {
	if w == nil {
		return true, "", nil
	}
	names, ok := h.names[w.Header]
	if !ok {
		names = map[string]bool{}
		fsys := os.DirFS(h.dir)
		files, err := doublestar.Glob(fsys, w.Header, doublestar.WithFilesOnly())
		if err != nil || len(files) == 0 {
			return false, "", errors.Join(err, fmt.Errorf("SDK headers: folder %s lacks %s: use the "+
				"include/QNN folder of a QAIRT SDK",
				h.dir, w.Header))
		}
		for _, f := range files {
			text, err := boundedfile.ReadFS(fsys, f, maxHeader)
			if err != nil {
				return false, "", fmt.Errorf("SDK headers: %w", err)
			}
			if err := rules.AddNames(names, text); err != nil {
				return false, "", fmt.Errorf("SDK headers: %s:%w", f, err)
			}
		}
		h.names[w.Header] = names
	}
	needed, reason := w.Holds(names)
	return needed, reason, nil
}

// applyRules applies the rules of all ranges to each file, in order. Its error lists every rule that does not fit.
// few accepts fewer places than rules expect.
func applyRules(ctx context.Context, ranges []Range, tree *srctree.Tree, h headers, few bool, report *Report) error {
	for _, rg := range ranges {
		for _, r := range rg.Rules {
			needed, reason, err := h.needed(r.When)
			if err != nil {
				return fmt.Errorf("%s: %w", rg.Name, err)
			}
			state := StateNotNeeded
			if needed {
				state = StateNone
			}
			report.Rules = append(report.Rules, RuleResult{Range: rg.Name, Rule: r.String(), From: r.From, To: r.To, State: state,
				Reason: reason, Changed: []rules.Place{}, Already: []rules.Place{}, rule: r})
		}
	}
	if err := rewrite(ctx, tree, report.Rules); err != nil {
		return err
	}
	var errs []error
	for i := range report.Rules {
		r := &report.Rules[i]
		if r.State == StateNotNeeded {
			continue
		}
		err := errors.Join(r.errs...)
		if err == nil {
			err = r.rule.Count(r.files, r.Changed, r.Already, few)
		}
		switch {
		case err != nil:
			r.State = StateFailed
			errs = append(errs, fmt.Errorf("%s: %w", r.Range, err))
		case len(r.Changed) > 0:
			r.State = StateApplied
		case len(r.Already) > 0:
			r.State = StateAlready
		}
	}
	return errors.Join(errs...)
}

// rewrite applies the needed rules to the files of a tree and records the places.
func rewrite(ctx context.Context, tree *srctree.Tree, all []RuleResult) error {
	return tree.Walk(func(name string) error {
		var text []byte
		changed := false
		for i := range all {
			r := &all[i]
			if r.State == StateNotNeeded || !r.rule.Matches(name) {
				continue
			}
			if text == nil {
				var err error
				if text, err = tree.Read(name); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
			r.files = append(r.files, name)
			found, err := r.rule.Rewrite(name, text)
			if err != nil {
				r.errs = append(r.errs, err)
				continue
			}
			text, changed = found.Out, changed || len(found.Changed) > 0
			r.Changed, r.Already = append(r.Changed, found.Changed...), append(r.Already, found.Already...)
		}
		if changed {
			return errors.Join(ctx.Err(), tree.Write(name, text))
		}
		return ctx.Err()
	})
}

// applyPatches applies the needed patches that the tree does not have yet, in order. It stops at the first that does
// not fit.
func applyPatches(ctx context.Context, ranges []Range, tree *srctree.Tree, h headers, report *Report) error {
	var renames []RuleResult // needed ones, reversed
	for _, rg := range ranges {
		for _, patch := range rg.Patches {
			needed, reason, err := h.needed(rg.When[patch.Name])
			if err != nil {
				return fmt.Errorf("%s/%s: %w", rg.Name, patch.Name, err)
			}
			state := StateNotNeeded
			if needed {
				state = StateNotTried
			}
			report.Patches = append(report.Patches,
				PatchResult{Range: rg.Name, File: patch.Name, State: state, Reason: reason, patch: patch})
		}
		for _, r := range rg.Rules {
			if needed, _, err := h.needed(r.When); r.Kind == "rename" && needed && err == nil {
				r.From, r.To = r.To, r.From
				renames = append(renames, RuleResult{rule: r})
			}
		}
	}
	if len(report.Patches) == 0 {
		return nil
	}
	has := map[*series.Patch]bool{}
	find(report.Patches, tree.Clone(), has)
	// Renames of the series may already have changed the lines of a patch.
	slices.Reverse(renames)
	before := tree.Clone()
	if err := rewrite(ctx, before, renames); err == nil {
		find(report.Patches, before, has)
	}
	for i := range report.Patches {
		r := &report.Patches[i]
		switch {
		case r.State == StateNotNeeded:
		case has[r.patch]:
			r.State = StateAlready
		default:
			if err := errors.Join(ctx.Err(), r.patch.Apply(tree)); err != nil {
				r.State = StateFailed
				return fmt.Errorf("%s: %w\ncreate the patch again with git diff", r.Range, err)
			}
			r.State = StateApplied
		}
	}
	return nil
}

// find marks the needed patches that the tree already has: those that, from last to first, can be undone but not
// applied. It changes the tree.
func find(all []PatchResult, tree *srctree.Tree, has map[*series.Patch]bool) {
	for _, r := range slices.Backward(all) {
		if r.State == StateNotNeeded || r.patch.Apply(tree.Clone()) == nil {
			continue
		}
		if r.patch.Reverse().Apply(tree) == nil {
			has[r.patch] = true
		}
	}
}
