package aotconfig

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// FixedOutput returns the fixed name of an mllm compiler's output file in the working directory. For a compiler with
// the flag -o, it returns "".
func FixedOutput(program string) string {
	return map[string]string{
		"mllm-qwen2-aot-c": "qwen2-lpbq.bin", "mllm-qwen2-aot-c-sha": "qwen2-lpbq-sha.bin",
		"mllm-llama-aot-c": "llama-lpbq.bin", "mllm-llama-aot-c-sha": "llama-lpbq-sha.bin",
	}[program]
}

// maxCache is the max_cache_length in every config of mllm, in tokens.
const maxCache = 2048

// implType returns mllm's name for LPBQ linears with this block size.
func implType(block int) string { return fmt.Sprintf("QNN_LPBQ_w4a16o16_G%d", block) }

// Keys returns the keys that mllm's compilers and runners need in a model's config. For a missing key, they fail with
// nlohmann's type_error.302, which does not name the key.
func Keys(modelType string) []string {
	keys := []string{"attention_bias", "bos_token_id", "eos_token_id", "head_dim", "hidden_size", "intermediate_size", "linear_impl_type", "max_cache_length",
		"max_position_embeddings", "num_attention_heads", "num_hidden_layers", "num_key_value_heads", "rms_norm_eps", "rope_theta", "tie_word_embeddings", "vocab_size"}
	if modelType == "llama" {
		keys = append(keys, "hidden_act")
	}
	return keys
}

// WriteModel adds mllm's own keys to a model's complete config.json, and sorts all keys.
func WriteModel(raw []byte, m Model) ([]byte, error) {
	var c map[string]any
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber() // keeps the spelling of 1e-06
	if err := d.Decode(&c); err != nil {
		return nil, err
	}
	add := func(key string, value any) {
		if c[key] == nil {
			c[key] = value
		}
	}
	add("linear_impl_type", implType(m.BlockSize))
	if most, ok := whole(c["max_position_embeddings"]); ok {
		add("max_cache_length", min(maxCache, most))
	}
	if all, ok := c["eos_token_id"].([]any); ok && len(all) > 0 {
		c["eos_token_id"] = all[len(all)-1] // as in mllm's own config for Llama 3.2; its programs read one number
	}
	var missing []string
	for _, k := range Keys(m.Type) {
		switch c[k].(type) {
		case nil, []any, map[string]any:
			missing = append(missing, k)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return nil, fmt.Errorf("config.json lacks keys that mllm's programs need: set %s, each to a single value",
			strings.Join(missing, ", "))
	}
	out, err := json.MarshalIndent(c, "", "  ")
	return append(out, '\n'), err
}

func whole(v any) (int64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := n.Int64()
	return i, err == nil
}
