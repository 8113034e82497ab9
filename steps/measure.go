package steps

import (
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/runner/measure"
	"github.com/hexmage/hexmage/steps/metrics"
)

// measured returns the arguments of the metrics tool, with the metrics and baselines of the workspace and of hexmage.
func (r Run) measured(p *step.Plan, known metrics.Set) measure.Spec {
	spec := r.Spec
	for _, m := range known.Own {
		isOwn := func(o measure.Pattern) bool { return o.Name == m.Name }
		if !slices.ContainsFunc(r.Patterns, isOwn) { // a metric of the step replaces it
			spec.Patterns = append(spec.Patterns, m)
		}
	}
	spec.Known = known.Known
	if _, err := measure.NewParser(spec.Patterns, nil); err != nil {
		p.Fail("metric", "Invalid metric", "%s.", err)
	}
	var shipped []measure.Baseline
	for _, name := range r.Shipped {
		var have []string
		for _, b := range known.Baselines {
			have = append(have, b.Name)
		}
		if i := slices.Index(have, name); i >= 0 {
			shipped = append(shipped, known.Baselines[i])
			continue
		}
		p.Fail("baselines", "Unknown baseline", "baselines: %q is unknown. Use %s, or a block `baseline` of the step.",
			name, strings.Join(have, ", "))
	}
	spec.Baselines = append(shipped, spec.Baselines...)
	for _, l := range spec.Limits {
		isBaseline := func(b measure.Baseline) bool { return b.Name == l.Baseline }
		known := l.Baseline == measure.Previous && r.Previous.IsSet() || slices.ContainsFunc(spec.Baselines, isBaseline)
		switch {
		case l.Min == nil && l.Max == nil && l.Baseline == "":
			p.Fail("limit", "Empty limit", "limit %q: has no bound. Add min, max or baseline.", l.Metric)
		case l.Baseline != "" && !known:
			p.Fail("limit", "Unknown baseline", "limit %q: unknown baseline. Add %q to baselines, or as a block "+
				"`baseline`.",
				l.Metric, l.Baseline)
		}
	}
	return spec
}
