package toymodel

import "testing"

// TestBias: what a bias adds is in a linear layer's output, and a layer without one is as before.
func TestBias(t *testing.T) {
	l := linear{in: 16, out: 2, block: 16, weight: make([]int8, 32), scale1: []uint8{1, 1}, scale2: []float32{1, 1}}
	x, q := make([]uint16, 16), newQuant(0.5, 100)
	if got := l.apply(x, q, q); got[0] != 100 || got[1] != 100 {
		t.Errorf("without a bias %d", got)
	}
	l.bias = []float32{3, -2}
	if got := l.apply(x, q, q); got[0] != 106 || got[1] != 96 {
		t.Errorf("with biases 3 and -2 of steps of 0.5: %d, want 106 and 96", got)
	}
}
