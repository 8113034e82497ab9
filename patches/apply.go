package patches

import (
	"context"
	"fmt"

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
func applyPatches(ctx context.Context, ranges []Range, tree *srctree.Tree, p *Headers, fuzz int, report *Report) error {
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
	results, failed := applyFrom(ctx, all, 0, tree, fuzz)
	if failed != nil && ctx.Err() == nil {
		// A patch that has been applied can't be told by itself when others, or renames, have changed its lines since.
		if done := appliedBefore(all, before, ranges, p); done > 0 {
			again := before.Clone()
			if rest, err := applyFrom(ctx, all, done, again, fuzz); err == nil {
				results, failed = rest, nil
				*tree = *again
			}
		}
	}
	report.Patches = append(report.Patches, results...)
	return failed
}

// applyFrom applies all patches but the first done ones, which the tree has.
func applyFrom(ctx context.Context, all []planned, done int, tree *srctree.Tree, fuzz int) ([]PatchResult, error) {
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
			r, err := pl.patch.Apply(tree, series.Options{Fuzz: fuzz})
			result.State, result.Moved = string(r.State), r.Moved
			if err != nil {
				result.State = StateFailed
				failed = fmt.Errorf("%s: %w\nedit the patch to match the file, or write it again with git diff", pl.rg, err)
			}
		}
		results = append(results, result)
	}
	return results, failed
}

// appliedBefore returns how many patches from the first on a tree has: so many can be undone, from the last to the first, on the
// tree as it is or as it was before the series' renames.
func appliedBefore(all []planned, tree *srctree.Tree, ranges []Range, p *Headers) int {
	trees := []*srctree.Tree{tree}
	if old := withoutRenames(tree, ranges, p); old != nil {
		trees = append(trees, old)
	}
	for n := len(all); n > 0; n-- {
		if !all[n-1].needed {
			continue
		}
		for _, t := range trees {
			if undoes(all[:n], t.Clone()) {
				return n
			}
		}
	}
	return 0
}

// undoes says whether the patches can be undone, and changes the tree.
func undoes(all []planned, tree *srctree.Tree) bool {
	for i := len(all) - 1; i >= 0; i-- {
		if !all[i].needed {
			continue
		}
		if r, err := all[i].patch.Reverse().Apply(tree, series.Options{}); err != nil || r.State != series.Applied {
			return false
		}
	}
	return true
}

// withoutRenames returns the tree with the renames that are needed taken back, nil if that can't be said.
func withoutRenames(tree *srctree.Tree, ranges []Range, p *Headers) *srctree.Tree {
	var back []*ruleRun
	for i := len(ranges) - 1; i >= 0; i-- {
		for j := len(ranges[i].Renames) - 1; j >= 0; j-- {
			r := ranges[i].Renames[j]
			if needed, _, err := p.needed(r.When); err != nil {
				return nil
			} else if needed {
				r.From, r.To = r.To, r.From
				back = append(back, &ruleRun{rule: r})
			}
		}
	}
	if len(back) == 0 {
		return nil
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
