package hf

import (
	"errors"
	"fmt"
)

// Model is the part of a decoder's description that decides how much memory it takes.
type Model struct {
	Architecture string `json:"model_type"`
	Layers       int64  `json:"num_hidden_layers"`
	Hidden       int64  `json:"hidden_size"`
	Heads        int64  `json:"num_attention_heads"`
	KVHeads      int64  `json:"num_key_value_heads"`
	HeadDim      int64  `json:"head_dim"`
	Intermediate int64  `json:"intermediate_size"`
	Vocabulary   int64  `json:"vocab_size"`
	Tied         bool   `json:"tie_word_embeddings"` // the head is the embedding, as a file has it
}

// Architectures returns the architectures that onnx_llm makes graphs of.
func Architectures() []string { return []string{"llama", "qwen2", "qwen3"} }

// Parameters is how many weights the model has, the head's once more only if it has weights of its own.
func (m Model) Parameters() int64 {
	n := m.Layers*m.LayerWeights() + m.Vocabulary*m.Hidden
	if !m.Tied {
		n += m.Vocabulary * m.Hidden
	}
	return n
}

// LayerWeights is how many weights the matrices of a layer have.
func (m Model) LayerWeights() (n int64) {
	for _, t := range m.Matrices() {
		n += t.Shape[0] * t.Shape[1]
	}
	return n
}

// LayerOutputs is how many outputs those matrices have together: each has a scale.
func (m Model) LayerOutputs() (n int64) {
	for _, t := range m.Matrices() {
		n += t.Shape[0]
	}
	return n
}

// Tensor is a tensor that the architecture has. Matrices are [outputs, inputs].
type Tensor struct {
	Name  string
	Shape []int64
}

// Matrices are those of a layer, with names inside the layer such as "mlp.up_proj".
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

// tensors are all that the architecture has. Those for which has returns true in the first layer have biases.
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

// head is the head's weights.
const head = "lm_head.weight"

// number is a number of a model.
type number struct {
	key      string // in config.json
	of       *int64
	most     int64 // more has no model
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

// Check returns why no model has such numbers.
func (m Model) Check() error {
	var errs []error
	for _, n := range m.numbers() {
		if *n.of < 1 || *n.of > n.most {
			errs = append(errs, fmt.Errorf("%s is %d, the limits are 1 and %d", n.key, *n.of, n.most))
		}
	}
	switch {
	case errs != nil:
	case m.Heads%m.KVHeads != 0:
		errs = append(errs, fmt.Errorf("num_attention_heads %d is not a multiple of num_key_value_heads %d", m.Heads,
			m.KVHeads))
	case m.HeadDim%2 != 0:
		errs = append(errs, fmt.Errorf("head_dim %d is odd", m.HeadDim))
	}
	return errors.Join(errs...)
}
