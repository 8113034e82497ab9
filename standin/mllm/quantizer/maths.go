package quantizer

import "math"

// The functions below exist because the standard library's may round differently from one processor to the next, where the
// compiler may fuse a product and a sum. Each operation here is rounded by itself, so a scale has the same bits everywhere.

// exp64 is e^x, for |x| up to 700; good to about 1e-15.
func exp64(x float64) float64 {
	n := math.Round(float64(x * (1 / math.Ln2)))
	r := float64(x - float64(n*math.Ln2))
	sum, term := 1.0, 1.0
	for k := 1; k < 18; k++ {
		term = float64(float64(term*r) / float64(k))
		sum = float64(sum + term)
	}
	return math.Ldexp(sum, int(n))
}

// sincos64 is good to about 1e-12 for angles of a few thousand.
func sincos64(x float64) (sin, cos float64) {
	turns := math.Round(float64(x / (2 * math.Pi)))
	r := float64(x - float64(turns*(2*math.Pi)))
	term := 1.0
	for k := 1; k < 34; k++ { // r is at most pi: the last term is below 1e-20
		switch k % 4 {
		case 1:
			cos = float64(cos + term)
		case 2:
			sin = float64(sin + term)
		case 3:
			cos = float64(cos - term)
		case 0:
			sin = float64(sin - term)
		}
		term = float64(float64(term*r) / float64(k))
	}
	return sin, cos
}

// root is the n-th root of v >= 1, by halving.
func root(v float64, n int) float64 {
	lo, hi := 1.0, v
	for range 200 {
		mid := float64(float64(lo+hi) / 2)
		p := 1.0
		for range n {
			p = float64(p * mid)
		}
		if p <= v {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// ropeAngles gives the angle of each position and column i < headDim/2.
func ropeAngles(theta float64, headDim, positions int) [][]float64 {
	h := headDim / 2
	base := root(theta, h)
	freq := make([]float64, h)
	f := 1.0
	for i := range freq {
		freq[i] = f
		f = float64(f / base)
	}
	out := make([][]float64, positions)
	for p := range out {
		out[p] = make([]float64, h)
		for i, f := range freq {
			out[p][i] = float64(float64(p) * f)
		}
	}
	return out
}
