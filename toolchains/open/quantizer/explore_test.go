package quantizer

import (
	"context"
	"testing"
	"os"
	"fmt"
	"time"
	"path/filepath"

	"github.com/hexmage/hexmage/model/qwen3"
	"github.com/hexmage/hexmage/model/mllm"
	"github.com/hexmage/hexmage/model/convert"
)

func TestExplore(t *testing.T) {
	d := t.TempDir()
	a, b := filepath.Join(d, "a"), filepath.Join(d, "b")
	t0 := time.Now()
	if err := qwen3.Make(a, 1, qwen3.DefaultConfig()); err != nil { t.Fatal(err) }
	fmt.Println("make", time.Since(t0)); t0 = time.Now()
	if _, err := Quantise(context.Background(), a, b, 0); err != nil { t.Fatal(err) }
	fmt.Println("quant", time.Since(t0)); t0 = time.Now()
	if c := convert.Run(context.Background(), []string{"--input_path", b+"/model.safetensors", "--output_path", d+"/m.mllm"}, nil, os.Stdout, os.Stderr); c != 0 { t.Fatal(c) }
	f, err := os.Open(d+"/m.mllm")
	if err != nil { t.Fatal(err) }
	st, _ := f.Stat()
	m, err := mllm.Parse(f, st.Size())
	if err != nil { t.Fatal(err) }
	c, _ := qwen3.ReadConfig(b+"/config.json")
	w, err := qwen3.LoadWeights(m, c)
	if err != nil { t.Fatal(err) }
	tok, _ := qwen3.ReadTokenizer(b+"/tokenizer.json")
	fm, err := loadFloat(a+"/model.safetensors", c)
	if err != nil { t.Fatal(err) }
	for _, p := range append(qwen3.SamplePrompts()[:6], "hello", "Tell me about the sea and the ships that sail on it.", "<|im_start|>user\nWhat is a build system?<|im_end|>") {
		t0 = time.Now()
		r, err := qwen3.Generate(context.Background(), w, tok, p, 32)
		if err != nil { t.Fatal(err) }
		dist := map[int]bool{}
		for _, x := range r.Tokens { dist[x] = true }
		// float
		ids := append([]int{}, r.PromptTokens...)
		ps := fm.newPass(func(string, []float64){})
		var lg []float64
		for _, x := range ids { lg = ps.step(x) }
		agree := 0
		mg := ""
		for i := range r.Tokens {
			k := argmax(lg)
			second := 0
			for j := range lg { if j != k && (second == k || lg[j] > lg[second]) { second = j } }
			mg += fmt.Sprintf(" %.1f", lg[k]-lg[second])
			if k == r.Tokens[i] { agree++ }
			lg = ps.step(r.Tokens[i])
		}
		fmt.Printf("%q -> %d prompt tokens, distinct %d/%d, float agrees %d  %v\n   %q\n  %s\n", p, len(r.PromptTokens), len(dist), len(r.Tokens), agree, time.Since(t0), r.Text, mg)
	}
}
