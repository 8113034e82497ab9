package runner_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/internal/tool/tooltest"
	"github.com/hexmage/hexmage/model/aotconfig"
	"github.com/hexmage/hexmage/model/convert"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/runner/transport"
	"github.com/hexmage/hexmage/simulated/mllm/compiler"
	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

// chained is the output of a pipeline's tools for the model of profile simulated.
type chained struct {
	context, config, tokenizer []byte
	dir                        string   // has model.mllm, and config.json beside it
	said                       string   // output of the compiler
	wrote                      []string // files of the compiler
}

func chain(t testing.TB, program tool.Name[[]string]) chained {
	t.Helper()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	run := func(_, stderr string, code int) {
		t.Helper()
		if code != 0 {
			t.Fatalf("exit code %d\n%s", code, stderr)
		}
	}
	model := toymodel.MakeSpec{Seed: 42, Layers: 4, BlockSize: 16, Architecture: strings.Split(program.String(), "-")[1], Out: at("model")}
	context, more := "qwen3.bin", []string{"-o", "qwen3.bin"}
	if model.Architecture != "qwen3" {
		model.BlockSize, context, more = 32, aotconfig.FixedOutput(program.String()), nil
	}
	run(tooltest.Run(t, toymodel.MakeTool, toymodel.RunMake, model))
	run(tooltest.Run(t, convert.Tool, convert.Run, convert.Spec{
		Input: at("model/model.safetensors"), Output: at("model.mllm"), Format: "v2"}))
	run(tooltest.Run(t, aotconfig.Tool, aotconfig.Run, aotconfig.Spec{Target: aotconfig.Target{Arch: "v79", SoC: "SM8750", VTCMMB: 8},
		ModelConfig: at("model/config.json"), Out: at("aot.json"), ModelOut: at("config.json")}))
	if err := os.WriteFile(at("libQnnHtp.so"), []byte("\x00"+buildID+"\x00"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	t.Chdir(t.TempDir()) // the compiler writes into its working directory
	if code := compiler.New(program)(t.Context(), append([]string{"-m", at("model.mllm"), "-c", at("config.json"), "-aot_cfg", at("aot.json"), "-qnn_env", dir + "/"}, more...),
		tool.Env{Stdout: &out, Stderr: &out}); code != 0 {
		t.Fatalf("exit code %d\n%s", code, &out)
	}

	read := func(name string) []byte {
		b, err := os.ReadFile(at(name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var wrote []string
	for _, e := range entries {
		wrote = append(wrote, e.Name())
	}
	compiled, err := os.ReadFile(context)
	if err != nil {
		t.Fatal(err)
	}
	return chained{compiled, read("config.json"), read("model/tokenizer.json"), dir, out.String(), wrote}
}

// want returns the reference's result.
func (m chained) want(t testing.TB, prompt string) toymodel.Result {
	t.Helper()
	out := filepath.Join(t.TempDir(), "tokens.json")
	s := toymodel.ReferenceSpec{Model: filepath.Join(m.dir, "model.mllm"), Config: filepath.Join(m.dir, "config.json"),
		Tokenizer: filepath.Join(m.dir, "model/tokenizer.json"), Prompt: prompt, MaxNew: 32, Out: out, Dir: t.TempDir()}
	return resultOf(t, s, out)
}

// resultOf runs the reference and returns one of its results.
func resultOf(t testing.TB, s toymodel.ReferenceSpec, at string) toymodel.Result {
	t.Helper()
	if _, stderr, code := tooltest.Run(t, toymodel.ReferenceTool, toymodel.RunReference, s); code != 0 {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	raw, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	var r toymodel.Result
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func check(t testing.TB, prompt string, tokens []byte, want toymodel.Result) {
	t.Helper()
	var got toymodel.Result
	if err := json.Unmarshal(tokens, &got); err != nil {
		t.Fatalf("%q: %v in %s", prompt, err, tokens)
	}
	if !slices.Equal(got.PromptTokens, want.PromptTokens) || !slices.Equal(got.Tokens, want.Tokens) || got.Text != want.Text {
		t.Errorf("%q:\n got %+v\nwant %+v", prompt, got, want)
	}
}

// From float weights to tokens, by the tools of a pipeline.
func TestWholeChain(t *testing.T) {
	p := build(t)
	for _, program := range compiler.Tools() {
		t.Run(program.String(), func(t *testing.T) { wholeChain(t, p, chain(t, program)) })
	}
}

func wholeChain(t *testing.T, p programs, m chained) {
	if raw, err := os.ReadFile(p.runner); err != nil || !bytes.Contains(raw, []byte(qnn.Simulated)) {
		t.Errorf("the runner does not say that it is a simulation: %v", err)
	}
	ph := newPhone(t, p, "v79", m)
	for _, prompt := range []string{"hello", "Größe über alles? Nein: naïve café, 你好。", strings.Repeat("word ", 30)} {
		out, code := ph.run(prompt+"\r\nignored\n", flags()...)
		if code != 0 {
			t.Fatalf("%q: exit code %d\n%s", prompt, code, out)
		}
		raw, err := os.ReadFile(filepath.Join(ph.dir, "results/tokens.json"))
		if err != nil {
			t.Fatal(err)
		}
		want := m.want(t, prompt)
		check(t, prompt, raw, want)
		checkOutput(t, out, len(want.PromptTokens), len(want.Tokens))
	}
}

// TestWrongOps: op packages with wrong arithmetic give other tokens than the reference.
func TestWrongOps(t *testing.T) {
	text, err := os.ReadFile("testdata/rmsnorm.cc")
	if err != nil {
		t.Fatal(err)
	}
	p, m := build(t), chain(t, compiler.Qwen3)
	want := m.want(t, "hello")
	for name, edit := range map[string][2]string{
		"one lane is off by one": {"      y[i] =", "      q += i == d - 1;\n      y[i] ="},
		"rounding down":          {"(u + rounder) - rounder", "u"},
		"another zero point":     {"int64_t a = x[i] - in[0].zero_point", "int64_t a = x[i] - in[0].zero_point - 1"},
	} {
		wrong := strings.Replace(string(text), edit[0], edit[1], 1)
		if wrong == string(text) {
			t.Fatalf("%s: no %q in the op", name, edit[0])
		}
		source := filepath.Join(t.TempDir(), "rmsnorm.cc")
		if err := os.WriteFile(source, []byte(wrong), 0o644); err != nil {
			t.Fatal(err)
		}
		p.library = source + ".so"
		compileOp(t, filepath.Dir(p.shell), source, p.library)
		ph := newPhone(t, p, "v79", m)
		if out, code := ph.run("hello\n", flags()...); code != 0 {
			t.Fatalf("%s: exit code %d\n%s", name, code, out)
		}
		raw, err := os.ReadFile(filepath.Join(ph.dir, "results/tokens.json"))
		if err != nil {
			t.Fatal(err)
		}
		var got toymodel.Result
		if err := json.Unmarshal(raw, &got); err != nil || slices.Equal(got.Tokens, want.Tokens) {
			t.Errorf("%s: %v: the tokens are the reference's", name, err)
		}
	}
}

// The chain on the simulated phone, over adb: the runner finds DSP and SoC as on a phone.
func TestOnTheEmulatedPhone(t *testing.T) {
	p, m := build(t), chain(t, compiler.Qwen3)
	d := phonetest.Device(t, phonetest.Image(t, func(i *phone.Image) { i.FastRPCShell = p.shell }), nil)
	const dir = "/data/local/tmp/run/"
	file := func(path string) []byte {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	id := []byte("\x00" + buildID + "\x00")
	for name, content := range map[string][]byte{
		"runner": file(p.runner), "libQnnLLaMAPackage_HTP.so": file(p.library), "libQnnLLaMAPackage_CPU.so": opPackage(183), "model.bin": m.context, "config.json": m.config,
		"tokenizer.json": m.tokenizer, "libQnnHtp.so": id, "libQnnHtpV79Stub.so": id, "libQnnHtpV79Skel.so": id,
	} {
		to := dir + name
		if _, err := transport.Output(t.Context(), d, "mkdir -p "+dir+" && cat >"+to+" && chmod 755 "+to, bytes.NewReader(content)); err != nil {
			t.Fatal(err)
		}
	}
	const prompt = "The harbour master keeps"
	command := "cd " + dir + " && OPEN_RUNNER_RESULTS=results/tokens.json LD_LIBRARY_PATH=. ADSP_LIBRARY_PATH='" + dir + ";/dsp' ./runner -m model.bin -c config.json --ar_len 32 && cat results/tokens.json"
	out, err := transport.Output(t.Context(), d, command, strings.NewReader(prompt+"\n"))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	at := strings.LastIndex(out, `{"prompt_tokens"`)
	if at < 0 {
		t.Fatalf("no results in\n%s", out)
	}
	check(t, prompt, []byte(out[at:]), m.want(t, prompt))
}

func TestMain(m *testing.M) { os.Exit(phonetest.Main(m)) }
