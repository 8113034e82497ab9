package patches

import (
	"context"
	"fmt"
	"slices"

	"github.com/hexmage/hexmage/patches/series"
	"github.com/hexmage/hexmage/patches/srctree"
)

// planned is one patch of a series, and what the headers say of it.
type planned struct {
	patch  *series.Patch
	rg     string
	needed bool
	reason string
}

// applyPatches applies the patches in order. The first that does not fit ends it.
func applyPatches(ctx context.Context, ranges []Range, tree *srctree.Tree, p *Headers, report *Report) error {
	var all []planned
	for _, rg := range ranges {
		for _, patch := range rg.Patches {
			needed, reason, err := p.needed(rg.When[patch.Name])
			if err != nil {
				return fmt.Errorf("%s/%s: %w", rg.Name, patch.Name, err)
			}
			all = append(all, planned{patch, rg.Name, needed, reason})
		}
	}
	before := tree.Clone()
	results, failed := applyFrom(ctx, all, 0, tree)
	if failed != nil && ctx.Err() == nil {
		// Later patches or renames may have changed the lines of an applied patch: then only all of them together can be
		// undone.
		if done := appliedBefore(all, before, ranges, p); done > 0 {
			again := before.Clone()
			if rest, err := applyFrom(ctx, all, done, again); err == nil {
				results, failed = rest, nil
				*tree = *again
			}
		}
	}
	report.Patches = append(report.Patches, results...)
	return failed
}

// applyFrom applies all patches but the first done ones, which the tree has.
func applyFrom(ctx context.Context, all []planned, done int, tree *srctree.Tree) ([]PatchResult, error) {
	var results []PatchResult
	var failed error
	for i, pl := range all {
		if err := ctx.Err(); err != nil {
			return results, err
		}
		result := PatchResult{Range: pl.rg, File: pl.patch.Name, Files: pl.patch.Files(), Reason: pl.reason, State: StateNotTried}
		switch {
		case failed != nil:
		case !pl.needed:
			result.State = StateNotNeeded
		case i < done:
			result.State = StateAlready
		default:
			state, err := pl.patch.Apply(tree)
			result.State = string(state)
			if err != nil {
				result.State = StateFailed
				failed = fmt.Errorf("%s: %w\nwrite the patch again with git diff", pl.rg, err)
			}
		}
		results = append(results, result)
	}
	return results, failed
}

// appliedBefore returns how many patches from the first on a tree has: so many can be undone, from the last to the first,
// on the tree as it is or as it was before the renames of the series.
func appliedBefore(all []planned, tree *srctree.Tree, ranges []Range, p *Headers) int {
	trees := []*srctree.Tree{tree, withoutRenames(tree, ranges, p)}
	for n := len(all); n > 0; n-- {
		for _, t := range trees {
			if t != nil && all[n-1].needed && undoes(all[:n], t.Clone()) {
				return n
			}
		}
	}
	return 0
}

// withoutRenames returns the tree with the needed renames undone, nil if that fails.
func withoutRenames(tree *srctree.Tree, ranges []Range, p *Headers) *srctree.Tree {
	var back []*ruleRun
	for _, rg := range slices.Backward(ranges) {
		for _, r := range slices.Backward(rg.Renames) {
			needed, _, err := p.needed(r.When)
			if err != nil {
				return nil
			}
			if needed {
				r.From, r.To = r.To, r.From
				back = append(back, &ruleRun{rule: r})
			}
		}
	}
	old := tree.Clone()
	err := tree.Walk(func(name string) error {
		_, out, err := applyTo(name, tree, back)
		if err == nil && out != nil {
			err = old.Write(name, out)
		}
		return err
	})
	if err != nil {
		return nil
	}
	return old
}

// undoes tells whether the patches can be undone, and changes the tree.
func undoes(all []planned, tree *srctree.Tree) bool {
	for i := len(all) - 1; i >= 0; i-- {
		if !all[i].needed {
			continue
		}
		if state, err := all[i].patch.Reverse().Apply(tree); err != nil || state != series.Applied {
			return false
		}
	}
	return true
}
