package toymodel

import (
	"math"
	"math/rand/v2"
	"testing"
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

// TestGenerate has a token for each step, and other tokens for other prompts, tokenizers and weights.
func TestGenerate(t *testing.T) {
	model := func(weight uint16) *Model {
		r := rand.New(rand.NewPCG(3, 4))
		m := &Model{Hidden: 64, Embedding: make([]uint16, 256*64)}
		for i := range m.Embedding {
			m.Embedding[i] = uint16(r.Uint32())
		}
		for _, d := range []int{64, 16} {
			w := make([]uint16, d)
			for i := range w {
				w[i] = uint16(8000 + i)
			}
			w[d-1] = weight
			m.Norms = append(m.Norms, Norm{Weight: w, Quant: Quant{0x1p-13, 0}, In: Quant{0x1p-12, 32768},
				Out: Quant{0x1p-13, 32768}})
		}
		return m
	}
	run := func(m *Model, prompt, tokenizer string) string {
		got, err := m.Generate(Tokenize(prompt, []byte(tokenizer), 256), 32, 100)
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
	if got, err := model(8000).Generate(Tokenize("hello", nil, 256), 32, 10); err != nil || len(got.Tokens) != 5 {
		t.Errorf("in 10 positions: %+v, %v", got, err)
	}
	if _, err := model(8000).Generate(Tokenize("", nil, 256), 32, 10); err == nil {
		t.Error("an empty prompt has an answer")
	}
}
