package runner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/model/convert"
	"github.com/hexmage/hexmage/model/vocab"
	"github.com/hexmage/hexmage/simulated/mllm/quantizer"
	"github.com/hexmage/hexmage/simulated/mllm/qwennpu"
	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

// npuPrompt is what the program asks.
const npuPrompt = "Why can greatness not be planned? Give three reasons, one a line, and name somebody who found something great while looking for something else."

// npuModel makes a small Qwen2 for mllm v1, by our own tools, and the names that the program looks for.
func npuModel(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	env := tool.Env{Stdout: new(bytes.Buffer)}
	ctx := context.Background()
	must(toymodel.RunMake(ctx, toymodel.MakeSpec{Seed: 15, Layers: 2, BlockSize: 32, Architecture: "qwen2", Out: in("model")}, env))
	must(quantizer.RunV1(ctx, quantizer.V1Spec{Model: in("model"), Out: in("int8")}, env))
	for from, to := range map[string]string{"int8": "int8.mllm", "model": "q4k.mllm"} {
		must(convert.Run(ctx, convert.Spec{Input: in(from), Output: in(to), Name: from, Format: "v1"}, env))
	}
	must(vocab.Run(ctx, vocab.Spec{Tokenizer: in("model/tokenizer.json"), Vocab: in("vocab.mllm"), Merges: in("merges.txt")}, env))
	return dir
}

// npuPhone is a phone with what llm.npu's users push, in their layout.
func npuPhone(t testing.TB, p programs, model string) *handset {
	t.Helper()
	ph := &handset{t: t, dir: t.TempDir(), system: t.TempDir(), env: map[string]string{
		"LD_LIBRARY_PATH": "../qnn-lib", "ADSP_LIBRARY_PATH": "../qnn-lib;/vendor/lib/rfsa/adsp", "OPEN_FASTRPC_DEVICE": "../cdsp.sock", "OPEN_RUNNER_RESULTS": "tokens.json",
	}}
	read := func(path string) []byte {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, name := range []string{"main_qwen_npu", "demo_qwen_npu"} {
		ph.write("bin/"+name, read(p.runner))
	}
	for to, from := range map[string]string{"models/qwen-1.5-1.8b-chat-int8.mllm": "int8.mllm", "models/qwen-1.5-1.8b-chat-q4k.mllm": "q4k.mllm", "vocab/qwen_vocab.mllm": "vocab.mllm",
		"vocab/qwen_merges.txt": "merges.txt"} {
		ph.write(to, read(filepath.Join(model, from)))
	}
	ph.write("qnn-lib/libQnnLLaMAPackage_HTP.so", read(p.library))
	ph.write("qnn-lib/libQnnLLaMAPackage_CPU.so", opPackage(183))
	for _, name := range []string{"libQnnHtp.so", "libQnnHtpV79Stub.so", "libQnnHtpV79Skel.so"} {
		ph.write("qnn-lib/"+name, []byte("\x00"+buildID+"\x00"))
	}
	ph.vendor("etc/open_soc", []byte("soc=SM8750\narch=v79\nsoc_model=69\n"))
	ph.serveDSP(p.shell, "v79")
	return ph
}

// start runs a program in bin.
func (ph *handset) start(name string, args ...string) (string, int) {
	ph.t.Helper()
	cmd := exec.Command(program(ph.t, "qemu", "qemu-aarch64-static"), append([]string{"-L", ph.system, "./" + name}, args...)...)
	cmd.Dir = filepath.Join(ph.dir, "bin")
	for k, v := range ph.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(out), exit.ExitCode()
	}
	if err != nil {
		ph.t.Fatal(err)
	}
	return string(out), 0
}

// npuFlags are what upstream's program is told of the model.
func npuFlags(more ...string) []string {
	return append([]string{"-d", "128", "-h", "4", "-f", "256"}, more...)
}

// TestNpuAgreesWithTheReference: main_qwen_npu and the Go reference are two programs from one page, and make the same tokens: of a prompt that is cut, one that is filled up, and one in groups.
func TestNpuAgreesWithTheReference(t *testing.T) {
	p, model := build(t), npuModel(t)
	ph := npuPhone(t, p, model)
	runs := map[int]int{16: 0, 64: 0, 256: 0, 300: 1}
	in := func(name string) string { return filepath.Join(model, name) }
	spec := qwennpu.Spec{Int8: in("int8.mllm"), Floats: in("q4k.mllm"), Config: in("model/config.json"), Tokenizer: in("model/tokenizer.json"), Prompt: npuPrompt, Runs: runs, Out: in("want")}
	if err := qwennpu.Run(context.Background(), spec, tool.Env{Stdout: new(bytes.Buffer)}); err != nil {
		t.Fatal(err)
	}
	result := func(path string) (r toymodel.Result) {
		t.Helper()
		raw, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(raw, &r)
		}
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	said := map[string]bool{}
	for length, grouped := range runs {
		want := result(in(fmt.Sprintf("want/%d.json", length)))
		out, code := ph.start("main_qwen_npu", npuFlags("-s", fmt.Sprint(length), "-c", fmt.Sprint(grouped))...)
		if code != 0 {
			t.Fatalf("%d: exit code %d\n%s", length, code, out)
		}
		got := result(filepath.Join(ph.dir, "bin/tokens.json"))
		if !slices.Equal(got.PromptTokens, want.PromptTokens) || !slices.Equal(got.Tokens, want.Tokens) || got.Text != want.Text {
			t.Errorf("%d:\n got %v %q\nwant %v %q", length, got.Tokens, got.Text, want.Tokens, want.Text)
		}
		said[got.Text] = true
		for _, line := range []string{`(?m)^Load model: \d+\.\d{6} s\nLoad model: \d+\.\d{6} s$`, fmt.Sprintf(`(?m)^real_seq_length: %d$`, len(want.PromptTokens)), `(?m)prefill time: \d+\.\d\dms$`, `(?m)^\[A\] `} {
			if !regexp.MustCompile(line).MatchString(plain(out)) {
				t.Errorf("%d: no line %s in\n%s", length, line, out)
			}
		}
	}
	if len(said) < 2 {
		t.Errorf("every length says the same, %v: too little to tell two programs apart", said)
	}
}

// TestNpuRefuses: what goes wrong in the workflows of llm.npu's users is said, in upstream's words where it has some.
func TestNpuRefuses(t *testing.T) {
	p, model := build(t), npuModel(t)
	int8s, err := os.ReadFile(filepath.Join(model, "int8.mllm"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(ph *handset)
		flags  []string
		want   string
	}{
		"no merges":             {func(ph *handset) { ph.remove("vocab/qwen_merges.txt") }, npuFlags(), "merge file is broken: ../vocab/qwen_merges.txt is not there"},
		"no model for the CPU":  {func(ph *handset) { ph.remove("models/qwen-1.5-1.8b-chat-q4k.mllm") }, npuFlags(), "cannot read the model ../models/qwen-1.5-1.8b-chat-q4k.mllm"},
		"a model that was cut":  {func(ph *handset) { ph.write("models/qwen-1.5-1.8b-chat-int8.mllm", int8s[:len(int8s)/2]) }, npuFlags(), "beyond the end of the file: was all of it pushed?"},
		"an index that was cut": {func(ph *handset) { ph.write("models/qwen-1.5-1.8b-chat-int8.mllm", int8s[:100]) }, npuFlags(), "the index is longer than the file"},
		"no model":              {func(ph *handset) { ph.write("models/qwen-1.5-1.8b-chat-int8.mllm", []byte("PK")) }, npuFlags(), "is no .mllm file of version 1"},
		"the other model":       {func(ph *handset) { ph.write("models/qwen-1.5-1.8b-chat-q4k.mllm", int8s) }, npuFlags(), "is of type 16, which this program does not read"},
		"another model's flags": {func(*handset) {}, []string{"-s", "64"}, "are -d, -h and -f those of the model?"},
		"keys of other heads":   {func(*handset) {}, []string{"-d", "128", "-h", "1", "-f", "256"}, "are -d and -h those of the model?"},
		"another ffn":           {func(*handset) {}, []string{"-d", "128", "-h", "4", "-f", "128"}, "are -d, -h and -f those of the model?"},
		"no heads":              {func(*handset) {}, []string{"-d", "128", "-h", "0"}, "-d 128 with -h 0 and -f 5504 is no model"},
		"a cache that is full":  {func(*handset) {}, npuFlags("-s", "2000"), "-s 2000 with -l 1124"},
		"a flag":                {func(*handset) {}, npuFlags("-q", "1"), "undefined short option: -q"},
		"an op package of x86":  {func(ph *handset) { ph.write("qnn-lib/libQnnLLaMAPackage_CPU.so", opPackage(62)) }, npuFlags(), "unexpected e_machine: 62"},
		"a stub of another SDK": {func(ph *handset) {
			ph.write("qnn-lib/libQnnHtpV79Stub.so", []byte("\x00v2.25.5.240807173323_97754\x00"))
		}, npuFlags(), "Stub lib id mismatch"},
		"a vocabulary of another": {func(ph *handset) { ph.write("vocab/qwen_vocab.mllm", int8s) }, npuFlags(), "is no vocabulary of mllm"},
	} {
		t.Run(name, func(t *testing.T) {
			ph := npuPhone(t, p, model)
			c.change(ph)
			if out, code := ph.start("main_qwen_npu", c.flags...); code != 1 || !strings.Contains(out, c.want) {
				t.Errorf("exit code %d, no %q in\n%s", code, c.want, out)
			}
		})
	}
}

// TestNpuTakesUpItsGraphs: the demo leaves the graphs it made, and takes them up again where the model is the same.
func TestNpuTakesUpItsGraphs(t *testing.T) {
	p, model := build(t), npuModel(t)
	ph := npuPhone(t, p, model)
	for _, want := range []bool{false, true} {
		out, code := ph.start("demo_qwen_npu", npuFlags()...)
		if code != 0 || strings.Contains(out, "QNN context retrieved") != want || strings.Contains(out, "prefill time") {
			t.Errorf("taken up: want %v; exit code %d\n%s", want, code, out)
		}
	}
	kept, err := os.ReadFile(filepath.Join(ph.dir, "bin/qnn_context.bin"))
	if err != nil {
		t.Fatal(err)
	}
	ph.write("bin/qnn_context.bin", append(slices.Clone(kept[1:]), kept[0]))
	if out, code := ph.start("demo_qwen_npu", npuFlags()...); code != 1 || !strings.Contains(out, "that of another model or SDK") {
		t.Errorf("of another model: exit code %d\n%s", code, out)
	}
	ph.write("bin/qnn_context.bin", kept)
	ph.write("qnn-lib/libQnnHtp.so", []byte("\x00"+strings.Replace(buildID, "2.41", "2.42", 1)+"\x00"))
	ph.write("qnn-lib/libQnnHtpV79Stub.so", []byte("\x00"+strings.Replace(buildID, "2.41", "2.42", 1)+"\x00"))
	ph.write("qnn-lib/libQnnHtpV79Skel.so", []byte("\x00"+strings.Replace(buildID, "2.41", "2.42", 1)+"\x00"))
	if out, code := ph.start("demo_qwen_npu", npuFlags()...); code != 1 || !strings.Contains(out, "that of another model or SDK") {
		t.Errorf("of another SDK: exit code %d\n%s", code, out)
	}
}
