package measure

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Limit is a bound whose breach is a failure.
type Limit struct {
	Metric     string   `arg:"metric,label" json:"metric"`
	Min        *float64 `arg:"min" json:"min,omitempty"`
	Max        *float64 `arg:"max" json:"max,omitempty"`
	Baseline   string   `arg:"baseline" json:"baseline,omitempty"`     // with Regression
	Regression float64  `arg:"regression" json:"regression,omitempty"` // by how much of the baseline the value may be worse, beyond noise; such as 0.1

	When map[string]float64 `arg:"when" json:"when,omitempty"` // for runs with these values only, by metric
}

// Check says which limits do not hold, one a line. A metric that was not measured, and a baseline that says nothing of such a run, are breaches
// too: a limit that checks nothing is a mistake.
func Check(stats []Stat, comparisons []Comparison, limits []Limit) []string {
	var bad []string
	for _, l := range limits {
		s := stat(stats, l.Metric)
		if s == nil {
			var have []string
			for _, s := range stats {
				have = append(have, s.Name)
			}
			bad = append(bad, fmt.Sprintf("%s has a limit and was not measured; the run printed %s", l.Metric, orNothing(have)))
			continue
		}
		if l.Min != nil && s.Value < *l.Min {
			bad = append(bad, fmt.Sprintf("%s is %s, below its limit of %s %s", l.Metric, number(s.Value), number(*l.Min), s.Unit))
		}
		if l.Max != nil && s.Value > *l.Max {
			bad = append(bad, fmt.Sprintf("%s is %s, above its limit of %s %s", l.Metric, number(s.Value), number(*l.Max), s.Unit))
		}
		if l.Baseline != "" {
			bad = append(bad, l.against(comparisons)...)
		}
	}
	return bad
}

// Measured is a variant's statistics, with its comparisons.
type Measured struct {
	Name        string // of the variant, "" when there is only one
	Stats       []Stat
	Comparisons []Comparison
}

// CheckAll is Check for every variant. A limit holds for the variants that it is for, and that its baseline says something of; that there is
// none is a breach.
func CheckAll(variants []Measured, limits []Limit) []string {
	var bad []string
	for _, l := range limits {
		applied, compared := false, false
		for _, v := range variants {
			compared = compared || fits(v.Stats, l.When) && l.comparison(v.Comparisons) >= 0
		}
		for _, v := range variants {
			if !fits(v.Stats, l.When) {
				continue
			}
			applied = true
			one := l
			if compared && l.comparison(v.Comparisons) < 0 {
				if one.Baseline = ""; one.Min == nil && one.Max == nil {
					continue
				}
			}
			for _, text := range Check(v.Stats, v.Comparisons, []Limit{one}) {
				if v.Name != "" {
					text = v.Name + ": " + text
				}
				bad = append(bad, text)
			}
		}
		if !applied {
			var when []string
			for _, name := range slices.Sorted(maps.Keys(l.When)) {
				when = append(when, name+" = "+number(l.When[name]))
			}
			bad = append(bad, fmt.Sprintf("%s has a limit for runs with %s, and there was none", l.Metric, strings.Join(when, ", ")))
		}
	}
	return bad
}

func (l Limit) comparison(all []Comparison) int {
	return slices.IndexFunc(all, func(c Comparison) bool { return l.Baseline != "" && c.Baseline == l.Baseline && c.Metric == l.Metric })
}

func (l Limit) against(comparisons []Comparison) []string {
	i := l.comparison(comparisons)
	if i < 0 {
		return []string{fmt.Sprintf("%s has a limit against baseline %q, which has no value for such a run", l.Metric, l.Baseline)}
	}
	c := comparisons[i]
	worse := (c.Base - c.Value) * float64(Better(c.Unit))
	if c.Verdict == WithinNoise || worse <= l.Regression*math.Abs(c.Base) {
		return nil
	}
	return []string{fmt.Sprintf("%s is %s %s, worse than baseline %q (%s) by %.1f %%: more than the %.1f %% that are allowed",
		l.Metric, number(c.Value), c.Unit, l.Baseline, number(c.Base), 100*worse/math.Abs(c.Base), 100*l.Regression)}
}

func orNothing(list []string) string {
	if len(list) == 0 {
		return "no metrics"
	}
	return strings.Join(list, ", ")
}

// number writes a value as people do: 1013.68, 25, 0.0042.
func number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return fmt.Sprintf("%.0f", v)
	}
	if math.Abs(v) >= 1 {
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.4g", v)
}
