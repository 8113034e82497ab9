package hf_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/model/hf"
)

// TestComplete: each architecture gets the defaults of transformers, and the values that are there stay.
func TestComplete(t *testing.T) {
	common := map[string]any{"rms_norm_eps": 1e-6, "rope_theta": 10000.0, "hidden_act": "silu",
		"tie_word_embeddings": false, "attention_bias": false, "max_position_embeddings": 32768.0}
	sizes := map[string]any{"hidden_size": 96.0, "num_attention_heads": 4.0, "num_key_value_heads": 4.0, "head_dim": 24.0}
	for name, c := range map[string]struct{ given, want map[string]any }{
		"qwen3": {map[string]any{"model_type": "qwen3"}, map[string]any{"head_dim": 128.0}},
		"qwen2": {map[string]any{"model_type": "qwen2"}, map[string]any{"attention_bias": true}},
		"llama": {map[string]any{"model_type": "llama"}, map[string]any{"max_position_embeddings": 2048.0}},
		"qwen2 without biases": {map[string]any{"model_type": "qwen2", "attention_bias": false},
			map[string]any{"attention_bias": true}},
		"given": {map[string]any{"model_type": "qwen3", "head_dim": 32.0, "num_key_value_heads": 2.0, "rope_theta": 1e6,
			"tie_word_embeddings": true, "max_position_embeddings": 256.0, "rms_norm_eps": 1e-5}, nil},
		"null": {map[string]any{"model_type": "llama", "num_key_value_heads": nil, "head_dim": nil, "rope_scaling": nil},
			map[string]any{"num_key_value_heads": 4.0, "head_dim": 24.0, "max_position_embeddings": 2048.0}},
		"transformers 5": {map[string]any{"model_type": "qwen2", "dtype": "bfloat16",
			"rope_parameters": map[string]any{"rope_theta": 1e6, "rope_type": "default"}},
			map[string]any{"rope_theta": 1e6, "attention_bias": true}},
	} {
		given, want := map[string]any{"hidden_size": 96.0, "num_attention_heads": 4.0}, map[string]any{}
		for _, part := range []map[string]any{common, sizes, c.given, c.want} {
			for k, v := range part {
				want[k] = v
			}
		}
		for k, v := range c.given {
			given[k] = v
		}
		raw, err := json.Marshal(given)
		if err != nil {
			t.Fatal(err)
		}
		made, err := hf.Complete(raw)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got map[string]any
		if err := json.Unmarshal(made, &got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if again, err := hf.Complete(made); err != nil || string(again) != string(made) {
			t.Errorf("%s: a complete config changes: %v\n%s", name, err, again)
		}
	}
}

func TestCompleteRejects(t *testing.T) {
	for raw, want := range map[string]string{"{": "unexpected end", "null": "not a JSON object", "[]": "cannot unmarshal"} {
		if _, err := hf.Complete([]byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", raw, err, want)
		}
	}
}
