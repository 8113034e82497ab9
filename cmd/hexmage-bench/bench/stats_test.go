package bench

import (
	"math"
	"testing"
	"time"
)

func TestStats(t *testing.T) {
	series := func(ms ...int) *Series {
		s := &Series{}
		for _, v := range ms {
			s.Samples = append(s.Samples, Sample{Wall: time.Duration(v) * time.Millisecond})
		}
		return s
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"median of three", median([]float64{3, 1, 2}), 2},
		{"median of four", median([]float64{4, 1, 2, 3}), 2.5},
		{"median of none", median(nil), 0},
		{"spread", spread([]float64{8, 10, 14}), 0.3},
		{"spread of none", spread(nil), 0},
		// Both were slow the third time: the pairs say 2, what the medians say by chance.
		{"paired", median(ratios(series(2, 20, 200), series(1, 10, 100), wall)), 2},
		{"more samples than the other", float64(len(ratios(series(1, 2, 3), series(1, 2), wall))), 2},
		{"nothing to compare with", float64(len(ratios(series(1), series(0), wall))), 0},
	} {
		if math.Abs(c.got-c.want) > 1e-9 {
			t.Errorf("%s: %v, not %v", c.name, c.got, c.want)
		}
	}
	for v, want := range map[float64]string{12.34: "12.3 s", 1.234: "1.23 s", 0.0123: "12.3 ms", 0.00789: "7.89 ms"} {
		if got := seconds(v); got != want {
			t.Errorf("%v s is written %q, not %q", v, got, want)
		}
	}
}

func TestAffected(t *testing.T) {
	for _, c := range []struct {
		g    Graph
		want int
	}{
		{Wide(10), 2}, {Chain(10), 10}, {Layered(2, 100), 6}, {Layered(3, 500), 1 + 5 + 9},
	} {
		if got := c.g.affected(c.g.Sources[0]); got != c.want {
			t.Errorf("%s: %d actions, not %d", c.g.Name, got, c.want)
		}
	}
}

func TestBudgets(t *testing.T) {
	g := &GraphResult{Graph: Graph{Name: "wide 1000"}}
	g.add(Cold, staged, Sample{Wall: 900 * time.Millisecond})
	g.add(Cold, strict, Sample{Wall: 1300 * time.Millisecond})
	g.add(Cold, ninja, Sample{Wall: time.Second})
	g.add(Restored, strict, Sample{Wall: 20 * time.Millisecond})
	met := map[string]bool{}
	for _, b := range (&Report{Graphs: []*GraphResult{g}}).Budgets() {
		met[b.What] = b.Met
	}
	for what, want := range map[string]bool{
		"wide 1000, cold: hexmage staged / ninja": true,
		"wide 1000, cold: hexmage / ninja":        false,
		"wide 1000, outputs removed":              true,
	} {
		if got, ok := met[what]; !ok || got != want {
			t.Errorf("%s: met %v, not %v", what, got, want)
		}
	}
}
