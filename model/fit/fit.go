// Package fit computes lower bounds for the resources of a decoder in mllm's W4A16 LPBQ quantization. The bounds are
// the memory of the quantizer and of Qualcomm's compiler, the size of the context, and the memory that a DSP process
// maps. If a machine or SoC has less, no compiler setting makes the model fit.
//
// The package does not read files or know the limits of SoCs and machines.
package fit

import "github.com/hexmage/hexmage/model/hf"

// Measurements with QAIRT 2.51.0 and models of Qwen3-0.6B's shape. Each number is below all measurements
// (fit_test.go), so that a rejected model can never fit.
const (
	outputBytes     = 14          // scale and offset of each output of a matrix
	compilerBytes   = 159_000_000 // the compiler's process, for any model
	compilerHeld    = 3           // compiler memory for each byte of weights in a graph
	quantizerBytes  = 384_000_000 // hexmage's quantizer, for any model
	quantizerWeight = 5           // for each weight in the matrices of a layer; the quantizer holds one layer
)

// Bounds holds lower bounds for sizes, in bytes.
type Bounds struct {
	File      int64 // output of hexmage's quantizer
	Quantizer int64 // peak memory of hexmage's quantizer
	Compiler  int64 // peak memory of Qualcomm's compiler for one graph
	Context   int64 // prefill and decode in one context with shared weights
	Process   int64 // memory that a DSP process maps: the context and the key/value cache
}

// MLLM returns the bounds for a model with 4-bit matrices and head, a 16-bit embedding and an 8-bit cache. In the
// quantizer's file, each 4-bit number takes a whole byte.
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
