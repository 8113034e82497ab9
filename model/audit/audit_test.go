package audit_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/tool/tooltest"
	"github.com/hexmage/hexmage/model/audit"
	"github.com/hexmage/hexmage/model/hf"
	"github.com/hexmage/hexmage/model/mllm"
)

// quantized makes a small quantized model of zeros with mllm's names, and returns its .mllm file and its config.json.
func quantized(t *testing.T, architecture string) (model, config string) {
	t.Helper()
	var sources []mllm.Source
	add := func(name string, d mllm.DType, element []byte, shape ...int64) {
		n := 1
		for _, dim := range shape {
			n *= int(dim)
		}
		data := bytes.Repeat(element, n)
		sources = append(sources, mllm.Source{Name: name, DType: d, Shape: shape, Size: int64(len(data)),
			Write: func(w io.Writer) error { _, err := w.Write(data); return err }})
	}
	float := func(v float32) []byte { return binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)) }
	add("model.embed_tokens.weight", mllm.Uint16, []byte{0, 0}, 512, 128)
	for l := range 2 {
		at := fmt.Sprintf("model.layers.%d.", l)
		add(at+"input_layernorm.weight", mllm.Uint16, []byte{0, 0}, 128)
		for name, shape := range map[string][2]int64{"self_attn.q_proj": {128, 128}, "self_attn.k_proj": {128, 64},
			"self_attn.v_proj": {128, 64}, "self_attn.o_proj": {128, 128},
			"mlp.gate_proj": {128, 256}, "mlp.up_proj": {128, 256}, "mlp.down_proj": {256, 128}} {
			add(at+name+".weight", mllm.Int8, []byte{0}, 1, 1, shape[0], shape[1])
			biased := []string{"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"}
			if architecture == "qwen2" && slices.Contains(biased, name) {
				add(at+name+".bias", mllm.Float32, float(0.5), shape[1])
			}
		}
		if architecture != "qwen3" {
			add(at+"self_attn.v_proj_input_qdq.fake_quant.scale", mllm.Float32, float(0.5), 1)
			add(at+"self_attn.q_proj_input_qdq.fake_quant.scale", mllm.Float32, float(1), 1)
			add(at+"self_attn.k_proj_input_qdq.fake_quant.scale", mllm.Float32, float(1), 1)
		}
	}
	add("lm_head.weight", mllm.Int8, []byte{0}, 1, 1, 128, 512)
	model, config = filepath.Join(t.TempDir(), "model.mllm"), filepath.Join(t.TempDir(), "config.json")
	f, err := os.Create(model)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(mllm.Write(f, mllm.V2, "", sources), f.Close()); err != nil {
		t.Fatal(err)
	}
	text := `{"model_type": "` + architecture + `", "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2,
		"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32, "vocab_size": 512, "attention_bias": false, "rms_norm_eps": 1e-06,
		"hidden_act": "silu", "max_position_embeddings": 256, "tie_word_embeddings": true, "rope_theta": 10000}`
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return model, config
}

// TestFound: Qwen2 has biases, which mllm's compiler leaves out; Qwen2 and Llama have the range of the rotation at what goes into q and k, Qwen3 has not.
func TestFound(t *testing.T) {
	for architecture, want := range map[string]struct {
		biases int
		wide   bool
	}{"qwen3": {0, false}, "qwen2": {6, true}, "llama": {0, true}} {
		model, config := quantized(t, architecture)
		out := filepath.Join(t.TempDir(), "found.json")
		if _, stderr, code := tooltest.Run(t, audit.Tool, audit.Run, audit.Spec{Model: model, Config: config, Out: out}); code != 0 {
			t.Fatalf("%s: exit code %d\n%s", architecture, code, stderr)
		}
		raw, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		var got audit.Found
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		if got.Biases != want.biases || (got.BiasMost > 0) != (want.biases > 0) || (got.Widest > 1) != want.wide || (got.WidestAt != "") != want.wide {
			t.Errorf("%s: %s", architecture, raw)
		}
	}
}

// TestDefaults: a config with only the keys that transformers has no default for means the same model.
func TestDefaults(t *testing.T) {
	model, config := quantized(t, "llama")
	raw, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	var c map[string]any
	if err := json.Unmarshal(raw, &c); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"head_dim", "attention_bias", "rms_norm_eps", "max_position_embeddings", "hidden_act"} {
		delete(c, key)
	}
	if raw, err = json.Marshal(c); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	spec := audit.Spec{Model: model, Config: config, Out: filepath.Join(t.TempDir(), "found.json")}
	if _, stderr, code := tooltest.Run(t, audit.Tool, audit.Run, spec); code != 0 {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

// TestDoesNotFit: each number of a config.json that is another than the tensors' is named, as mllm's own configs of Qwen2 have some.
func TestDoesNotFit(t *testing.T) {
	model, config := quantized(t, "qwen2")
	raw, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	m, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	f, err := mllm.Parse(bytes.NewReader(m), int64(len(m)))
	if err != nil {
		t.Fatal(err)
	}
	for key, c := range map[string]struct {
		change func(*hf.Model)
		want   string
	}{
		"none":                {func(*hf.Model) {}, ""},
		"intermediate_size":   {func(c *hf.Model) { c.Intermediate = 4096 }, "model.layers.0.mlp.gate_proj.weight has shape [1 1 128 256], but config.json implies [128 4096]"},
		"num_key_value_heads": {func(c *hf.Model) { c.KVHeads = 4 }, "model.layers.0.self_attn.k_proj.weight has shape [1 1 128 64], but config.json implies [128 128]"},
		"num_attention_heads": {func(c *hf.Model) { c.Heads = 8 }, "self_attn.q_proj.weight has shape [1 1 128 128], but config.json implies [128 256]"},
		"fewer layers":        {func(c *hf.Model) { c.Layers = 1 }, "more layers than config.json, which sets num_hidden_layers to 1"},
		"more layers":         {func(c *hf.Model) { c.Layers = 3 }, "missing tensor model.layers.2.self_attn.q_proj.weight"},
		"no layers":           {func(c *hf.Model) { c.Layers = 0 }, "num_hidden_layers is 0"},
		"too many layers":     {func(c *hf.Model) { c.Layers = 1 << 30 }, "must be from 1 to 1000"},
		"vocab_size":          {func(c *hf.Model) { c.Vocabulary++ }, "config.json implies [513 128]"},
	} {
		var said hf.Model
		if err := json.Unmarshal(raw, &said); err != nil {
			t.Fatal(err)
		}
		c.change(&said)
		_, err := audit.Check(f, said)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", key, err, c.want)
		}
	}
}

// TestHostile: what a model has in the place of a scale or a bias is said.
func TestHostile(t *testing.T) {
	bad := func(name string, d mllm.DType, data []byte) error {
		var b bytes.Buffer
		sources := []mllm.Source{{Name: name, DType: d, Shape: []int64{int64(len(data)) / max(d.Size(), 1)}, Size: int64(len(data)), Write: func(w io.Writer) error { _, err := w.Write(data); return err }}}
		if err := mllm.Write(&b, mllm.V2, "", sources); err != nil {
			t.Fatal(err)
		}
		f, err := mllm.Parse(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		_, err = audit.Check(f, hf.Model{Hidden: 2, Intermediate: 2, Layers: 1, Heads: 1, KVHeads: 1, HeadDim: 2, Vocabulary: 2})
		return err
	}
	for name, c := range map[string]struct {
		tensor string
		d      mllm.DType
		data   []byte
		want   string
	}{
		"bias of bytes":  {"x.bias", mllm.Uint8, []byte{1}, "tensor x.bias: "},
		"bias of NaN":    {"x.bias", mllm.Float32, []byte{0, 0, 0xc0, 0x7f}, "x.bias holds NaN"},
		"scale of zero":  {"model.layers.0.self_attn.v_proj_input_qdq.fake_quant.scale", mllm.Float32, []byte{0, 0, 0, 0}, "invalid value [0]"},
		"scale of bytes": {"model.layers.0.self_attn.v_proj_input_qdq.fake_quant.scale", mllm.Uint8, []byte{1, 2}, "expected a few floats, found UInt8 with 2 bytes"},
	} {
		if err := bad(c.tensor, c.d, c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
