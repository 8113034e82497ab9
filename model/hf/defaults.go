package hf

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Complete adds missing keys to a config.json, with the defaults of transformers. It does not change or check existing
// keys.
//
// Two defaults depend on other keys. For rope_theta, Complete first reads rope_parameters, where transformers 5 writes
// it. For Qwen2, attention_bias is true, because its projections always have biases.
func Complete(raw []byte) ([]byte, error) {
	var c map[string]json.RawMessage // numbers keep their spelling
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	if c == nil {
		return nil, errors.New("the file is not a JSON object")
	}
	whole := func(key string) (n int64) {
		if json.Unmarshal(c[key], &n) != nil {
			return 0
		}
		return n
	}
	var kind string
	var rope struct {
		Theta *float64 `json:"rope_theta"`
	}
	_ = json.Unmarshal(c["model_type"], &kind)
	_ = json.Unmarshal(c["rope_parameters"], &rope)
	defaults := map[string]any{"rms_norm_eps": json.RawMessage("1e-06"), "rope_theta": 10000, "hidden_act": "silu",
		"tie_word_embeddings": false, "attention_bias": false, "max_position_embeddings": 32768}
	if heads := whole("num_attention_heads"); heads > 0 {
		defaults["num_key_value_heads"], defaults["head_dim"] = heads, whole("hidden_size")/heads
	}
	if rope.Theta != nil {
		defaults["rope_theta"] = rope.Theta
	}
	switch kind {
	case "llama":
		defaults["max_position_embeddings"] = 2048
	case "qwen2":
		c["attention_bias"] = json.RawMessage("true")
	case "qwen3":
		defaults["head_dim"] = 128
	}
	for key, value := range defaults {
		if v, ok := c[key]; ok && !bytes.Equal(v, []byte("null")) {
			continue
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		c[key] = text
	}
	out, err := json.MarshalIndent(c, "", "  ")
	return append(out, '\n'), err
}
