// Package fit computes lower bounds of what a decoder takes with mllm's W4A16 LPBQ: memory of the quantizer and of
// Qualcomm's compiler, the size of the context, and what a process on the DSP maps. A limit below such a bound is a hard
// one: no setting of the compiler makes the model fit.
//
// The package reads no file, and it does not know what a SoC or a machine has.
package fit

import "github.com/hexmage/hexmage/model/hf"

// What was measured with QAIRT 2.51.0 and models of Qwen3-0.6B's shape. The numbers are below each measurement
// (fit_test.go), so that a refusal is right for every model.
const (
	outputBytes     = 14          // of a matrix, for each output: its scale and offset
	compilerBytes   = 159_000_000 // the compiler's process, for any model
	compilerHeld    = 3           // the compiler, for each byte of weights in a graph
	quantizerBytes  = 384_000_000 // hexmage's quantizer, for any model
	quantizerWeight = 5           // for each weight in the matrices of a layer: it holds one layer
)

// Bounds are lower bounds in bytes.
type Bounds struct {
	File      int64 // that hexmage's quantizer writes
	Quantizer int64 // peak memory of hexmage's quantizer
	Compiler  int64 // peak memory of Qualcomm's compiler for one graph
	Context   int64 // prefill and decode in one context, with their weights once
	Process   int64 // that a process on the DSP maps: the context and the key/value cache
}

// MLLM returns the bounds of a model whose matrices and head have 4 bits, the embedding 16, the cache 8. The quantizer
// stores 4 bits in a byte.
func MLLM(m hf.Model, blockSize, contextLen int64) Bounds {
	table := m.Vocabulary * m.Hidden
	weights := m.Layers*m.LayerWeights() + table
	scales := weights/blockSize + (m.Layers*m.LayerOutputs()+m.Vocabulary)*outputBytes
	held := weights/2 + scales + 2*table
	return Bounds{
		File:      weights + weights/blockSize + 2*table,
		Quantizer: quantizerBytes + quantizerWeight*m.LayerWeights(),
		Compiler:  compilerBytes + compilerHeld*held,
		Context:   held,
		Process:   held + 2*m.Layers*m.KVHeads*m.HeadDim*contextLen,
	}
}
