package hf

import (
	"errors"
	"fmt"
)

// Model holds the sizes that determine a decoder's memory use.
type Model struct {
	Architecture string `json:"model_type"`
	Layers       int64  `json:"num_hidden_layers"`
	Hidden       int64  `json:"hidden_size"`
	Heads        int64  `json:"num_attention_heads"`
	KVHeads      int64  `json:"num_key_value_heads"`
	HeadDim      int64  `json:"head_dim"`
	Intermediate int64  `json:"intermediate_size"`
	Vocabulary   int64  `json:"vocab_size"`
	Tied         bool   `json:"tie_word_embeddings"` // in the file, the head shares the embedding's weights
}

// Architectures returns the architectures that an onnx_llm step supports.
func Architectures() []string { return []string{"llama", "qwen2", "qwen3"} }

// Parameters returns the number of weights. It counts a tied head only once.
func (m Model) Parameters() int64 {
	n := m.Layers*m.LayerWeights() + m.Vocabulary*m.Hidden
	if !m.Tied {
		n += m.Vocabulary * m.Hidden
	}
	return n
}

// LayerWeights returns the number of weights in all matrices of a layer.
func (m Model) LayerWeights() (n int64) {
	for _, t := range m.Matrices() {
		n += t.Shape[0] * t.Shape[1]
	}
	return n
}

// LayerOutputs returns the number of outputs of all matrices in a layer. Each output has a scale.
func (m Model) LayerOutputs() (n int64) {
	for _, t := range m.Matrices() {
		n += t.Shape[0]
	}
	return n
}

// Tensor is a tensor that the architecture requires. The shape of a matrix is [outputs, inputs].
type Tensor struct {
	Name  string
	Shape []int64
}

// Matrices returns the matrices of a layer. Their names are relative to the layer, such as "mlp.up_proj".
func (m Model) Matrices() []Tensor {
	q, kv := m.Heads*m.HeadDim, m.KVHeads*m.HeadDim
	return []Tensor{
		{"self_attn.q_proj", []int64{q, m.Hidden}},
		{"self_attn.k_proj", []int64{kv, m.Hidden}},
		{"self_attn.v_proj", []int64{kv, m.Hidden}},
		{"self_attn.o_proj", []int64{m.Hidden, q}},
		{"mlp.gate_proj", []int64{m.Intermediate, m.Hidden}},
		{"mlp.up_proj", []int64{m.Intermediate, m.Hidden}},
		{"mlp.down_proj", []int64{m.Hidden, m.Intermediate}},
	}
}

// tensors returns all tensors of the architecture. A matrix has a bias if has returns true for it in the first
// layer.
func (m Model) tensors(has func(name string) bool) []Tensor {
	all := []Tensor{
		{"model.embed_tokens.weight", []int64{m.Vocabulary, m.Hidden}},
		{"model.norm.weight", []int64{m.Hidden}},
	}
	if !m.Tied {
		all = append(all, Tensor{head, []int64{m.Vocabulary, m.Hidden}})
	}
	norms := []Tensor{{"input_layernorm", []int64{m.Hidden}}, {"post_attention_layernorm", []int64{m.Hidden}}}
	if m.Architecture == "qwen3" {
		norms = append(norms, Tensor{"self_attn.q_norm", []int64{m.HeadDim}},
			Tensor{"self_attn.k_norm", []int64{m.HeadDim}})
	}
	for l := range m.Layers {
		at := fmt.Sprintf("model.layers.%d.", l)
		for _, t := range append(m.Matrices(), norms...) {
			all = append(all, Tensor{at + t.Name + ".weight", t.Shape})
			if has("model.layers.0." + t.Name + ".bias") {
				all = append(all, Tensor{at + t.Name + ".bias", t.Shape[:1]})
			}
		}
	}
	return all
}

// head is the name of the head's weights.
const head = "lm_head.weight"

// number is a size in config.json.
type number struct {
	key      string // key in config.json
	of       *int64
	most     int64 // largest valid value
	optional bool
}

func (m *Model) numbers() []number {
	return []number{
		{"num_hidden_layers", &m.Layers, 1000, false},
		{"hidden_size", &m.Hidden, 1 << 17, false},
		{"num_attention_heads", &m.Heads, 1 << 10, false},
		{"num_key_value_heads", &m.KVHeads, 1 << 10, true},
		{"head_dim", &m.HeadDim, 1 << 12, true},
		{"intermediate_size", &m.Intermediate, 1 << 19, false},
		{"vocab_size", &m.Vocabulary, 1 << 20, false},
	}
}

// Check returns an error if a size is invalid.
func (m Model) Check() error {
	var errs []error
	for _, n := range m.numbers() {
		if *n.of < 1 || *n.of > n.most {
			errs = append(errs, fmt.Errorf("%s is %d, but must be from 1 to %d", n.key, *n.of, n.most))
		}
	}
	switch {
	case errs != nil:
	case m.Heads%m.KVHeads != 0:
		errs = append(errs, fmt.Errorf("num_attention_heads %d is not a multiple of num_key_value_heads %d", m.Heads,
			m.KVHeads))
	case m.HeadDim%2 != 0:
		errs = append(errs, fmt.Errorf("head_dim is %d, but must be even", m.HeadDim))
	}
	return errors.Join(errs...)
}
