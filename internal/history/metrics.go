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

// Metric is a number in a table that the run wrote as an output.
type Metric struct {
	Output    string    `json:"output"`
	Variant   string    `json:"variant,omitempty"` // the conditions of the measurement
	Name      string    `json:"name"`
	Label     string    `json:"label,omitempty"`
	Unit      string    `json:"unit,omitempty"`
	Value     float64   `json:"value"`            // median of the repetitions
	Spread    float64   `json:"spread,omitempty"` // an estimate of the standard deviation
	N         int       `json:"n"`                // number of repetitions
	Better    string    `json:"better,omitempty"` // "more" or "less", or "" if the table does not say
	Values    []float64 `json:"values,omitempty"` // value of each repetition, if the table has them
	Profile   string    `json:"profile,omitempty"`
	Simulated bool      `json:"simulated,omitempty"`
}

// measured is a report.Table with the fields of repeated measurements.
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

// Metrics returns all metrics of the document, in the order of the tables.
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
	if json.Unmarshal(o.Content, &t) != nil { // lists of objects have no stable names
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

// Verdict is the result of comparing a metric between two runs.
type Verdict string

// Values of Verdict.
const (
	Significant Verdict = "more than the spread" // the p-value is below 0.05
	Within      Verdict = "within the spread"    // the p-value is 0.05 or more, so the difference may be chance
	Single      Verdict = "measured once"        // a value is from a single measurement, so the spread is unknown
	Equal       Verdict = "the same"             // the values are equal
	OnlyA       Verdict = "only in A"            // the other run lacks the metric
	OnlyB       Verdict = "only in B"            // the other run lacks the metric
	// the two runs have different profiles, or one run was a simulation
	Apart      Verdict = "not to be compared"
	mostChance         = 0.05
)

// MetricChange holds the values of a metric in two runs.
type MetricChange struct {
	A       *Metric `json:"a,omitempty"` // nil if the run lacks the metric
	B       *Metric `json:"b,omitempty"`
	Ratio   float64 `json:"ratio,omitempty"`  // B / A
	Chance  float64 `json:"chance,omitempty"` // p-value of Welch's t-test
	Verdict Verdict `json:"verdict"`
}

// Metric returns the metric in run b. If run b lacks the metric, it returns the metric in run a.
func (c *MetricChange) Metric() *Metric { return cmp.Or(c.B, c.A) }

// CompareMetrics matches and compares the metrics of two runs.
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
			c.Verdict = Significant
		}
	}
	return c
}

// sample returns the statistics of the repetitions. If the single values are missing, median and spread replace mean
// and deviation.
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
