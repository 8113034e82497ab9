package aotconfig_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/model/aotconfig"
)

func target() aotconfig.Target {
	return aotconfig.Target{Arch: "v75", SoC: "SM8650", VTCMMB: 8, SignedPD: true}
}

// TestWrite compares with what mllm ships for Qwen3 1.7B.
func TestWrite(t *testing.T) {
	raw, err := aotconfig.Write(target(), aotconfig.Model{Type: "qwen3", Layers: 28, BlockSize: 16})
	if err != nil {
		t.Fatal(err)
	}
	lpbq := map[string]any{"fallback": map[string]any{"method": "LPBQ", "sym": true, "precision": "w4a16", "block_size": 16.0}}
	kv := map[string]any{"method": "per-tensor", "sym": true, "precision": "w8a8"}
	want := map[string]any{
		"target_machine": map[string]any{"htp_arch": "V75", "htp_chipset": "SM8650", "htp_try_best_performance": "HtpBurst",
			"htp_security_pd_session": "HtpSignedPd", "htp_vtcm_capability_in_mb": 8.0},
		"graph_on_qnn": []any{"model"}, "op_on_qnn": []any{"lm_head"}, "split_graph": 1.0,
		"quant_recipe": map[string]any{"llm_recipe": true, "layers": 28.0,
			"builtin_llm_pass": map[string]any{"model": "qwen3", "lm_head": lpbq, "linear": lpbq, "kv_cache": map[string]any{"key": kv, "value": kv}}},
	}
	var got map[string]any
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if c, err := aotconfig.Parse(raw); err != nil || !c.Machine.Signed() {
		t.Errorf("%+v, %v", c, err)
	}
	for _, bad := range []aotconfig.Target{{Arch: "v80", SoC: "SM8750", VTCMMB: 8}, {Arch: "v79", SoC: "SM9999", VTCMMB: 8}, {Arch: "v79", SoC: "SM8750"}, {Arch: "none", SoC: "SM8750", VTCMMB: 8}} {
		if _, err := aotconfig.Write(bad, aotconfig.Model{Type: "qwen3", Layers: 28, BlockSize: 16}); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
}

func TestParse(t *testing.T) {
	good, err := aotconfig.Write(target(), aotconfig.Model{Type: "llama", Layers: 28, BlockSize: 32})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ old, new, want string }{
		{`"htp_arch": "V75",`, ``, "target_machine.htp_arch is missing"},
		{`"V75"`, `"V80"`, "Unknown HTP architecture"},
		{`"V75"`, `"NONE"`, "Unknown HTP architecture"},
		{`"SM8650"`, `"618"`, "Unknown config socModel 618"},
		{`"SM8650"`, `"UNKNOWN_SM"`, `unknown SoC "UNKNOWN_SM"`},
		{`HtpBurst`, `HtpFast`, `unknown mode "HtpFast"`},
		{`HtpSignedPd`, `HtpPd`, `unknown session "HtpPd"`},
		{`_in_mb": 8`, `_in_mb": 0`, "must be from 1 to 64"},
		{`"split_graph": 1`, `"split_graph": 2`, "split_graph is 2"},
		{`"llm_recipe": true`, `"llm_recipe": false`, "llm_recipe must be true"},
		{`"linear": {`, `"nothing": {`, "linear.fallback is missing"},
		{`{`, `[`, "invalid character"},
	} {
		if strings.Count(string(good), x.old) == 0 {
			t.Fatalf("no %s in %s", x.old, good)
		}
		if _, err := aotconfig.Parse([]byte(strings.Replace(string(good), x.old, x.new, 1))); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v", x.new, err)
		}
	}
}

// Real models are larger than any that the simulation can run.
func TestReadModel(t *testing.T) {
	const rest = `, "hidden_size": 2048, "num_attention_heads": 16, "num_key_value_heads": 8, "intermediate_size": 6144, "max_position_embeddings": 40960,
		"rms_norm_eps": 1e-06, "rope_theta": 1000000, "vocab_size": 151936, "bos_token_id": 1, "eos_token_id": 2, "hidden_act": "silu"`
	const stock = `{"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "num_hidden_layers": 28, "tie_word_embeddings": true` + rest + ` EXTRA}`
	const tied = `, "tie_word_embeddings": true` + rest
	const short = `{"model_type": "qwen3", "num_hidden_layers": 28, "linear_block_size": 16, "tie_word_embeddings": true,
		"hidden_size": 2048, "num_attention_heads": 16, "intermediate_size": 6144, "vocab_size": 151936, "bos_token_id": 1,
		"eos_token_id": 2, "rope_parameters": {"rope_theta": 1000000, "rope_type": "default"}, "dtype": "bfloat16"}`
	for name, c := range map[string]struct {
		text string
		want aotconfig.Model
		says string
	}{
		"Hugging Face's":       {strings.Replace(stock, "EXTRA", `, "linear_block_size": 16`, 1), aotconfig.Model{Type: "qwen3", Layers: 28, BlockSize: 16}, ""},
		"upstream's":           {strings.Replace(stock, "EXTRA", `, "linear_block_size": 32, "linear_impl_type": "QNN_LPBQ_w4a16o16_G32"`, 1), aotconfig.Model{Type: "qwen3", Layers: 28, BlockSize: 32}, ""},
		"upstream's for llama": {`{"model_type": "llama", "num_hidden_layers": 28, "linear_impl_type": "QNN_LPBQ_w4a16o16_G32"` + tied + `}`, aotconfig.Model{Type: "llama", Layers: 28, BlockSize: 32}, ""},
		"no type":              {`{"num_hidden_layers": 36, "linear_block_size": 32` + tied + `}`, aotconfig.Model{Type: "qwen3", Layers: 36, BlockSize: 32}, ""},
		"keys are missing": {`{"num_hidden_layers": 36, "linear_block_size": 32` +
			strings.NewReplacer(`"vocab_size": 151936, `, "", `"bos_token_id": 1, `, "").Replace(tied) + `}`,
			aotconfig.Model{}, "mllm's programs need: set bos_token_id, vocab_size, each"},
		"defaults":      {short, aotconfig.Model{Type: "qwen3", Layers: 28, BlockSize: 16}, ""},
		"stock":         {strings.Replace(stock, "EXTRA", "", 1), aotconfig.Model{}, "Qwen3 LPBQ requires a positive `linear_block_size`"},
		"they disagree": {strings.Replace(stock, "EXTRA", `, "linear_block_size": 16, "linear_impl_type": "QNN_LPBQ_w4a16o16_G32"`, 1), aotconfig.Model{}, "contradicts linear_block_size 16"},
		"odd blocks":    {strings.Replace(stock, "EXTRA", `, "linear_block_size": 24`, 1), aotconfig.Model{}, "choose 16, 32 or 64"},
		"untied":        {`{"num_hidden_layers": 36, "linear_block_size": 32, "tie_word_embeddings": false}`, aotconfig.Model{}, "only models with a tied lm_head"},
		"another model": {`{"model_type": "gemma", "num_hidden_layers": 36, "linear_block_size": 32}`, aotconfig.Model{}, "mllm supports only llama, qwen2, qwen3"},
		"no layers":     {`{"linear_block_size": 32}`, aotconfig.Model{}, `"num_hidden_layers" is missing`},
		"layers":        {`{"num_hidden_layers": 0, "linear_block_size": 32}`, aotconfig.Model{}, "must be from 1 to 1024"},
		"no JSON":       {`{`, aotconfig.Model{}, "unexpected end"},
	} {
		path := filepath.Join(t.TempDir(), "config.json")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, written, err := aotconfig.ReadModel(path)
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), path+": ") {
				t.Errorf("%s: %v, want %q", name, err, c.says)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if strings.Contains(c.text, "rope_parameters") && !strings.Contains(string(written), `"rope_theta": 1000000,`) {
			t.Errorf("%s: rope_theta of rope_parameters is missing:\n%s", name, written)
		}
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	model, out, modelOut := filepath.Join(dir, "config.json"), filepath.Join(dir, "new", "aot.json"), filepath.Join(dir, "model.json")
	u := upstream(t)[1]
	if err := os.WriteFile(model, u.stock(t), 0o600); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	if err := aotconfig.Run(t.Context(), aotconfig.Spec{Target: target(), ModelConfig: model, Out: out, ModelOut: modelOut}, tool.Env{Stdout: &said}); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(out)
	if err != nil || said.String() != "wrote "+out+" and "+modelOut+"\n" {
		t.Errorf("%q, %v", said.String(), err)
	}
	if c, err := aotconfig.Parse(raw); err != nil || c.Recipe.Layers != 36 || c.Recipe.Pass.Linear["fallback"].BlockSize != 32 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, again, err := aotconfig.ReadModel(modelOut); err != nil {
		t.Error(err)
	} else if first, err := os.ReadFile(modelOut); err != nil || !bytes.Equal(first, again) {
		t.Errorf("what is read again differs: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	good, err := aotconfig.Write(target(), aotconfig.Model{Type: "qwen3", Layers: 28, BlockSize: 16})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"target_machine": null}`))
	f.Fuzz(func(_ *testing.T, raw []byte) { _, _ = aotconfig.Parse(raw) })
}
