// Package metrics reads blocks metric and baseline from shipped files and workspace files.
//
// The package converts blocks to data for package measure, which does not know HCL. It reads only the bytes that it
// receives, and does not know which steps use them.
package metrics

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/runner/measure"
)

// Dir is the workspace folder for *.hcl files with metrics and baselines.
const Dir = "metrics"

// Set holds metrics and baselines.
type Set struct {
	Known     []measure.Pattern  // shipped metrics
	Own       []measure.Pattern  // metrics of the workspace
	Baselines []measure.Baseline // baselines; those of the workspace come first
}

// Load returns the shipped metrics and baselines, extended by workspace files (name → content) in the order of their
// names.
func Load(files map[string][]byte) (Set, hcl.Diagnostics) {
	var s Set
	var diags hcl.Diagnostics
	for _, name := range slices.Sorted(maps.Keys(files)) {
		diags = append(diags, s.add(&s.Own, name, files[name])...)
	}
	shipped, err := fs.Glob(measure.Shipped, "*")
	for _, name := range shipped {
		b, readErr := measure.Shipped.ReadFile(name)
		err = errors.Join(err, readErr)
		diags = append(diags, s.add(&s.Known, "<hexmage>/runner/measure/"+name, b)...)
	}
	if err != nil {
		diags = append(diags, mistake(hcl.Range{}, "Embedded metrics", "%v", err))
	}
	return s, diags
}

// add adds the baselines of a file, and its metrics to those of to.
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
		at := hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos}
		return hcl.Diagnostics{mistake(at, "Too many metrics", "With this file the workspace has %d metrics, more "+
			"than the limit of %d. Remove some.", n, measure.MaxPatterns)}
	}
	body := f.Body.(*hclsyntax.Body)
	blocks := slices.DeleteFunc(body.Blocks, func(b *hclsyntax.Block) bool { return b.Type != "metric" })
	for i, m := range c.Metrics {
		if err := check(m, *to); err != nil {
			diags = append(diags, mistake(blocks[i].DefRange(), "Invalid metric", "%v.", err))
			continue
		}
		*to = append(*to, m)
	}
	s.Baselines = append(s.Baselines, c.Baselines...)
	return diags
}

func mistake(at hcl.Range, summary, detail string, args ...any) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...),
		Subject: &at}
}

// check validates a metric of a file beside others.
func check(m measure.Pattern, others []measure.Pattern) error {
	if err := m.Check(); err != nil {
		return err
	}
	if !m.KnowsUnit() && m.Better == "" {
		return fmt.Errorf(`metric %q: unit %q has no known direction: add better = "more", "less" or "neither"`,
			m.Name, m.Unit)
	}
	if slices.ContainsFunc(others, func(o measure.Pattern) bool { return o.Name == m.Name && o.Pattern == m.Pattern }) {
		return fmt.Errorf("metric %q: duplicate pattern: remove one", m.Name)
	}
	return nil
}
