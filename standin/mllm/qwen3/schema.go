package qwen3

import (
	"fmt"

	"github.com/hexmage/hexmage/model/mllm"
)

// TensorSpec is a tensor that a quantised model must have.
type TensorSpec struct {
	Name  string
	DType mllm.DType
	Shape []int64 // empty: one element
}

// LinearSpec names a linear layer and its widths.
type LinearSpec struct {
	Name    string
	In, Out int
}

// Linears lists the linear layers in order of use.
func (c Config) Linears() []LinearSpec {
	var out []LinearSpec
	for l := range c.NumHiddenLayers {
		a, m := fmt.Sprintf("model.layers.%d.self_attn.", l), fmt.Sprintf("model.layers.%d.mlp.", l)
		out = append(out,
			LinearSpec{a + "q_proj", c.HiddenSize, c.QSize()},
			LinearSpec{a + "k_proj", c.HiddenSize, c.KVSize()},
			LinearSpec{a + "v_proj", c.HiddenSize, c.KVSize()},
			LinearSpec{a + "o_proj", c.QSize(), c.HiddenSize},
			LinearSpec{m + "gate_proj", c.HiddenSize, c.IntermediateSize},
			LinearSpec{m + "up_proj", c.HiddenSize, c.IntermediateSize},
			LinearSpec{m + "down_proj", c.IntermediateSize, c.HiddenSize})
	}
	return append(out, LinearSpec{"lm_head", c.HiddenSize, c.VocabSize})
}

// NormSpec names a norm layer and its width.
type NormSpec struct {
	Name string
	Dim  int
}

// Norms lists the norm layers.
func (c Config) Norms() []NormSpec {
	var out []NormSpec
	for l := range c.NumHiddenLayers {
		p := fmt.Sprintf("model.layers.%d.", l)
		out = append(out,
			NormSpec{p + "input_layernorm", c.HiddenSize},
			NormSpec{p + "post_attention_layernorm", c.HiddenSize},
			NormSpec{p + "self_attn.q_norm", c.HeadDim},
			NormSpec{p + "self_attn.k_norm", c.HeadDim})
	}
	return append(out, NormSpec{"model.norm", c.HiddenSize})
}

// The names of activations, after "model.layers.L.".
const (
	ActLayerInput = "input_layernorm_input_qdq"
	ActAttnInput  = "self_attn.q_proj_input_qdq"
	ActQ          = "self_attn.q_norm_input_qdq"
	ActK          = "self_attn.k_norm_input_qdq"
	ActV          = "self_attn.v_cast_to_int16_qdq"
	ActQNorm      = "self_attn.q_norm_output_qdq"
	ActKNorm      = "self_attn.k_norm_output_qdq"
	ActQRope      = "self_attn.q_rope_add_0_output_qdq"
	ActKRope      = "self_attn.k_rope_add_0_output_qdq"
	ActKCache     = "self_attn.k_cast_to_int8_qdq"
	ActVCache     = "self_attn.v_cast_to_int8_qdq"
	ActScores     = "self_attn.mul_0_output_qdq"
	ActSoftmax    = "self_attn.softmax_output_qdq"
	ActAttn       = "self_attn.attn_value_matmul_output_qdq"
	ActAttnOut    = "add_0_lhs_input_qdq"
	ActAdd0       = "add_0_output_qdq"
	ActMLPInput   = "mlp.up_proj_input_qdq"
	ActGate       = "mlp.gate_proj_output_qdq"
	ActUp         = "mlp.up_proj_output_qdq"
	ActSiLU       = "mlp.act_output_qdq"
	ActMul        = "mlp.down_proj_input_qdq"
	ActMLPOut     = "add_1_lhs_input_qdq"
)

// The names of activations outside layers, whole.
const (
	ActFinal   = "model.norm_input_qdq"
	ActHead    = "lm_head_input_qdq"
	ActLogits  = "lm_head_output_qdq"
	ActSin     = "model.sin_embedding_input_qdq"
	ActCos     = "model.cos_embedding_input_qdq"
	SinTable   = "model.mllm_max_sin_embedding"
	CosTable   = "model.mllm_max_cos_embedding"
	Embedding  = "model.embed_tokens"
	LMHead     = "lm_head"
	FinalNorm  = "model.norm"
	fakeQuant  = ".fake_quant."
	fixedTable = 32768 // zero point of the sin and cos tables
)

// LayerAct is the full name of a layer's activation.
func LayerAct(layer int, act string) string { return fmt.Sprintf("model.layers.%d.%s", layer, act) }

// HiddenAct is the activation that layer's input (or, for the number of layers, the final norm's) is quantised with.
// Layer 0's is the embedding's own and has no activation; the name is then "".
func (c Config) HiddenAct(layer int) string {
	switch layer {
	case 0:
		return ""
	case c.NumHiddenLayers:
		return ActFinal
	}
	return LayerAct(layer, ActLayerInput)
}

// layerActs lists what every layer has; ActLayerInput is missing in layer 0.
func layerActs() []string {
	return []string{ActAttnInput, ActQ, ActK, ActV, ActQNorm, ActKNorm, ActQRope, ActKRope, ActKCache, ActVCache, ActScores, ActSoftmax,
		ActAttn, ActAttnOut, ActAdd0, ActMLPInput, ActGate, ActUp, ActSiLU, ActMul, ActMLPOut}
}

// Activations lists the full names of all quantised activations.
func (c Config) Activations() []string {
	out := []string{ActFinal, ActHead, ActLogits, ActSin, ActCos}
	for l := range c.NumHiddenLayers {
		if l > 0 {
			out = append(out, LayerAct(l, ActLayerInput))
		}
		for _, a := range layerActs() {
			out = append(out, LayerAct(l, a))
		}
	}
	return out
}

// Schema lists every tensor of a quantised model (docs/design/0002 §2.2).
func (c Config) Schema() []TensorSpec {
	i := func(v ...int) []int64 {
		out := make([]int64, len(v))
		for k, x := range v {
			out[k] = int64(x)
		}
		return out
	}
	var out []TensorSpec
	affine := func(name string, shape []int64) {
		out = append(out, TensorSpec{name + "scale", mllm.Float32, shape}, TensorSpec{name + "zero_point", mllm.Int32, shape})
	}
	out = append(out, TensorSpec{Embedding + ".weight", mllm.Uint16, i(c.VocabSize, c.HiddenSize)})
	affine(Embedding+".", nil)
	for _, n := range c.Norms() {
		out = append(out, TensorSpec{n.Name + ".weight", mllm.Uint16, i(n.Dim)})
		affine(n.Name+".", nil)
	}
	for _, l := range c.Linears() {
		out = append(out,
			TensorSpec{l.Name + ".weight", mllm.Int8, i(1, 1, l.In, l.Out)},
			TensorSpec{l.Name + ".scale1", mllm.Uint8, i(l.Out * l.In / c.LinearBlockSize)},
			TensorSpec{l.Name + ".scale2", mllm.Float32, i(l.Out)})
	}
	for _, n := range []string{SinTable, CosTable} {
		out = append(out, TensorSpec{n, mllm.Uint16, i(1, c.MaxCacheLength, c.HeadDim)})
	}
	for _, a := range c.Activations() {
		affine(a+fakeQuant, i(1))
	}
	return out
}
