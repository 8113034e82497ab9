package fit_test

import (
	"testing"

	"github.com/hexmage/hexmage/model/fit"
)

// TestMLLM holds the lower bounds to what was measured: memory with a model of Qwen3-0.6B's shape, the file with one of
// four such layers.
func TestMLLM(t *testing.T) {
	large := fit.MLLM{Model: fit.Model{Architecture: "qwen3", Layers: 28, Hidden: 1024, Heads: 16, KVHeads: 8,
		HeadDim: 128, Intermediate: 3072, Vocabulary: 151_936, Tied: true}, BlockSize: 16}
	small := large
	small.Model.Layers, small.Model.Vocabulary = 4, 16_384
	for _, c := range []struct {
		name         string
		is, measured int64
	}{{"quantizer", large.Quantizer(), 478e6}, {"compiler", large.Compiler(), 2800e6},
		{"file", small.File(), 119_085_360}} {
		if c.is > c.measured || c.is < c.measured*7/10 {
			t.Errorf("%s: %d bytes, measured were %d", c.name, c.is, c.measured)
		}
	}
}
