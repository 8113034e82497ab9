package history

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"

	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/internal/runlog"
)

// Metric is a number that a table among the outputs has.
type Metric struct {
	Output    string    `json:"output"`
	Variant   string    `json:"variant,omitempty"` // under which conditions it was measured
	Name      string    `json:"name"`
	Label     string    `json:"label,omitempty"`
	Unit      string    `json:"unit,omitempty"`
	Value     float64   `json:"value"`            // of repetitions the median
	Spread    float64   `json:"spread,omitempty"` // of repetitions about a standard deviation
	N         int       `json:"n"`                // repetitions
	Better    string    `json:"better,omitempty"` // "more" or "less", where the table says
	Values    []float64 `json:"values,omitempty"` // each repetition's, where the table has them
	Profile   string    `json:"profile,omitempty"`
	Simulated bool      `json:"simulated,omitempty"`
}

// measured is a report.Table with what the rows are made of, where somebody measured more than once.
type measured struct {
	report.Table
	Simulated bool      `json:"simulated"`
	Stats     []stat    `json:"stats"`
	Variants  []variant `json:"variants"`
}

type stat struct {
	Name   string  `json:"name"`
	Label  string  `json:"label"`
	Unit   string  `json:"unit"`
	Value  float64 `json:"value"`
	N      int     `json:"n"`
	Spread float64 `json:"spread"`
	Better string  `json:"better"`
}

type variant struct {
	Variant map[string]string `json:"variant"`
	Name    string            `json:"name"`
	Stats   []stat            `json:"stats"`
	Runs    []struct {
		Metrics []stat `json:"metrics"`
	} `json:"runs"`
}

// Metrics are those of the document's tables, in their order.
func (d *Document) Metrics() []Metric {
	var all []Metric
	for _, o := range d.Outputs {
		if o.Show == "table" && len(o.Content) > 0 {
			all = append(all, metricsOf(o)...)
		}
	}
	return all
}

func metricsOf(o runlog.Output) (all []Metric) {
	var t measured
	if json.Unmarshal(o.Content, &t) != nil { // a list of objects has no names that stay the same
		return nil
	}
	had := map[string]bool{}
	put := func(m Metric) {
		if key := m.Variant + "\x00" + m.Name; !had[key] && m.Name != "" {
			had[key] = true
			m.Output, m.Profile, m.Simulated = o.Name, t.Profile, t.Simulated
			all = append(all, m)
		}
	}
	for _, v := range t.Variants {
		values := map[string][]float64{}
		for _, r := range v.Runs {
			for _, m := range r.Metrics {
				values[m.Name] = append(values[m.Name], m.Value)
			}
		}
		for _, s := range v.Stats {
			put(s.metric(v.name(), values[s.Name]))
		}
	}
	for _, s := range t.Stats {
		put(s.metric("", nil))
	}
	for _, r := range t.Rows {
		var value float64
		if json.Unmarshal(r.Value, &value) == nil {
			put(Metric{Name: r.Name, Label: r.Label, Unit: r.Unit, Value: value, N: 1})
		}
	}
	return all
}

func (s stat) metric(variant string, values []float64) Metric {
	return Metric{Variant: variant, Name: s.Name, Label: s.Label, Unit: s.Unit, Value: s.Value, Spread: s.Spread,
		N: max(1, s.N), Better: s.Better, Values: values}
}

func (v variant) name() string {
	text := v.Name
	for _, axis := range slices.Sorted(maps.Keys(v.Variant)) {
		if v.Name == "" {
			if text != "" {
				text += ","
			}
			text += axis + "=" + v.Variant[axis]
		}
	}
	return text
}

// Verdict is what a difference between two values of a metric comes to.
type Verdict string

// The verdicts.
const (
	Beyond Verdict = "more than the spread" // it would come by chance in fewer than one of twenty
	Within Verdict = "within the spread"    // it may be chance
	Single Verdict = "measured once"        // one of the two was, at least: nobody knows
	Equal  Verdict = "the same"             // the values are
	OnlyA  Verdict = "only in A"            // the other run does not have it
	OnlyB  Verdict = "only in B"            //
	// they were measured under different profiles, or one of them on an emulation
	Apart      Verdict = "not to be compared"
	mostChance         = 0.05
)

// MetricChange is a metric of two runs.
type MetricChange struct {
	A       *Metric `json:"a,omitempty"` // nil: that run has none
	B       *Metric `json:"b,omitempty"`
	Ratio   float64 `json:"ratio,omitempty"`  // B / A
	Chance  float64 `json:"chance,omitempty"` // p of Welch's test
	Verdict Verdict `json:"verdict"`
}

// Metric is what both have in common.
func (c *MetricChange) Metric() *Metric { return cmp.Or(c.B, c.A) }

// CompareMetrics puts those of two runs side by side.
func CompareMetrics(a, b []Metric) (all []MetricChange) {
	type key struct{ output, variant, name string }
	of := func(m *Metric) key { return key{m.Output, m.Variant, m.Name} }
	earlier := map[key]*Metric{}
	for i := range a {
		earlier[of(&a[i])] = &a[i]
	}
	for i := range b {
		m := &b[i]
		all = append(all, change(earlier[of(m)], m))
		delete(earlier, of(m))
	}
	for i := range a {
		if m := earlier[of(&a[i])]; m != nil {
			all = append(all, change(m, nil))
		}
	}
	return all
}

func change(a, b *Metric) MetricChange {
	c := MetricChange{A: a, B: b}
	switch {
	case a == nil:
		c.Verdict = OnlyB
		return c
	case b == nil:
		c.Verdict = OnlyA
		return c
	case a.Profile != b.Profile || a.Simulated != b.Simulated || a.Unit != b.Unit:
		c.Verdict = Apart
		return c
	}
	if a.Value != 0 {
		c.Ratio = b.Value / a.Value
	}
	switch {
	case a.Value == b.Value:
		c.Verdict = Equal
	case a.N < 2 || b.N < 2:
		c.Verdict = Single
	default:
		c.Chance = Welch(a.sample(), b.sample())
		if c.Verdict = Within; c.Chance < mostChance {
			c.Verdict = Beyond
		}
	}
	return c
}

// sample is what is known of the repetitions: of those that are not there one by one the median and the spread stand
// for mean and deviation.
func (m *Metric) sample() Sample {
	if n := len(m.Values); n >= 2 {
		mean, squares := 0.0, 0.0
		for _, v := range m.Values {
			mean += v / float64(n)
		}
		for _, v := range m.Values {
			squares += (v - mean) * (v - mean)
		}
		return Sample{N: n, Mean: mean, Deviation: math.Sqrt(squares / float64(n-1))}
	}
	return Sample{N: m.N, Mean: m.Value, Deviation: m.Spread}
}
