package measure

import (
	"math"
	"slices"
)

// Stat is a metric over repetitions. Value is the median.
type Stat struct {
	Metric
	N      int     `json:"n"` // repetitions that have it
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	Spread float64 `json:"spread"` // robust standard deviation: 1.4826 × the median distance from the median; 0 for one repetition
}

// madScale makes the median distance from the median an estimate of the standard deviation of normally distributed values.
const madScale = 1.4826

// Summarize puts the repetitions of one run together, in their order.
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

// median of sorted values.
func median(v []float64) float64 {
	n := len(v)
	if n%2 == 1 {
		return v[n/2]
	}
	return v[n/2-1]/2 + v[n/2]/2
}

// Baseline is a table of values that others measured, or we did before.
type Baseline struct {
	Name    string `arg:"name,label" json:"name"`
	Source  string `arg:"source,required" json:"source"`    // who measured, where it is written
	Profile string `arg:"profile" json:"profile,omitempty"` // which runs are compared with it; empty: all but those of emulated phones

	Emulated bool          `json:"-"` // measured on an emulated phone
	Rows     []BaselineRow `block:"row" json:"rows"`
}

// BaselineRow is one value, for runs that have the values of When.
type BaselineRow struct {
	Metric string             `arg:"metric,label" json:"metric"`
	Value  float64            `arg:"value,required" json:"value"`
	Spread float64            `arg:"spread" json:"spread,omitempty"`
	When   map[string]float64 `arg:"when" json:"when,omitempty"` // by metric, such as prefill_tokens
}

// Verdict is what a comparison comes to.
type Verdict string

// The verdicts.
const (
	IsBetter    Verdict = "better"
	IsWorse     Verdict = "worse"
	WithinNoise Verdict = "within noise"
	Differs     Verdict = "differs" // for a count, of which neither more nor less is better
)

// Comparison is a measured value beside a baseline's.
type Comparison struct {
	Baseline string  `json:"baseline"`
	Metric   string  `json:"metric"`
	Value    float64 `json:"value"`
	Base     float64 `json:"base"`
	Ratio    float64 `json:"ratio"` // value / base
	Noise    float64 `json:"noise"` // a difference up to this is none
	Verdict  Verdict `json:"verdict"`
	Unit     string  `json:"unit"`
}

// DefaultTolerance is the part of a baseline by which a value may differ and be within noise: phones vary so much from one day to the next.
const DefaultTolerance = 0.05

// Compare compares what was measured with the rows of the baseline that are about such a run. A difference is noise when it is not more than
// tolerance × the baseline, or than twice the larger spread of the two.
func Compare(stats []Stat, b Baseline, tolerance float64) []Comparison {
	var out []Comparison
	for _, row := range b.Rows {
		s := stat(stats, row.Metric)
		if s == nil || row.Value == 0 || !fits(stats, row.When) {
			continue
		}
		c := Comparison{Baseline: b.Name, Metric: row.Metric, Value: s.Value, Base: row.Value, Ratio: s.Value / row.Value, Unit: s.Unit,
			Noise: max(tolerance*math.Abs(row.Value), 2*max(s.Spread, row.Spread))}
		diff := s.Value - row.Value
		way := Better(s.Unit)
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
