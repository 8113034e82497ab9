package toymodel_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/model/safetensors"
	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, n := range []string{"config.json", "tokenizer.json", "model.safetensors"} {
		raw, err := os.ReadFile(filepath.Join(dir, n))
		if err != nil {
			t.Fatal(err)
		}
		out[n] = raw
	}
	return out
}

func TestMakeDependsOnItsArgumentsAlone(t *testing.T) {
	a, b, c := t.TempDir(), t.TempDir(), t.TempDir()
	for dir, seed := range map[string]uint64{a: 1, b: 1, c: 2} {
		if err := toymodel.Make(dir, seed, toymodel.DefaultConfig()); err != nil {
			t.Fatal(err)
		}
	}
	fa, fb, fc := files(t, a), files(t, b), files(t, c)
	for n := range fa {
		if !bytes.Equal(fa[n], fb[n]) {
			t.Errorf("%s differs between two runs", n)
		}
	}
	if bytes.Equal(fa["model.safetensors"], fc["model.safetensors"]) {
		t.Error("another seed gave the same weights")
	}
	c1, err := toymodel.ParseHub(fa["config.json"], 0)
	if err != nil || c1 != toymodel.DefaultConfig() {
		t.Errorf("config came back as %+v, %v", c1, err)
	}
	m, err := safetensors.Open(filepath.Join(a, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if _, tied := m.Lookup("lm_head.weight"); tied || len(m.Tensors()) != 2+11*4 {
		t.Errorf("%d tensors", len(m.Tensors()))
	}
}

func TestConfigRejects(t *testing.T) {
	good, err := toymodel.DefaultConfig().Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := toymodel.ParseHub(good, 0); err != nil {
		t.Fatal(err)
	}
	// Upstream's compiler and runner end at what the hub's config lacks.
	if _, err := toymodel.ParseConfig(good); err == nil || !strings.Contains(err.Error(), `"linear_impl_type" is missing`) || !strings.Contains(err.Error(), "type_error.302") {
		t.Errorf("the hub's config: %v", err)
	}
	for _, added := range []string{`"linear_impl_type": "QNN_LPBQ_w4a16o16_G32",`, `"max_cache_length": 256,`} {
		if strings.Contains(string(good), added[:12]) {
			t.Errorf("the hub's config has %s", added)
		}
	}
	theirs := strings.Replace(string(good), "{", `{"linear_impl_type": "QNN_LPBQ_w4a16o16_G32", "max_cache_length": 128,`, 1)
	if c, err := toymodel.ParseConfig([]byte(theirs)); err != nil || c.LinearBlockSize != 32 || c.MaxCacheLength != 128 {
		t.Errorf("upstream's form: %+v, %v", c, err)
	}
	other := strings.Replace(theirs, `"rms_norm_eps": 0.000001`, `"rms_norm_eps": 0.00001`, 1)
	if _, err := toymodel.ParseConfig([]byte(other)); err == nil || !strings.Contains(err.Error(), "only 1e-06") { // of the simulation's op
		t.Errorf("another epsilon: %v", err)
	}
	cases := map[string]struct{ from, to, want string }{
		"no block size": {`"linear_block_size": 16,`, ``, "stock configs lack it"},
		"odd block":     {`"linear_block_size": 16`, `"linear_block_size": 24`, "choose 16, 32 or 64"},
		"untied":        {`"tie_word_embeddings": true`, `"tie_word_embeddings": false`, "untied"},
		"eps":           {`"rms_norm_eps": 0.000001`, `"rms_norm_eps": 0`, "between 0 and 1"},
		"heads":         {`"num_key_value_heads": 2`, `"num_key_value_heads": 3`, "not a multiple"},
		"huge":          {`"hidden_size": 128`, `"hidden_size": 1000000000`, "not in 2..4096"},
		"vocab":         {`"eos_token_id": 511`, `"eos_token_id": 512`, "eos_token_id"},
		"json":          {`{`, ``, "invalid"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bad := strings.Replace(string(good), c.from, c.to, 1)
			if bad == string(good) {
				t.Fatalf("no %q in the config:\n%s", c.from, good)
			}
			if _, err := toymodel.ParseHub([]byte(bad), 0); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestHubDefaults: a config of transformers 5 with only the keys that have no default means the same model.
func TestHubDefaults(t *testing.T) {
	const sizes = `"head_dim": 32, "num_key_value_heads": 2, "tie_word_embeddings": true, "max_position_embeddings": 256,
		"hidden_size": 128, "intermediate_size": 256, "num_attention_heads": 4, "num_hidden_layers": 4, "vocab_size": 512,
		"bos_token_id": 509, "eos_token_id": 511, "dtype": "float32", "rope_parameters": {"rope_theta": 10000.0}`
	want := toymodel.DefaultConfig()
	got, err := toymodel.ParseHub([]byte(`{"model_type": "qwen3", `+sizes+`}`), 16)
	if err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	got, err = toymodel.ParseHub([]byte(`{"model_type": "qwen2", `+sizes+`}`), 32)
	if err != nil || !got.AttentionBias || got.RMSNormEps != want.RMSNormEps {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = toymodel.ParseHub([]byte(`{"model_type": "qwen3", "hidden_size": 128}`), 16)
	if err == nil || !strings.Contains(err.Error(), "add bos_token_id, eos_token_id, intermediate_size, ") {
		t.Errorf("one message for all keys: %v", err)
	}
}

func TestPrompt(t *testing.T) {
	for in, want := range map[string]string{"hi": "hi", "hi\n": "hi", "hi\r\nyou\n": "hi", "": "", "\n": "", " a \n": " a "} {
		if got := toymodel.Prompt([]byte(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
