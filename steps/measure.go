package steps

import (
	"embed"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/runner/measure"
)

//go:embed baselines.hcl
var shippedBaselines embed.FS

// Baselines returns the shipped tables of what others have measured.
func Baselines() ([]measure.Baseline, hcl.Diagnostics) {
	const name = "baselines.hcl"
	src, err := shippedBaselines.ReadFile(name)
	if err != nil {
		return nil, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Embedded baselines", Detail: err.Error()}}
	}
	f, diags := hclsyntax.ParseConfig(src, "<hexmage>/steps/"+name, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, diags
	}
	c, diags := step.DecodeBody[struct {
		Baselines []measure.Baseline `block:"baseline"`
	}](f.Body)
	return c.Baselines, diags
}

// measured is what the step says of measuring, checked, with the shipped baselines that it names.
func (r Run) measured(p *step.Plan) measure.Spec {
	spec := r.Spec
	for _, m := range spec.Patterns {
		if !measure.IsName(m.Name) {
			p.Fail("metric", "Not a name for a metric", "%q: use small letters, digits and '_'.", m.Name)
		}
		if _, err := measure.NewParser([]measure.Pattern{m}); err != nil {
			p.Fail("metric", "Pattern cannot be used", "%s.", err)
		}
	}
	shipped, diags := Baselines()
	p.Report(diags...)
	var named []measure.Baseline
	for _, name := range r.Shipped {
		i := slices.IndexFunc(shipped, func(b measure.Baseline) bool { return b.Name == name })
		if i >= 0 {
			named = append(named, shipped[i])
			continue
		}
		var have []string
		for _, b := range shipped {
			have = append(have, b.Name)
		}
		p.Fail("baselines", "No such baseline", "There is no baseline %q. There are %s; others can be blocks `baseline` of the step.", name, strings.Join(have, " and "))
	}
	spec.Baselines = append(named, spec.Baselines...)
	for _, l := range spec.Limits {
		known := l.Baseline == measure.Previous && r.Previous.IsSet() || slices.ContainsFunc(spec.Baselines, func(b measure.Baseline) bool { return b.Name == l.Baseline })
		switch {
		case l.Min == nil && l.Max == nil && l.Baseline == "":
			p.Fail("limit", "A limit that limits nothing", "limit %q has neither min nor max nor baseline.", l.Metric)
		case l.Baseline != "" && !known:
			p.Fail("limit", "No such baseline", "limit %q compares with %q, which the step has neither in baselines nor as a block baseline.", l.Metric, l.Baseline)
		}
	}
	return spec
}
