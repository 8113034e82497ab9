package toymodel

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/model/aotconfig"
	"github.com/hexmage/hexmage/model/hf"
	"github.com/hexmage/hexmage/model/mllm"
	"github.com/hexmage/hexmage/qnn"
)

// Config is a model's config.json in the two forms that it has: the hub's, which quantisers read, and upstream's, which its compiler and
// runner read. Of each form all keys are mandatory; unknown ones are ignored.
type Config struct {
	ModelType             string  `json:"model_type,omitempty"` // the architecture: qwen3, which "" is, qwen2 or llama; see Architecture
	AttentionBias         bool    `json:"attention_bias"`
	BOSTokenID            int     `json:"bos_token_id"`
	EOSTokenID            int     `json:"eos_token_id"`
	HeadDim               int     `json:"head_dim"`
	HiddenSize            int     `json:"hidden_size"`
	IntermediateSize      int     `json:"intermediate_size"`
	LinearBlockSize       int     `json:"linear_block_size"`          // the hub's form, once a quantiser's user has added it
	LinearImplType        string  `json:"linear_impl_type,omitempty"` // upstream's form alone
	MaxCacheLength        int     `json:"max_cache_length,omitempty"` // upstream's form alone: the context length, in tokens
	MaxPositionEmbeddings int     `json:"max_position_embeddings"`
	NumAttentionHeads     int     `json:"num_attention_heads"`
	NumHiddenLayers       int     `json:"num_hidden_layers"`
	NumKeyValueHeads      int     `json:"num_key_value_heads"`
	RMSNormEps            float64 `json:"rms_norm_eps"`
	RopeTheta             float64 `json:"rope_theta"`
	TieWordEmbeddings     bool    `json:"tie_word_embeddings"`
	VocabSize             int     `json:"vocab_size"`
}

// maxConfig bounds a config file, in bytes.
const maxConfig = 1 << 20

// DefaultConfig is the model that the simulated profile runs.
func DefaultConfig() Config {
	return Config{
		ModelType: "qwen3", HeadDim: 32, HiddenSize: 128, IntermediateSize: 256, LinearBlockSize: 16, LinearImplType: LinearImplType(16),
		MaxCacheLength: 256, MaxPositionEmbeddings: 256, NumAttentionHeads: 4, NumHiddenLayers: 4, NumKeyValueHeads: 2,
		RMSNormEps: 1e-06, RopeTheta: 10000, TieWordEmbeddings: true, VocabSize: 512, BOSTokenID: 509, EOSTokenID: 511,
	}
}

// LinearImplType is the name upstream gives to LPBQ linears with this block size.
func LinearImplType(block int) string { return fmt.Sprintf("QNN_LPBQ_w4a16o16_G%d", block) }

// Architecture is the model's: qwen3, qwen2 or llama. The latter two have no norms of heads, and qwen2 has biases of what heads are made by.
func (c Config) Architecture() string { return cmp.Or(c.ModelType, "qwen3") }

// HeadNorms tells whether what attention compares is normalised in each head.
func (c Config) HeadNorms() bool { return c.Architecture() == "qwen3" }

// classes are the values of a config's "architectures" entry.
func classes() map[string]string {
	return map[string]string{"qwen3": "Qwen3ForCausalLM", "qwen2": "Qwen2ForCausalLM", "llama": "LlamaForCausalLM"}
}

// ReadConfig reads and checks a config.json as upstream's compiler and runner read it.
func ReadConfig(path string) (Config, error) {
	raw, err := boundedfile.Read(path, maxConfig)
	if err != nil {
		return Config{}, err
	}
	c, err := ParseConfig(raw)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// ParseConfig decodes and checks a config as upstream's compiler and runner read it: the block size is in the name of the linears.
func ParseConfig(raw []byte) (Config, error) {
	var keys map[string]any
	if err := json.Unmarshal(raw, &keys); err != nil {
		return Config{}, err
	}
	var c Config
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, err
	}
	for _, k := range aotconfig.Keys(c.Architecture()) {
		if keys[k] == nil { // the number and the words after it are those of upstream's JSON library, which does not say which key
			return Config{}, fmt.Errorf("key %q is missing: [json.exception.type_error.302] type must not be null", k)
		}
	}
	c.LinearBlockSize = 0
	for _, block := range []int{16, 32, 64} {
		if c.LinearImplType == LinearImplType(block) {
			c.LinearBlockSize = block
		}
	}
	return c, cmp.Or(c.Validate(), c.CheckNorm())
}

// ReadHub reads and checks a config.json as the hub has it, of a model that the simulation's ops are to compute.
func ReadHub(path string) (Config, error) {
	raw, err := boundedfile.Read(path, maxConfig)
	if err != nil {
		return Config{}, err
	}
	c, err := ParseHub(raw, 0)
	if err == nil {
		err = c.CheckNorm()
	}
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// ParseHub decodes and checks a config as the hub has it, with transformers' defaults and the linear_block_size that
// mllm's quantizer needs. A block other than 0 replaces linear_block_size. The context is as long as the model's
// positions, as in the config that is written for mllm's programs.
func ParseHub(raw []byte, block int) (Config, error) {
	var c Config
	var keys map[string]any
	raw, err := hf.Complete(raw)
	if err == nil {
		err = cmp.Or(json.Unmarshal(raw, &keys), json.Unmarshal(raw, &c))
	}
	if err != nil {
		return c, err
	}
	c.LinearBlockSize = cmp.Or(block, c.LinearBlockSize)
	if c.LinearBlockSize == 0 { // the first words are those of mllm's quantizer
		which := "16 or 32"
		if c.Architecture() != "qwen3" {
			which = "32"
		}
		return c, fmt.Errorf("key \"linear_block_size\" is missing: Qwen3 LPBQ requires a positive `linear_block_size`, "+
			"and stock configs lack it: add %s, the quantizer's block size", which)
	}
	c.LinearImplType, c.MaxCacheLength = LinearImplType(c.LinearBlockSize), c.MaxPositionEmbeddings
	var missing []string
	for _, k := range aotconfig.Keys(c.Architecture()) {
		if keys[k] == nil && k != "linear_impl_type" && k != "max_cache_length" {
			missing = append(missing, k)
		}
	}
	if len(missing) > 0 {
		return c, fmt.Errorf("keys are missing: add %s to config.json", strings.Join(missing, ", "))
	}
	return c, c.Validate()
}

// Validate checks the limits of docs/design/0002 §2.
func (c Config) Validate() error {
	limits := []struct {
		key            string
		v, least, most int
	}{
		{"vocab_size", c.VocabSize, 1, 65536},
		{"hidden_size", c.HiddenSize, 2, 4096},
		{"num_hidden_layers", c.NumHiddenLayers, 1, 64},
		{"num_attention_heads", c.NumAttentionHeads, 1, 64},
		{"num_key_value_heads", c.NumKeyValueHeads, 1, 64},
		{"head_dim", c.HeadDim, 2, 256},
		{"intermediate_size", c.IntermediateSize, 2, 16384},
		{"max_cache_length", c.MaxCacheLength, 1, 4096},
		{"linear_block_size", c.LinearBlockSize, 16, 64},
		{"bos_token_id", c.BOSTokenID, 0, c.VocabSize - 1},
		{"eos_token_id", c.EOSTokenID, 0, c.VocabSize - 1},
	}
	for _, l := range limits {
		if l.v < l.least || l.v > l.most {
			return fmt.Errorf("%s is %d, not in %d..%d", l.key, l.v, l.least, l.most)
		}
	}
	b := c.LinearBlockSize
	switch {
	case b != 16 && b != 32 && b != 64:
		return fmt.Errorf("linear_block_size is %d; choose 16, 32 or 64", b)
	case c.LinearImplType != LinearImplType(b):
		return fmt.Errorf("linear_impl_type %q does not fit linear_block_size %d; expected %q", c.LinearImplType, b, LinearImplType(b))
	case c.HeadDim%2 != 0:
		return fmt.Errorf("head_dim %d is odd", c.HeadDim)
	case c.NumAttentionHeads%c.NumKeyValueHeads != 0:
		return fmt.Errorf("num_attention_heads %d is not a multiple of num_key_value_heads %d", c.NumAttentionHeads, c.NumKeyValueHeads)
	case c.HiddenSize%b != 0 || c.IntermediateSize%b != 0 || c.QSize()%b != 0:
		return fmt.Errorf("hidden_size %d, intermediate_size %d and heads*head_dim %d must be multiples of linear_block_size %d",
			c.HiddenSize, c.IntermediateSize, c.QSize(), b)
	case c.VocabSize%2 != 0:
		return fmt.Errorf("vocab_size %d is odd; int4 weights are packed in pairs of outputs", c.VocabSize)
	case !(c.RMSNormEps > 0 && c.RMSNormEps < 1):
		return fmt.Errorf("rms_norm_eps is %v, not between 0 and 1", c.RMSNormEps)
	case !c.TieWordEmbeddings:
		return fmt.Errorf("tie_word_embeddings is false; the ahead-of-time compiler has no lm_head for untied models")
	case classes()[c.Architecture()] == "":
		return fmt.Errorf("model_type is %q, not qwen3, qwen2 or llama", c.ModelType)
	case c.AttentionBias != (c.Architecture() == "qwen2"):
		return fmt.Errorf("attention_bias is %v; qwen2 has biases, and qwen3 and llama have none", c.AttentionBias)
	case c.Architecture() != "qwen3" && b != 32:
		return fmt.Errorf("linear_block_size is %d; upstream has it fixed at 32 for %s", b, c.ModelType)
	case !(c.RopeTheta > 1):
		return fmt.Errorf("rope_theta is %v", c.RopeTheta)
	}
	return nil
}

// CheckNorm says what keeps the simulation's own ops from this model: their normalisation has no parameter.
func (c Config) CheckNorm() error {
	switch {
	case c.RMSNormEps != 1e-06:
		return fmt.Errorf("rms_norm_eps is %v; the DSP op knows only 1e-06", c.RMSNormEps)
	case c.HiddenSize%c.HeadDim != 0:
		return fmt.Errorf("hidden_size %d is not a multiple of head_dim %d", c.HiddenSize, c.HeadDim)
	}
	return nil
}

// QSize is the width of q_proj's output, KVSize that of k_proj's and v_proj's.
func (c Config) QSize() int { return c.NumAttentionHeads * c.HeadDim }

// KVSize is the width of k_proj's and v_proj's output.
func (c Config) KVSize() int { return c.NumKeyValueHeads * c.HeadDim }

// Encode writes the config as the hub has it. Equal configs give equal bytes.
func (c Config) Encode() ([]byte, error) {
	c.LinearImplType, c.MaxCacheLength = "", 0
	type named struct {
		NameOrPath    string   `json:"_name_or_path"`
		Architectures []string `json:"architectures"`
		ModelType     string   `json:"model_type"`
		HiddenAct     string   `json:"hidden_act"`
		Config
	}
	kind := c.Architecture()
	b, err := json.MarshalIndent(named{qnn.Simulated, []string{classes()[kind]}, kind, "silu", c}, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(b, '\n'), nil
}

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
			NormSpec{p + "post_attention_layernorm", c.HiddenSize})
		if c.HeadNorms() {
			out = append(out, NormSpec{p + "self_attn.q_norm", c.HeadDim}, NormSpec{p + "self_attn.k_norm", c.HeadDim})
		}
	}
	return append(out, NormSpec{"model.norm", c.HiddenSize})
}

// Biases lists the linear layers that have one.
func (c Config) Biases() []LinearSpec {
	var out []LinearSpec
	for _, l := range c.Linears() {
		if c.AttentionBias && (strings.HasSuffix(l.Name, ".q_proj") || strings.HasSuffix(l.Name, ".k_proj") || strings.HasSuffix(l.Name, ".v_proj")) {
			out = append(out, l)
		}
	}
	return out
}

// Names of tensors and activations outside layers.
const (
	Embedding = "model.embed_tokens"
	LMHead    = "lm_head"

	finalNormInput = "model.norm_input_qdq"
	headInput      = "lm_head_input_qdq"
	fakeQuant      = ".fake_quant."
)

// layerActs lists the activations of a layer that mllm quantizes, after "model.layers.L.".
func (c Config) layerActs() []string {
	acts := []string{"q_rope_add_0_output", "k_rope_add_0_output", "k_cast_to_int8", "v_cast_to_int8", "v_cast_to_int16", "mul_0_output",
		"softmax_output", "attn_value_matmul_output", "q_rope_mul_0_output", "q_rope_mul_1_output", "k_rope_mul_0_output", "k_rope_mul_1_output",
		"q_rope_neg_half", "k_rope_neg_half", "qk_matmul_output", "scaling", "reduce_min_output", "neg_20", "minus_0_output", "where_attn", "q_proj_input"}
	if c.HeadNorms() {
		acts = append(acts, "q_norm_input", "k_norm_input", "q_norm_output", "k_norm_output")
	} else {
		acts = append(acts, "v_proj_input", "q_proj_output", "k_proj_output", "k_proj_input")
	}
	for i := range acts {
		acts[i] = "self_attn." + acts[i] + "_qdq"
	}
	for _, a := range []string{"add_0_lhs_input", "add_0_output", "add_1_lhs_input", "mlp.up_proj_input", "mlp.up_proj_output",
		"mlp.gate_proj_output", "mlp.act_output", "mlp.sigmoid_output", "mlp.down_proj_input"} {
		acts = append(acts, a+"_qdq")
	}
	return acts
}

// normActs returns the activations that go into a norm of a layer and come out of it.
func (c Config) normActs(layer int, name string) (in, out string) {
	at := fmt.Sprintf("model.layers.%d.", layer)
	switch norm := name[strings.LastIndexByte(name, '.')+1:]; norm {
	case "input_layernorm":
		in, out = at+"input_layernorm_input_qdq", at+"self_attn.q_proj_input_qdq"
		if layer == 0 {
			in = Embedding
		}
		if !c.HeadNorms() {
			out = at + "self_attn.v_proj_input_qdq"
		}
		return in, out
	case "post_attention_layernorm":
		return at + "add_0_output_qdq", at + "mlp.up_proj_input_qdq"
	case "q_norm", "k_norm":
		return at + "self_attn." + norm + "_input_qdq", at + "self_attn." + norm + "_output_qdq"
	}
	return finalNormInput, headInput
}

// Activations lists the full names of all quantized activations.
func (c Config) Activations() []string {
	out := []string{finalNormInput, headInput, "lm_head_output_qdq", "model.sin_embedding_input_qdq", "model.cos_embedding_input_qdq"}
	for l := range c.NumHiddenLayers {
		at := fmt.Sprintf("model.layers.%d.", l)
		if l > 0 { // layer 0 has the embedding's quantization
			out = append(out, at+"input_layernorm_input_qdq")
		}
		for _, a := range c.layerActs() {
			out = append(out, at+a)
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
	affine(Embedding+".", i(1))
	for _, n := range c.Norms() {
		out = append(out, TensorSpec{n.Name + ".weight", mllm.Uint16, i(n.Dim)})
		affine(n.Name+".", i(1))
	}
	for _, l := range c.Linears() {
		out = append(out,
			TensorSpec{l.Name + ".weight", mllm.Int8, i(1, 1, l.In, l.Out)},
			TensorSpec{l.Name + ".scale1", mllm.Uint8, i(l.Out * l.In / c.LinearBlockSize)},
			TensorSpec{l.Name + ".scale2", mllm.Float32, i(l.Out)})
	}
	for _, l := range c.Biases() {
		out = append(out, TensorSpec{l.Name + ".bias", mllm.Float32, i(l.Out)})
	}
	for _, n := range []string{"model.mllm_max_sin_embedding", "model.mllm_max_cos_embedding"} {
		out = append(out, TensorSpec{n, mllm.Uint16, i(1, c.MaxCacheLength, c.HeadDim)})
	}
	for _, a := range c.Activations() {
		affine(a+fakeQuant, i(1))
	}
	return out
}
