package history

import "math"

// Sample holds the statistics of repeated measurements.
type Sample struct {
	N         int // at least 2
	Mean      float64
	Deviation float64 // sample standard deviation (divisor N - 1)
}

// Welch returns the two-sided p-value of Welch's t-test. This is the probability of a difference at least this large if
// the true means are equal. The test allows different standard deviations. If the means differ and both standard
// deviations are 0, the p-value is 0.
func Welch(a, b Sample) float64 {
	va, vb := a.Deviation*a.Deviation/float64(a.N), b.Deviation*b.Deviation/float64(b.N)
	diff := a.Mean - b.Mean
	switch {
	case diff == 0:
		return 1
	case va+vb == 0:
		return 0
	}
	t2 := diff * diff / (va + vb)
	freedom := (va + vb) * (va + vb) / (va*va/float64(a.N-1) + vb*vb/float64(b.N-1))
	p := betaPart(freedom/(freedom+t2), freedom/2, 0.5)
	if math.IsNaN(p) {
		return 1
	}
	return p
}

// betaPart returns the regularized incomplete beta function I_x(a, b), by its continued fraction.
func betaPart(x, a, b float64) float64 {
	if x <= 0 || x >= 1 {
		return min(1, max(0, x))
	}
	if x > (a+1)/(a+b+2) {
		return 1 - betaPart(1-x, b, a)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab-la-lb+a*math.Log(x)+b*math.Log1p(-x)) / a
	const tiny = 1e-300
	away := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/away(1-(a+b)*x/(a+1))
	f := d
	for m := 1.0; m < 500; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		last := f
		for _, k := range []float64{even, odd} {
			d, c = 1/away(1+k*d), away(1+k/c)
			f *= c * d
		}
		if math.Abs(f-last) < 1e-14*math.Abs(f) {
			break
		}
	}
	return front * f
}
