package measure_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/runner/measure"
)

func runs(values ...float64) [][]measure.Metric {
	var all [][]measure.Metric
	for _, v := range values {
		all = append(all, []measure.Metric{{Name: "prefill_tokens_per_s", Value: v, Unit: "tokens/s"}, {Name: "prefill_tokens", Value: 64, Unit: "tokens"}})
	}
	return all
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values []float64
		want   string
	}{
		{[]float64{5}, "5 n=1 5…5 ±0"},
		{[]float64{10, 20}, "15 n=2 10…20 ±7.413"},
		{[]float64{1, 3, 2, 1000}, "2.5 n=4 1…1000 ±1.4826"}, // an outlier moves median and spread little
	} {
		s := measure.Summarize(runs(c.values...))[0]
		if got := fmt.Sprintf("%v n=%d %v…%v ±%v", s.Value, s.N, s.Min, s.Max, math.Round(s.Spread*1e4)/1e4); got != c.want {
			t.Errorf("%v: %s, want %s", c.values, got, c.want)
		}
	}
	// A metric of some repetitions counts those repetitions.
	all := runs(1, 2)
	all[1] = append(all[1], measure.Metric{Name: "late", Value: 7, Unit: "count"})
	if stats := measure.Summarize(all); len(stats) != 3 || stats[2].N != 1 || stats[0].N != 2 {
		t.Errorf("%+v", stats)
	}
}

func paper() measure.Baseline {
	return measure.Baseline{Name: "paper", Rows: []measure.BaselineRow{
		{Metric: "prefill_tokens_per_s", Value: 333, When: map[string]float64{"prefill_tokens": 64}},
		{Metric: "prefill_tokens_per_s", Value: 564, When: map[string]float64{"prefill_tokens": 256}},
	}}
}

// Differences up to the tolerance or twice the spread are noise. Beyond that, more tokens a second and less time are
// better.
func TestCompare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values []float64
		want   measure.Verdict
	}{
		{[]float64{318.27}, measure.WithinNoise}, // 4.4 % below
		{[]float64{316}, measure.IsWorse},        // 5.1 % below
		{[]float64{349}, measure.WithinNoise},
		{[]float64{350}, measure.IsBetter},
		{[]float64{316, 300, 335}, measure.WithinNoise}, // the repetitions differ more
		{[]float64{200, 201, 199}, measure.IsWorse},
	} {
		stats := measure.Summarize(runs(c.values...))
		got := measure.Compare(stats, paper(), measure.DefaultTolerance)
		if len(got) != 1 || got[0].Verdict != c.want || got[0].Base != 333 {
			t.Errorf("%v: %+v, want %s", c.values, got, c.want)
		}
	}
	one := func(unit string, v float64) measure.Verdict {
		return measure.Compare([]measure.Stat{{Metric: measure.Metric{Name: "x", Value: v, Unit: unit}}}, measure.Baseline{Rows: []measure.BaselineRow{{Metric: "x", Value: 100}}}, 0.1)[0].Verdict
	}
	if one("us", 80) != measure.IsBetter || one("us", 120) != measure.IsWorse || one("tokens", 120) != measure.Differs || one("us", 105) != measure.WithinNoise {
		t.Error("the units' ways are wrong")
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	f := func(v float64) *float64 { return &v }
	const speed = "prefill_tokens_per_s"
	for _, c := range []struct {
		name  string
		limit measure.Limit
		want  string
	}{
		{"holds", measure.Limit{Metric: speed, Min: f(300), Max: f(320)}, ""},
		{"too small", measure.Limit{Metric: speed, Min: f(330)}, "prefill_tokens_per_s is 310, below its limit of 330 tokens/s"},
		{"too large", measure.Limit{Metric: speed, Max: f(300)}, "above its limit of 300 tokens/s"},
		{"not measured", measure.Limit{Metric: "decode", Min: f(1)}, "decode has a limit but was not measured. Measured metrics: prefill_tokens_per_s, prefill_tokens"},
		{"a regression that is allowed", measure.Limit{Metric: speed, Baseline: "paper", Regression: 0.1}, ""},
		{"a regression", measure.Limit{Metric: speed, Baseline: "paper", Regression: 0.06}, `worse than baseline "paper" (333) by 6.9 %; the limit is 6.0 %`},
		{"within noise", measure.Limit{Metric: "prefill_tokens", Baseline: "same"}, ""},
		{"nothing to compare with", measure.Limit{Metric: speed, Baseline: "other"}, `baseline "other", which has no value for this run`},
	} {
		stats := measure.Summarize(runs(310))
		all := append(measure.Compare(stats, paper(), 0.05), measure.Comparison{Baseline: "same", Metric: "prefill_tokens", Base: 64, Value: 64, Verdict: measure.WithinNoise})
		got := strings.Join(measure.Check([]*measure.Variant{{Stats: stats, Comparisons: all}}, []measure.Limit{c.limit}), "|")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// For any output, the statistics are consistent.
func FuzzSummarize(f *testing.F) {
	p, err := measure.NewParser(nil, known())
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("Prefill time : 12345.60 μs (2592.02 tokens/s)\nPrefill tokens : 32\n"), []byte("prefill time: 201.087ms\nreal_seq_length: 64\n"))
	f.Add([]byte("Decode time : 1e999 us\x1b["), []byte("NetRun IPS (x): 5 inf/s"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		stats := measure.Summarize([][]measure.Metric{p.Parse(a), p.Parse(b)})
		for _, s := range stats {
			if s.N < 1 || s.N > 2 || s.Min > s.Value || s.Value > s.Max || s.Spread < 0 || math.IsNaN(s.Spread) || s.Name == "" || s.Unit == "" {
				t.Errorf("%+v", s)
			}
		}
		for _, c := range measure.Compare(stats, paper(), 0.05) {
			if math.IsNaN(c.Ratio) || c.Verdict == "" {
				t.Errorf("%+v", c)
			}
		}
	})
}
