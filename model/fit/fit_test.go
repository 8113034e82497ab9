package fit_test

import (
	"testing"

	"github.com/hexmage/hexmage/model/fit"
	"github.com/hexmage/hexmage/model/hf"
)

// TestBounds holds the bounds to what was measured: memory with a model of Qwen3-0.6B's shape, the file with one of four
// such layers.
func TestBounds(t *testing.T) {
	large := hf.Model{Architecture: "qwen3", Layers: 28, Hidden: 1024, Heads: 16, KVHeads: 8, HeadDim: 128,
		Intermediate: 3072, Vocabulary: 151_936, Tied: true}
	small := large
	small.Layers, small.Vocabulary = 4, 16_384
	b := fit.MLLM(large, 16, 1024)
	for _, c := range []struct {
		name         string
		is, measured int64
	}{
		{"quantizer", b.Quantizer, 478e6},
		{"compiler", b.Compiler, 2800e6},
		{"file", fit.MLLM(small, 16, 1024).File, 119_085_360},
	} {
		if c.is > c.measured || c.is < c.measured*7/10 {
			t.Errorf("%s: %d bytes, measured were %d", c.name, c.is, c.measured)
		}
	}
	const matrices, embedding = 440_401_920 / 2, 2 * 151_936 * 1024 // bytes
	if b.Context < matrices+embedding || b.Context > (matrices+embedding)*3/2 {
		t.Errorf("context: %d bytes", b.Context)
	}
	if cache := int64(2 * 28 * 8 * 128 * 1024); b.Process != b.Context+cache {
		t.Errorf("process: %d bytes, want the context and a cache of %d", b.Process, cache)
	}
}
