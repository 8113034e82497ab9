package bench

import (
	"fmt"
	"slices"
	"time"
)

// Sample is one run of one program, from its start to its end.
type Sample struct {
	Wall   time.Duration
	CPU    time.Duration // of the program and of all it started
	MaxRSS int64         // bytes: the peak of the largest process among them

	Read, Written int64 // bytes that they read and wrote in all, from and to disk or memory; -1: not known
}

// Series are the samples of one tool in one scenario. The n-th sample was taken next to the n-th of the other tools.
type Series struct {
	Scenario Scenario
	Tool     string
	Samples  []Sample
}

func (s *Series) values(of func(Sample) float64) []float64 {
	all := make([]float64, len(s.Samples))
	for i, x := range s.Samples {
		all[i] = of(x)
	}
	return all
}

func wall(s Sample) float64    { return s.Wall.Seconds() }
func cpu(s Sample) float64     { return s.CPU.Seconds() }
func written(s Sample) float64 { return float64(s.Written) }
func read(s Sample) float64    { return float64(s.Read) }
func rss(s Sample) float64     { return float64(s.MaxRSS) }

// median returns the middle value, or the mean of the two in the middle. It is 0 of nothing.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// spread is how far apart the values are that a median is of: half the distance of the largest and the smallest, over
// the median.
func spread(v []float64) float64 {
	m := median(v)
	if m == 0 {
		return 0
	}
	return (slices.Max(v) - slices.Min(v)) / 2 / m
}

// ratios are of samples that were taken next to each other, so that what slows the machine down slows both.
func ratios(a, b *Series, of func(Sample) float64) []float64 {
	var all []float64
	for i := range min(len(a.Samples), len(b.Samples)) {
		if d := of(b.Samples[i]); d > 0 {
			all = append(all, of(a.Samples[i])/d)
		}
	}
	return all
}

// seconds writes a time so that three digits count.
func seconds(s float64) string {
	switch {
	case s >= 9.995:
		return fmt.Sprintf("%.1f s", s)
	case s >= 0.9995:
		return fmt.Sprintf("%.2f s", s)
	}
	return fmt.Sprintf("%.3g ms", s*1000)
}
