package fit

// Memory that mllm's scheme takes of the machine that quantizes and compiles. The numbers are below what was measured
// with models of Qwen3-0.6B's shape (docs/emulator.md): a refusal must be right for every model.
const (
	quantizerBytes  = 384_000_000 // hexmage's quantizer, for any model
	quantizerWeight = 5           // for each weight in the matrices of a layer: it holds one layer
	mllmHeld        = 3           // Qualcomm's compiler, for each byte that a graph has of weights
)

// MLLM is a model that becomes mllm's W4A16 LPBQ: matrices and head in 4 bits, the embedding in 16. Sizes are lower
// bounds in bytes.
type MLLM struct {
	Model     Model
	BlockSize int64
}

// Quantizer returns the peak memory of hexmage's quantizer.
func (q MLLM) Quantizer() int64 { return quantizerBytes + quantizerWeight*q.Model.Matrices() }

// Compiler returns the peak memory of Qualcomm's compiler for one graph.
func (q MLLM) Compiler() int64 {
	m, w := q.Model, Way{Scheme: "lpbq", BlockSize: q.BlockSize}
	head := m.Vocabulary * m.Hidden
	held := m.Layers*w.matrix(m.Matrices(), m.Outputs()) + w.matrix(head, m.Vocabulary) + 2*head
	return compilerBytes + mllmHeld*held
}

// File returns the size of the file that the quantizer writes: it stores 4 bits in a byte.
func (q MLLM) File() int64 {
	m := q.Model
	n := m.Layers*m.Matrices() + m.Vocabulary*m.Hidden
	return n + n/q.BlockSize + 2*m.Vocabulary*m.Hidden
}
