package devrunner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hexmage/hexmage/model/convert"
	"github.com/hexmage/hexmage/model/mllm"
	"github.com/hexmage/hexmage/model/qwen3"
	"github.com/hexmage/hexmage/toolchains/open/aotc"
	"github.com/hexmage/hexmage/toolchains/open/quantizer"
)

type step func(context.Context, []string, io.Reader, io.Writer, io.Writer) int

func (s step) run(t testing.TB, args ...string) {
	t.Helper()
	var out bytes.Buffer
	if code := s(t.Context(), args, nil, &out, &out); code != 0 {
		t.Fatalf("%v: exit code %d\n%s", args, code, out.String())
	}
}

// From float weights to tokens, by the tools a pipeline uses: the model that the open profile runs.
func TestWholeChain(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := qwen3.Make(at("model"), 42, qwen3.DefaultConfig()); err != nil {
		t.Fatal(err)
	}
	step(quantizer.Run).run(t, "--model", at("model"), "--out", at("quantised"))
	step(convert.Run).run(t, "--input_path", at("quantised/model.safetensors"), "--output_path", at("qwen3.mllm"))
	step(aotc.RunConfig).run(t, "--arch", "v79", "--soc", "SM8750", "--model_config", at("quantised/config.json"), "--out", at("aot.json"))
	if err := os.WriteFile(at("libQnnHtp.so"), []byte("\x00"+buildID+"\x00"), 0o644); err != nil {
		t.Fatal(err)
	}
	step(aotc.Run).run(t, "-m", at("qwen3.mllm"), "-c", at("quantised/config.json"), "-aot_cfg", at("aot.json"), "-qnn_env", dir+"/", "-o", at("qwen3.bin"))

	read := func(name string) []byte {
		b, err := os.ReadFile(at(name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	raw := read("qwen3.mllm")
	file, err := mllm.Parse(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	c, err := qwen3.ParseConfig(read("quantised/config.json"))
	if err != nil {
		t.Fatal(err)
	}
	w, err := qwen3.LoadWeights(file, c)
	if err != nil {
		t.Fatal(err)
	}
	tokenizer := read("quantised/tokenizer.json")
	ref, err := qwen3.ParseTokenizer(tokenizer)
	if err != nil {
		t.Fatal(err)
	}
	ph := newPhone(t, build(t), "v79", w, read("quantised/config.json"), tokenizer)
	ph.write("qwen3.bin", read("qwen3.bin"))
	for _, prompt := range qwen3.SamplePrompts()[:4] {
		want, err := qwen3.Generate(t.Context(), w, ref, prompt, 32)
		if err != nil {
			t.Fatal(err)
		}
		out, code := ph.run(prompt, flags()...)
		if code != 0 {
			t.Fatalf("%q: exit code %d\n%s", prompt, code, out)
		}
		raw, err := os.ReadFile(filepath.Join(ph.dir, "results/tokens.json"))
		if err != nil {
			t.Fatal(err)
		}
		var got qwen3.Result
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.PromptTokens, want.PromptTokens) || !slices.Equal(got.Tokens, want.Tokens) || got.Text != want.Text {
			t.Errorf("%q:\n got %+v\nwant %+v", prompt, got, want)
		}
		t.Log(plain(out))
	}
}
