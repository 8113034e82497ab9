package steps

import (
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/runner/measure"
	"github.com/hexmage/hexmage/steps/metrics"
)

// measured is what the step says of measuring, checked, with what the workspace and hexmage know beside it.
func (r Run) measured(p *step.Plan, known metrics.Set) measure.Spec {
	spec := r.Spec
	for _, m := range known.Own {
		if !slices.ContainsFunc(r.Patterns, func(o measure.Pattern) bool { return o.Name == m.Name }) { // which is in its place
			spec.Patterns = append(spec.Patterns, m)
		}
	}
	spec.Known = known.Known
	if _, err := measure.NewParser(spec.Patterns, nil); err != nil {
		p.Fail("metric", "Metric cannot be used", "%s.", err)
	}
	var named []measure.Baseline
	for _, name := range r.Shipped {
		i := slices.IndexFunc(known.Baselines, func(b measure.Baseline) bool { return b.Name == name })
		if i >= 0 {
			named = append(named, known.Baselines[i])
			continue
		}
		var have []string
		for _, b := range known.Baselines {
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
