package measure

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Stat holds a metric's statistics over several repetitions. Value is the median.
type Stat struct {
	Metric
	N      int     `json:"n"` // number of repetitions with the metric
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	Spread float64 `json:"spread"`           // robust standard deviation; 0 for one repetition
	Better string  `json:"better,omitempty"` // "more", "less" or "neither"; "": depends on the unit
}

// way returns 1 if more is better, -1 if less is, else 0.
func (s Stat) way() int {
	switch s.Better {
	case "more":
		return 1
	case "less":
		return -1
	case "neither":
		return 0
	}
	return direction(s.Unit)
}

// madScale turns the median distance from the median into a standard deviation, for normally distributed values.
const madScale = 1.4826

// Summarize computes statistics over the repetitions of one run.
func Summarize(runs [][]Metric) []Stat {
	values := map[string][]float64{}
	var stats []Stat
	for _, run := range runs {
		for _, m := range run {
			if values[m.Name] == nil {
				stats = append(stats, Stat{Metric: m})
			}
			values[m.Name] = append(values[m.Name], m.Value)
		}
	}
	for i := range stats {
		s := &stats[i]
		v := values[s.Name]
		slices.Sort(v)
		s.N, s.Min, s.Max, s.Value = len(v), v[0], v[len(v)-1], median(v)
		far := make([]float64, len(v))
		for j, x := range v {
			far[j] = math.Abs(x - s.Value)
		}
		slices.Sort(far)
		s.Spread = madScale * median(far)
	}
	return stats
}

// median returns the median of sorted values.
func median(v []float64) float64 {
	n := len(v)
	if n%2 == 1 {
		return v[n/2]
	}
	return v[n/2-1]/2 + v[n/2]/2
}

// Baseline is a table of values from other measurements.
type Baseline struct {
	Name    string `arg:"name,label" json:"name"`
	Source  string `arg:"source,required" json:"source"`    // author and document of the measurements
	Profile string `arg:"profile" json:"profile,omitempty"` // of runs to compare; empty: any with a real phone

	Simulated bool          `json:"-"` // measured on a simulated phone
	Rows      []BaselineRow `block:"row" json:"rows"`
}

// BaselineRow is a baseline's value for a metric. It applies to runs whose other metrics match When.
type BaselineRow struct {
	Metric string             `arg:"metric,label" json:"metric"`
	Value  float64            `arg:"value,required" json:"value"`
	Spread float64            `arg:"spread" json:"spread,omitempty"`
	When   map[string]float64 `arg:"when" json:"when,omitempty"` // value of each metric, such as prefill_tokens
}

// Verdict is the result of a comparison.
type Verdict string

// The verdicts.
const (
	IsBetter    Verdict = "better"
	IsWorse     Verdict = "worse"
	WithinNoise Verdict = "within noise"
	Differs     Verdict = "differs" // a count differs
)

// Comparison compares a measured value with a baseline's value.
type Comparison struct {
	Baseline string  `json:"baseline"`
	Metric   string  `json:"metric"`
	Value    float64 `json:"value"`
	Base     float64 `json:"base"`
	Ratio    float64 `json:"ratio"` // value / base
	Noise    float64 `json:"noise"` // largest difference that counts as noise
	Verdict  Verdict `json:"verdict"`
	Unit     string  `json:"unit"`
}

// DefaultTolerance is the default noise limit, as a fraction of a baseline. Phones vary that much from day to day.
const DefaultTolerance = 0.05

// Compare compares statistics with the rows of the baseline whose conditions (When) match. A difference is noise if it
// is at most tolerance × the baseline, or at most twice the larger spread.
func Compare(stats []Stat, b Baseline, tolerance float64) []Comparison {
	var out []Comparison
	for _, row := range b.Rows {
		s := stat(stats, row.Metric)
		if s == nil || row.Value == 0 || !fits(stats, row.When) {
			continue
		}
		c := Comparison{
			Baseline: b.Name, Metric: row.Metric, Value: s.Value, Base: row.Value, Unit: s.Unit,
			Ratio: s.Value / row.Value, Noise: max(tolerance*math.Abs(row.Value), 2*max(s.Spread, row.Spread)),
		}
		diff := s.Value - row.Value
		way := s.way()
		switch {
		case math.Abs(diff) <= c.Noise:
			c.Verdict = WithinNoise
		case way == 0:
			c.Verdict = Differs
		case diff*float64(way) > 0:
			c.Verdict = IsBetter
		default:
			c.Verdict = IsWorse
		}
		out = append(out, c)
	}
	return out
}

func stat(stats []Stat, name string) *Stat {
	if i := slices.IndexFunc(stats, func(s Stat) bool { return s.Name == name }); i >= 0 {
		return &stats[i]
	}
	return nil
}

func fits(stats []Stat, when map[string]float64) bool {
	for name, v := range when {
		if s := stat(stats, name); s == nil || math.Abs(s.Value-v) > 0.5 {
			return false
		}
	}
	return true
}

// Limit is a bound for a metric. A breach fails the step.
type Limit struct {
	Metric     string   `arg:"metric,label" json:"metric"`
	Min        *float64 `arg:"min" json:"min,omitempty"`
	Max        *float64 `arg:"max" json:"max,omitempty"`
	Baseline   string   `arg:"baseline" json:"baseline,omitempty"`     // name of the baseline for Regression
	Regression float64  `arg:"regression" json:"regression,omitempty"` // allowed fraction of the baseline

	When map[string]float64 `arg:"when" json:"when,omitempty"` // selects runs by the values of metrics
}

// Check lists breaches of limits, one per line. It also lists limits that it cannot check, because no run matches When
// or a value is missing.
func Check(variants []*Variant, limits []Limit) []string {
	var bad []string
	for _, l := range limits {
		mine := slices.DeleteFunc(slices.Clone(variants), func(v *Variant) bool { return !fits(v.Stats, l.When) })
		compared := slices.ContainsFunc(mine, func(v *Variant) bool { return l.comparison(v.Comparisons) >= 0 })
		for _, v := range mine {
			for _, text := range l.check(v, compared) {
				if v.Name != "" {
					text = v.Name + ": " + text
				}
				bad = append(bad, text)
			}
		}
		if len(mine) == 0 {
			var when []string
			for _, name := range slices.Sorted(maps.Keys(l.When)) {
				when = append(when, name+" = "+number(l.When[name]))
			}
			text := "%s has a limit for runs with %s, but no run matches"
			bad = append(bad, fmt.Sprintf(text, l.Metric, strings.Join(when, ", ")))
		}
	}
	return bad
}

// check lists breaches of one variant. If the baseline has values for other variants only, it is not checked.
func (l Limit) check(v *Variant, compared bool) (bad []string) {
	against := l.Baseline != "" && (!compared || l.comparison(v.Comparisons) >= 0)
	s := stat(v.Stats, l.Metric)
	switch {
	case !against && l.Min == nil && l.Max == nil:
		return nil
	case s == nil:
		have := make([]string, len(v.Stats))
		for i, s := range v.Stats {
			have[i] = s.Name
		}
		printed := cmp.Or(strings.Join(have, ", "), "no metrics")
		return []string{fmt.Sprintf("%s has a limit but was not measured. Measured metrics: %s", l.Metric, printed)}
	case l.Min != nil && s.Value < *l.Min:
		text := "%s is %s, below its limit of %s %s"
		bad = append(bad, fmt.Sprintf(text, l.Metric, number(s.Value), number(*l.Min), s.Unit))
	case l.Max != nil && s.Value > *l.Max:
		text := "%s is %s, above its limit of %s %s"
		bad = append(bad, fmt.Sprintf(text, l.Metric, number(s.Value), number(*l.Max), s.Unit))
	}
	if against {
		bad = append(bad, l.against(v.Comparisons)...)
	}
	return bad
}

func (l Limit) comparison(all []Comparison) int {
	return slices.IndexFunc(all, func(c Comparison) bool {
		return l.Baseline != "" && c.Baseline == l.Baseline && c.Metric == l.Metric
	})
}

func (l Limit) against(comparisons []Comparison) []string {
	i := l.comparison(comparisons)
	if i < 0 {
		text := "%s has a limit relative to baseline %q, which has no value for this run"
		return []string{fmt.Sprintf(text, l.Metric, l.Baseline)}
	}
	c := comparisons[i]
	worse := math.Abs(c.Base - c.Value)
	if c.Verdict != IsWorse || worse <= l.Regression*math.Abs(c.Base) {
		return nil
	}
	text := "%s is %s %s, worse than baseline %q (%s) by %.1f %%; the limit is %.1f %%"
	return []string{fmt.Sprintf(text,
		l.Metric, number(c.Value), c.Unit, l.Baseline, number(c.Base), 100*worse/math.Abs(c.Base), 100*l.Regression)}
}

// number formats a value for messages: 1013.68, 25, 0.0042.
func number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return fmt.Sprintf("%.0f", v)
	}
	if math.Abs(v) >= 1 {
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.4g", v)
}
