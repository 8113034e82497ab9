package patches

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/hexmage/hexmage/patches/rename"
	"github.com/hexmage/hexmage/patches/srctree"
)

// rule is a rename or replace rule.
type rule interface {
	Matches(path string) bool
	RewriteSource(*rename.Source) (rename.Rewritten, error)
	Count(files []string, changed, already []rename.Place) error
}

// ruleRun is one rule that is needed, and what became of it.
type ruleRun struct {
	rule
	rg      string
	found   rename.Rewritten // of all files; Out is not used
	files   []string         // that it looked at
	errs    []error
	publish func(state string, found rename.Rewritten)
}

// done is what one rule made of one file.
type done struct {
	read  bool
	found rename.Rewritten
	err   error
}

// applyRules applies the rules to each file in their order. An error holds what is wrong with every rule.
func applyRules(
	ctx context.Context, ranges []Range, tree *srctree.Tree, p *Headers, report *Report,
) error {
	runs, err := neededRules(ranges, p, report)
	if err != nil || len(runs) == 0 {
		return err
	}
	var names []string
	if err := tree.Walk(func(name string) error { names = append(names, name); return ctx.Err() }); err != nil {
		return err
	}
	results := make([][]done, len(names))
	outs := make([][]byte, len(names))
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i, name := range names {
		workers.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			found, out, err := applyTo(name, tree, runs)
			results[i], outs[i] = found, out
			return err
		})
	}
	if err := workers.Wait(); err != nil {
		return err
	}
	for i, name := range names {
		for n, d := range results[i] {
			run := runs[n]
			if !d.read {
				continue
			}
			run.files = append(run.files, name)
			run.found.Changed = append(run.found.Changed, d.found.Changed...)
			run.found.Already = append(run.found.Already, d.found.Already...)
			if d.err != nil {
				run.errs = append(run.errs, d.err)
			}
		}
		if outs[i] != nil {
			if err := tree.Write(name, outs[i]); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	var errs []error
	for _, run := range runs {
		if len(run.errs) == 0 {
			if err := run.Count(run.files, run.found.Changed, run.found.Already); err != nil {
				run.errs = []error{err}
			}
		}
		state := StateNone
		switch {
		case len(run.errs) > 0:
			state = StateFailed
			errs = append(errs, fmt.Errorf("%s: %w", run.rg, errors.Join(run.errs...)))
		case len(run.found.Changed) > 0:
			state = StateApplied
		case len(run.found.Already) > 0:
			state = StateAlready
		}
		run.publish(state, run.found)
	}
	return errors.Join(errs...)
}

// neededRules asks the headers which rules are needed, and begins the report of all.
func neededRules(ranges []Range, p *Headers, report *Report) ([]*ruleRun, error) {
	var runs []*ruleRun
	add := func(to *[]RuleResult, result RuleResult, r rule, when *rename.When) error {
		needed, reason, err := p.needed(when)
		if err != nil {
			return fmt.Errorf("%s: %w", result.Range, err)
		}
		i := len(*to)
		result.State, result.Reason, result.Changed, result.Already = StateNotNeeded, reason, []rename.Place{}, []rename.Place{}
		*to = append(*to, result)
		if needed {
			runs = append(runs, &ruleRun{rule: r, rg: result.Range, publish: func(state string, found rename.Rewritten) {
				at := &(*to)[i]
				at.State = state
				at.Changed, at.Already = append(at.Changed, found.Changed...), append(at.Already, found.Already...)
			}})
		}
		return nil
	}
	for _, rg := range ranges {
		for _, r := range rg.Renames {
			if err := add(&report.Renames, RuleResult{Range: rg.Name, Rule: r.Name, From: r.From, To: r.To}, r, r.When); err != nil {
				return nil, err
			}
		}
		for _, r := range rg.Edits {
			result := RuleResult{Range: rg.Name, Rule: r.Name, From: r.From, To: r.Target()}
			if err := add(&report.Edits, result, r, r.When); err != nil {
				return nil, err
			}
		}
	}
	return runs, nil
}

// applyTo applies the rules to one file. It scans the file once, and once more after each rule that changes it. out is
// nil if no rule changes the file.
func applyTo(name string, tree *srctree.Tree, runs []*ruleRun) (results []done, out []byte, err error) {
	var src *rename.Source
	for n, run := range runs {
		if !run.Matches(name) {
			continue
		}
		if src == nil {
			text, err := tree.Read(name)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", name, err)
			}
			src, results = &rename.Source{File: name, Text: text}, make([]done, len(runs))
		}
		d := &results[n]
		d.read = true
		if d.found, d.err = run.RewriteSource(src); d.err != nil || len(d.found.Changed) == 0 {
			continue
		}
		out = d.found.Out
		src = &rename.Source{File: name, Text: out}
	}
	return results, out, nil
}
