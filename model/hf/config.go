package hf

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
)

// config reads config.json into the folder's Model. It returns false if the model's shapes are not known.
func (r *reader) config() bool {
	raw := r.read(configFile, maxConfig, true)
	if raw == nil {
		return false
	}
	var c map[string]any
	raw, err := Complete(raw)
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil {
		r.sayConfig("Damaged file", download, "file is not a JSON object (%v)", err)
		return false
	}
	if !r.architecture(c) {
		return false
	}
	r.attention(c)
	r.quantization(c)
	return r.numbers(c)
}

// sayConfig adds a problem of config.json.
func (r *reader) sayConfig(title, next, format string, args ...any) {
	r.say(title, configFile, next, format, args...)
}

// architecture returns false for a model with other tensors.
func (r *reader) architecture(c map[string]any) bool {
	known := Architectures()
	kind, _ := c["model_type"].(string)
	experts := strings.Contains(kind, "moe") || strings.Contains(kind, "mixtral")
	for _, key := range []string{"num_experts", "num_local_experts"} {
		n, _ := c[key].(float64)
		experts = experts || n > 0
	}
	const title = "Unsupported architecture"
	switch {
	case experts:
		r.sayConfig(title, "use a dense "+either(known)+" model", "model_type %q is a mixture of experts", kind)
		return false
	case c["model_type"] == nil: // as in the config.json of mllm's ahead-of-time compiler
		r.sayConfig("Missing architecture", ownConfig, "model_type is missing")
		return false
	case !slices.Contains(known, kind):
		r.sayConfig(title, "use a "+either(known)+" model", "model_type is %s", spelled(c["model_type"]))
		return false
	case r.needs.Architecture != "" && r.needs.Architecture != kind:
		r.sayConfig("Other architecture", `write architecture = "`+kind+`", or use the pipeline for `+kind,
			"model_type is %q, but the step needs %s", kind, r.needs.Architecture)
	}
	r.folder.Model.Architecture = kind
	return true
}

// numbers reads the model's sizes.
func (r *reader) numbers(c map[string]any) bool {
	m := &r.folder.Model
	before := len(r.problems)
	for _, n := range m.numbers() {
		v := c[n.key]
		f, isNumber := v.(float64)
		switch {
		case v == nil && n.optional:
		case v == nil:
			r.sayConfig("Missing number", ownConfig, "%s is missing", n.key)
		case !isNumber || f != math.Trunc(f) || f < 1 || f > float64(n.most):
			r.sayConfig("Number out of range", ownConfig, "%s is %s, but must be from 1 to %d", n.key, spelled(v), n.most)
		default:
			*n.of = int64(f)
		}
	}
	if len(r.problems) > before {
		return false
	}
	m.Tied, _ = c["tie_word_embeddings"].(bool)
	if err := m.Check(); err != nil {
		r.sayConfig("Number out of range", ownConfig, "%v", err)
		return false
	}
	r.blocks()
	return true
}

// blocks checks that the block size divides the input widths of matrices.
func (r *reader) blocks() {
	block, m := r.needs.BlockSize, r.folder.Model
	if block == 0 {
		return
	}
	for _, w := range []struct {
		key string
		is  int64
	}{{"hidden_size", m.Hidden}, {"intermediate_size", m.Intermediate},
		{"num_attention_heads × head_dim", m.Heads * m.HeadDim}} {
		if w.is%block != 0 {
			r.sayConfig("Block size", "choose another block size or model", "%s %d is not a multiple of block_size %d",
				w.key, w.is, block)
		}
	}
}

// attention checks for an activation and attention that graphs do not support.
func (r *reader) attention(c map[string]any) {
	if act, ok := c["hidden_act"]; ok && act != nil && act != "silu" {
		r.sayConfig("Unsupported activation", "use a model with silu", "hidden_act is %s", spelled(act))
	}
	const title, next = "Sliding window", "use a model with full attention"
	layers, _ := c["layer_types"].([]any)
	other := func(v any) bool { return v != "full_attention" }
	switch i := slices.IndexFunc(layers, other); {
	case c["use_sliding_window"] == true:
		r.sayConfig(title, next, "use_sliding_window is true")
	case i >= 0:
		r.sayConfig(title, next, "layer_types has %s", spelled(layers[i]))
	}
	r.rope(c)
}

// rope checks the scaling of the rotary embedding.
func (r *reader) rope(c map[string]any) {
	const title = "RoPE scaling"
	key := "rope_scaling"
	if c[key] == nil {
		key = "rope_parameters"
	}
	s, _ := c[key].(map[string]any)
	kind := s["rope_type"]
	if kind == nil {
		kind = s["type"]
	}
	var parameters []string
	switch kind {
	case nil, "default", "mrope":
	case "linear":
		parameters = []string{"factor"}
	case "llama3":
		parameters = []string{"factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"}
	default:
		r.sayConfig(title, "use a model with default, linear or llama3 scaling", "%s is %s", key, spelled(kind))
	}
	for _, p := range parameters {
		if n, _ := s[p].(float64); n <= 0 {
			r.sayConfig(title, ownConfig, "%s of %s is %s", p, key, spelled(s[p]))
		}
	}
}

// quantization rejects a checkpoint with quantized weights.
func (r *reader) quantization(c map[string]any) {
	q, ok := c["quantization_config"].(map[string]any)
	if !ok || r.needs.Types == nil {
		return
	}
	method, _ := q["quant_method"].(string)
	if method == "" && (q["load_in_4bit"] == true || q["load_in_8bit"] == true) {
		method = "bitsandbytes"
	}
	r.quantized = true
	r.sayConfig("Quantized checkpoint", floats, "quantization_config is %q", method)
}

// spelled returns a value in JSON.
func spelled(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "not JSON"
	}
	return string(b)
}

// either joins words with "or".
func either(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
