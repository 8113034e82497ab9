// Package metrics reads what a step run looks for in what programs print, and what it may be compared with: blocks metric and baseline, of the
// shipped files and of a workspace's.
//
// What a file says becomes plain data of package measure, which does the work and knows no HCL. This package looks at no file but the bytes it is
// given, and knows nothing of who asks.
package metrics

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/runner/measure"
)

// Dir is the folder of a workspace whose *.hcl files are read on top of the shipped ones.
const Dir = "metrics"

// Set is what the files say.
type Set struct {
	Known     []measure.Pattern  // of hexmage
	Own       []measure.Pattern  // of the workspace
	Baselines []measure.Baseline // the workspace's first
}

// Load returns the shipped metrics and baselines with those of the given files (name → content) on top, in the order of their names.
func Load(files map[string][]byte) (Set, hcl.Diagnostics) {
	var s Set
	var diags hcl.Diagnostics
	for _, name := range slices.Sorted(maps.Keys(files)) {
		diags = append(diags, s.add(&s.Own, name, files[name])...)
	}
	shipped, err := measure.Shipped.ReadDir(".")
	if err != nil {
		return s, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Embedded metrics", Detail: err.Error()}}
	}
	for _, f := range shipped {
		b, err := measure.Shipped.ReadFile(f.Name())
		if err != nil {
			return s, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Embedded metrics", Detail: err.Error()}}
		}
		diags = append(diags, s.add(&s.Known, "<hexmage>/runner/measure/"+f.Name(), b)...)
	}
	return s, diags
}

// add adds what a file says, its metrics to those of to.
func (s *Set) add(to *[]measure.Pattern, name string, src []byte) hcl.Diagnostics {
	f, diags := lang.ParseManifest(src, name, lang.NewBudget())
	if diags.HasErrors() {
		return diags
	}
	c, diags := step.DecodeBody[struct {
		Metrics   []measure.Pattern  `block:"metric"`
		Baselines []measure.Baseline `block:"baseline"`
	}](f.Body)
	if diags.HasErrors() {
		return diags
	}
	if n := len(*to) + len(c.Metrics); n > measure.MaxPatterns {
		return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Too many metrics", Detail: fmt.Sprintf("With this file there are %d metrics, and at most %d may be.", n, measure.MaxPatterns),
			Subject: &hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos}}}
	}
	blocks := slices.DeleteFunc(f.Body.(*hclsyntax.Body).Blocks, func(b *hclsyntax.Block) bool { return b.Type != "metric" })
	for i, m := range c.Metrics {
		if err := check(m, *to); err != nil {
			at := blocks[i].DefRange()
			diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Metric cannot be used", Detail: err.Error() + ".", Subject: &at})
			continue
		}
		*to = append(*to, m)
	}
	s.Baselines = append(s.Baselines, c.Baselines...)
	return diags
}

// check says what is wrong with a metric of a file, beside others.
func check(m measure.Pattern, others []measure.Pattern) error {
	if err := m.Check(); err != nil {
		return err
	}
	if !m.KnowsUnit() && m.Better == "" {
		return fmt.Errorf(`metric %q: which way %q is better is not known: say better = "more", "less" or "neither"`, m.Name, m.Unit)
	}
	if slices.ContainsFunc(others, func(o measure.Pattern) bool { return o.Name == m.Name && o.Pattern == m.Pattern }) {
		return fmt.Errorf("metric %q has this pattern already", m.Name)
	}
	return nil
}
