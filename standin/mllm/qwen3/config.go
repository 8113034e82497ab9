package qwen3

import (
	"encoding/json"
	"fmt"

	"github.com/hexmage/hexmage/internal/boundedfile"
)

// Config is a model's config.json. All keys are mandatory; unknown ones are ignored.
type Config struct {
	AttentionBias         bool    `json:"attention_bias"`
	BOSTokenID            int     `json:"bos_token_id"`
	EOSTokenID            int     `json:"eos_token_id"`
	HeadDim               int     `json:"head_dim"`
	HiddenSize            int     `json:"hidden_size"`
	IntermediateSize      int     `json:"intermediate_size"`
	LinearBlockSize       int     `json:"linear_block_size"`
	LinearImplType        string  `json:"linear_impl_type"`
	MaxCacheLength        int     `json:"max_cache_length"` // the context length, in tokens
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

// DefaultConfig is the model that the open profile runs.
func DefaultConfig() Config {
	return Config{
		HeadDim: 32, HiddenSize: 128, IntermediateSize: 256, LinearBlockSize: 16, LinearImplType: LinearImplType(16),
		MaxCacheLength: 256, MaxPositionEmbeddings: 1024, NumAttentionHeads: 4, NumHiddenLayers: 4, NumKeyValueHeads: 2,
		RMSNormEps: 1e-06, RopeTheta: 10000, TieWordEmbeddings: true, VocabSize: 512, BOSTokenID: 509, EOSTokenID: 511,
	}
}

// LinearImplType is the name upstream gives to LPBQ linears with this block size.
func LinearImplType(block int) string { return fmt.Sprintf("QNN_LPBQ_w4a16o16_G%d", block) }

// architecture is the value of a config's "architectures" entry.
const architecture = "Qwen3ForCausalLM"

// ReadConfig reads and checks a config.json.
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

// ParseConfig decodes and checks a config.
func ParseConfig(raw []byte) (Config, error) {
	var c Config
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(raw, &keys); err != nil {
		return c, err
	}
	for _, k := range configKeys() {
		if _, ok := keys[k]; !ok {
			hint := ""
			if k == "linear_block_size" {
				// The first words are those of upstream's quantiser.
				hint = ": Qwen3 LPBQ requires a positive `linear_block_size`, and stock configs lack it: add 16 or 32, the quantiser's block size"
			}
			return c, fmt.Errorf("key %q is missing%s", k, hint)
		}
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, err
	}
	return c, c.Validate()
}

func configKeys() []string {
	return []string{"attention_bias", "bos_token_id", "eos_token_id", "head_dim", "hidden_size", "intermediate_size",
		"linear_block_size", "linear_impl_type", "max_cache_length", "max_position_embeddings", "num_attention_heads",
		"num_hidden_layers", "num_key_value_heads", "rms_norm_eps", "rope_theta", "tie_word_embeddings", "vocab_size"}
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
	case c.RMSNormEps != 1e-06:
		return fmt.Errorf("rms_norm_eps is %v; the DSP op knows only 1e-06", c.RMSNormEps)
	case !c.TieWordEmbeddings:
		return fmt.Errorf("tie_word_embeddings is false; the ahead-of-time compiler has no lm_head for untied models")
	case c.AttentionBias:
		return fmt.Errorf("attention_bias is true; Qwen3 has none")
	case !(c.RopeTheta > 1):
		return fmt.Errorf("rope_theta is %v", c.RopeTheta)
	}
	return nil
}

// QSize is the width of q_proj's output, KVSize that of k_proj's and v_proj's.
func (c Config) QSize() int { return c.NumAttentionHeads * c.HeadDim }

// KVSize is the width of k_proj's and v_proj's output.
func (c Config) KVSize() int { return c.NumKeyValueHeads * c.HeadDim }

// Encode writes the config as JSON with the keys Hugging Face readers look for. Equal configs give equal bytes.
func (c Config) Encode() ([]byte, error) {
	type named struct {
		Architectures []string `json:"architectures"`
		ModelType     string   `json:"model_type"`
		HiddenAct     string   `json:"hidden_act"`
		Config
	}
	b, err := json.MarshalIndent(named{[]string{architecture}, "qwen3", "silu", c}, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(b, '\n'), nil
}
