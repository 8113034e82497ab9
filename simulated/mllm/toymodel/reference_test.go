package toymodel

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/model/mllm"
)

// TestRMSNorm compares the norm with its formula in double precision.
func TestRMSNorm(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, d := range []int{1, 32, 128, 1000} {
		x, w, out := make([]uint16, d), make([]uint16, d), make([]uint16, d)
		sum := 0.0
		for i := range x {
			x[i], w[i] = uint16(r.Uint32()), uint16(r.IntN(20000))
			v := (float64(x[i]) - 30000) * 0.001
			sum += v * v
		}
		RMSNorm(out, x, w, 0.001, 30000, 0.0001, 100, 0x1p-13, 32768)
		for i := range x {
			y := (float64(x[i]) - 30000) * 0.001 / math.Sqrt(sum/float64(d)+1e-6) * (float64(w[i]) - 100) * 0.0001
			want := min(max(y*8192+32768, 0), 65535)
			if math.Abs(float64(out[i])-want) > 0.6 {
				t.Fatalf("%d elements: element %d is %d, want %g", d, i, out[i], want)
			}
		}
	}
}

// TestGenerate: each step gives a token, and other prompts, tokenizers and weights give other tokens.
func TestGenerate(t *testing.T) {
	model := func(weight uint16) *Model {
		r := rand.New(rand.NewPCG(3, 4))
		m := &Model{Config: Config{Hidden: 64, Positions: 100}, Embedding: make([]uint16, 256*64)}
		for i := range m.Embedding {
			m.Embedding[i] = uint16(r.Uint32())
		}
		for _, d := range []int{64, 16} {
			w := make([]uint16, d)
			for i := range w {
				w[i] = uint16(8000 + i)
			}
			w[d-1] = weight
			m.Norms = append(m.Norms, Norm{Weight: w})
		}
		return m
	}
	run := func(m *Model, prompt, tokenizer string) string {
		got, err := m.Generate(Tokenize(prompt, []byte(tokenizer), 256), 32)
		if err != nil || len(got.Tokens) != 32 || len(got.PromptTokens) != len(prompt)+1 {
			t.Fatalf("%+v, %v", got, err)
		}
		return got.Text
	}
	same := run(model(8000), "hello", "{}")
	if again := run(model(8000), "hello", "{}"); again != same {
		t.Errorf("%q, then %q", same, again)
	}
	for name, other := range map[string]string{"prompt": run(model(8000), "hellp", "{}"),
		"tokenizer": run(model(8000), "hello", "{ }"),
		"weight":    run(model(8010), "hello", "{}")} {
		if other == same {
			t.Errorf("another %s gives the same tokens", name)
		}
	}
	short := model(8000)
	short.Positions = 10
	if got, err := short.Generate(Tokenize("hello", nil, 256), 32); err != nil || len(got.Tokens) != 5 {
		t.Errorf("in 10 positions: %+v, %v", got, err)
	}
	if _, err := model(8000).Generate(Tokenize("", nil, 256), 32); err == nil {
		t.Error("an empty prompt has an answer")
	}
}

// TestLoadRejects: Load rejects an invalid config before it allocates memory by the config's sizes.
func TestLoadRejects(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m.mllm")
	f, err := os.Create(model)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(mllm.Write(f, mllm.V2, "", nil), f.Close()); err != nil {
		t.Fatal(err)
	}
	const good = `{"model_type": "qwen3", "vocab_size": 512, "hidden_size": 128, "head_dim": 32,
		"num_hidden_layers": 4, "max_cache_length": 256}`
	for want, change := range map[string][2]string{
		"float tensor":      {"512", "512"},
		"vocab_size":        {"512", "100"},
		"hidden_size":       {"128", "1000000000"},
		"head_dim":          {"32", "33"},
		"num_hidden_layers": {": 4", ": 65"},
		"max_cache_length":  {"256", "0"},
		"invalid character": {"{", ""},
	} {
		config := filepath.Join(t.TempDir(), "config.json")
		if err := os.WriteFile(config, []byte(strings.Replace(good, change[0], change[1], 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(model, config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
