//go:build linux

package phone_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// TestPhoneORT lets a bundle answer on a phone: a simulated one behind a real adb server, with the bundle's program
// and arm64's ONNX Runtime under qemu, whose own kernels do what the NPU would. First it is the user's adb server
// that knows the phone, and its link breaks again and again; then it is the pipeline's own.
func TestPhoneORT(t *testing.T) {
	w, server := EmulatorWarmed(t), phonetest.Server(t)
	w.Env = []string{"ADB_SERVER_SOCKET=localfilesystem:" + server.Address()}
	w.Write(t, "pipelines/handy.hcl", onDevice("phone", `
  processor = var.processor`))
	one := emulate(t, w, "--linux", "--connect", "--fault", "drop-every=4MB")
	phone := "--var=phone=" + one.Serial
	Wants(t, w.Run(t, "plan", "-v", "handy", phone), ExitOK, "run/phone.c", "--target=aarch64-linux-gnu",
		"./answer --ask ask")
	Wants(t, answers(t, w, "handy", phone), ExitOK, "not a phone's speed", "aarch64, in the NPU's place",
		"times while files were pushed")
	push := func() *Outcome {
		return w.Run(t, "device", "push", "-s", one.Serial, filepath.Join("out", "handy", "bundle"),
			"/data/local/tmp/bundle")
	}
	if first, again := push(), push(); first.Code != ExitOK || again.Code != ExitOK ||
		!sentNothing.MatchString(again.Stdout) {
		t.Errorf("the bundle, and again: %s, %s", first, again)
	}
	one.input.Close()
	one.end(t)

	t.Run("the pipeline's own phone", func(t *testing.T) {
		Wants(t, w.Run(t, "run", "handy"), ExitOK, "on simulated phone SM8750 v79", "4 of 4", "not a phone's speed")
	})
	// the vendor's provider, stub and skel for arm64 Linux, with the bundle's own context
	t.Run("as far as the vendor's skel", func(t *testing.T) {
		Wants(t, w.Run(t, "run", "handy", "--var=processor=false"), ExitFailed,
			"the simulated DSP does not run it: this is as far as it goes",
			"prefill_ctx.onnx: the context was not loaded",
			"The context is for SM8750, Hexagon v79, and was made by QAIRT 2.51.0",
			"The libraries fit each other and the phone, and the DSP would load the skel")
	})
}

// phoneGraphs makes graphs of each sort that the program for phones can be given, what the host says to the same
// prompt, and contexts for the vendor's emulator.
const phoneGraphs = `profile "emulator" { default = true }
target "SM8750" {}
toolchain "htp_host" {}
toolchain "gnu_runtime" {}
toolchain "onnx" {}
step "model" "tiny" {
  seed   = 79
  layers = 2
}
step "quantize" "upstream" {
  model        = step.model.tiny.outputs.dir
  architecture = "qwen3"
  block_size   = 16
  tensors      = "upstream"
}
locals {
  ways = {
    float   = { embedding = "inside", splits = 1 }
    whole   = { embedding = "inside", splits = 1 }
    cut     = { embedding = "inside", splits = 2 }
    outside = { embedding = "outside", splits = 1 }
  }
  graphs = merge({ for name, s in step.onnx_quantize.way : name => s.outputs.dir }, { float = step.onnx_llm.way["float"].outputs.dir, upstream = step.onnx_llm.upstream.outputs.dir })
  prompt = "What is the capital of France? Name three cities beside it, and what each of them is known for."
}
step "onnx_llm" "way" {
  for_each  = local.ways
  model     = step.model.tiny.outputs.dir
  context_len = 128
  ar_len    = 16
  embedding = each.value.embedding
}
step "onnx_llm" "upstream" {
  model   = step.quantize.upstream.outputs.dir
  context_len = 128
  ar_len  = 16
}
step "onnx_quantize" "way" {
  for_each = { for name, way in local.ways : name => way if name != "float" }
  graphs   = step.onnx_llm.way[each.key].outputs.dir
  method   = "a16w8"
  kv       = each.key == "cut" ? "uint8" : "uint16"
  num_shards = each.value.splits
}
step "onnx_run" "way" {
  for_each = toset(["cut", "float", "outside", "upstream", "whole"])
  graphs   = local.graphs[each.key]
  prompt   = local.prompt
  tokens   = 12
}
step "htp_context" "whole" {
  graphs = local.graphs.whole
}
step "bundle" "whole" {
  context = step.htp_context.whole.outputs.dir
  model   = step.model.tiny.outputs.dir
}
step "htp_emulate" "whole" {
  context = step.htp_context.whole.outputs.dir
  prompt  = local.prompt
  tokens  = 12
}
step "python" "made" {
  environment = toolchain.onnx.dir
  script      = "made.py"
  inputs      = concat(values(local.graphs), [step.bundle.whole.outputs.dir])
  args        = ["made", step.bundle.whole.outputs.dir, local.prompt, jsonencode(local.graphs)]
  output "dir" { tree = "made" }
}
output "made" { value = step.python.made.outputs.dir }
output "bundle" { value = step.bundle.whole.outputs.dir }
output "context" { value = step.htp_context.whole.outputs.dir }
output "emulated" { value = step.htp_emulate.whole.outputs.dir }
output "float" { value = step.onnx_run.way["float"].outputs.dir }
output "whole" { value = step.onnx_run.way["whole"].outputs.dir }
output "cut" { value = step.onnx_run.way["cut"].outputs.dir }
output "outside" { value = step.onnx_run.way["outside"].outputs.dir }
output "upstream" { value = step.onnx_run.way["upstream"].outputs.dir }
`

// phoneMade puts questions beside the graphs, each in its folder, and makes graphs that are none of a language model's.
const phoneMade = `
import json, shutil, subprocess, sys
from pathlib import Path
import onnx
from onnx import TensorProto, helper

out, bundle, prompt, graphs = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4])
for name, at in graphs.items():
    shutil.copytree(at, out / name / "graphs", copy_function=shutil.copyfile)
    like = out / name / "like"
    shutil.copytree(bundle / "run", like / "run")
    for p in (bundle, Path(at)):
        for f in ("manifest.json", "arch.json", "cache.json", "tokenizer.json", "chat_template.jinja", "special_tokens.json"):
            if p == bundle and f != "manifest.json":
                continue
            if (p / f).is_file():
                shutil.copyfile(p / f, like / f)
    subprocess.run([sys.executable, "-s", like / "run" / "phone.py", "ask", prompt, out / name / "ask", "--tokens", "12"], check=True)

def graph(at, takes, gives):
    """A graph that gives what it takes; both graphs are it."""
    at.mkdir(parents=True)
    value = lambda t: helper.make_tensor_value_info(*t)
    nodes = [helper.make_node("Shape", [takes[-1][0]], ["s"])] + [helper.make_node("ConstantOfShape", ["s"], [g[0]]) for g in gives]
    g = helper.make_graph(nodes, "g", [value(t) for t in takes], [value(t) for t in gives])
    for name in ("prefill", "decode"):
        onnx.save(helper.make_model(g, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), at / f"{name}.onnx")

F, I = TensorProto.FLOAT, TensorProto.INT32
ids, past, mask = ("input_ids", I, [1, 16]), ("past_k_0", TensorProto.UINT16, [1, 2, 128, 8]), ("mask", F, [1, 1, 16, 144])
graph(out / "picture", [("pixels", F, [1, 3, 8, 8])], [("y", F, [1, 3, 8, 8])])
graph(out / "stranger", [ids, past, ("temperature", F, [1])], [("logits", F, [1])])
graph(out / "open", [ids, past, ("mask", F, [1, 1, "width", 144])], [("logits", F, [1, 1, "width", 144])])
graph(out / "doubles", [ids, past, ("mask", TensorProto.DOUBLE, [1, 1, 16, 144])], [("logits", F, [1, 1, 16, 144])])
graph(out / "mute", [ids, past, mask], [("words", F, [1, 1, 16, 144])])
graph(out / "short", [ids, past, ("mask", F, [1, 1, 16, 80])], [("logits", F, [1, 1, 16, 80])])
(out / "torn").mkdir()
for name in ("prefill", "decode"):
    (out / "torn" / f"{name}.onnx").write_bytes(b"\x08\x0a torn")
graph(out / "floats", [ids, ("past_k_0", F, [1, 2, 128, 8]), mask], [("logits", F, [1, 1, 16, 144])])
shutil.copytree(out / "whole" / "graphs", out / "half")
(out / "half" / "decode.onnx").unlink()
`

// TestPhoneProgram compiles a bundle's program for phones with this machine's compiler, and runs it on this machine:
// on ONNX Runtime's own kernels it says to the bit what the host's own program says, and with the vendor's plug-in on
// the vendor's emulator as well. What it cannot work with it refuses.
func TestPhoneProgram(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("NOT TESTED: there is no gcc on this machine, which hexmage has in no toolchain")
	}
	w := EmulatorWarmed(t)
	w.Write(t, "made.py", phoneMade)
	w.Write(t, "pipelines/graphs.hcl", phoneGraphs)
	Wants(t, w.Run(t, "run", "graphs"), ExitOK)
	p := phoneProgram{t: t, w: w, out: filepath.Join(w.Dir, "out", "graphs"), at: filepath.Join(t.TempDir(), "answer")}
	p.libraries(t)
	source := filepath.Join(p.out, "bundle", "run", "phone.c")
	if out, err := exec.CommandContext(t.Context(), gcc, "-std=c11", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra",
		"-Werror", "-Wno-format-truncation", "-fPIE", "-pie", "-o", p.at, source, "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Run("says what the host says", p.same)
	t.Run("on the vendor's emulator", p.emulated)
	t.Run("refuses", p.refuses)
	t.Run("words", p.words)
	t.Run("places", func(t *testing.T) { places(t, gcc, source) })
}

// phoneProgram is the program, and what it is tried on.
type phoneProgram struct {
	t       *testing.T
	w       *World
	out, at string // the pipeline's outputs; the program
	runtime string // a folder with ONNX Runtime and the vendor's libraries
	alone   string // one without the plug-in
	path    string // LD_LIBRARY_PATH of the vendor's libraries
}

func (p *phoneProgram) libraries(t *testing.T) {
	t.Helper()
	where := func(name string) string {
		o := p.w.Run(t, "toolchain", "where", name, "--profile", "emulator")
		if o.Code != ExitOK {
			t.Fatal(o)
		}
		return strings.TrimSpace(o.Stdout)
	}
	htp, gnu := where("htp_host"), where("gnu_runtime")
	p.runtime, p.alone = t.TempDir(), t.TempDir()
	p.path = filepath.Join(htp, "onnxruntime_qnn.libs") + ":" + filepath.Join(gnu, "usr/lib/x86_64-linux-gnu") + ":" +
		filepath.Join(gnu, "lib/x86_64-linux-gnu")
	found, err := filepath.Glob(filepath.Join(where("onnx"),
		"lib/python3.13/site-packages/onnxruntime/capi/libonnxruntime.so.1.*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("ONNX Runtime's library: %q, %v", found, err)
	}
	all, err := filepath.Glob(filepath.Join(htp, "onnxruntime_qnn", "*.so"))
	if err != nil || len(all) == 0 {
		t.Fatalf("the vendor's libraries: %q, %v", all, err)
	}
	for _, dir := range []string{p.runtime, p.alone} {
		for name, at := range map[string]string{"libonnxruntime.so": found[0]} {
			if err := os.Symlink(at, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		for _, at := range all {
			if dir == p.alone && strings.Contains(at, "providers_qnn") {
				continue
			}
			if err := os.Symlink(at, filepath.Join(dir, filepath.Base(at))); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// run answers, and gives what was printed and the exit code.
func (p *phoneProgram) run(t *testing.T, args ...string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), p.at, args...)
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+p.path)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// said compares what was said with what a step said, but for the words.
func (p *phoneProgram) said(t *testing.T, got, want string, bits bool) {
	t.Helper()
	var g, r struct {
		Prompt []int `json:"prompt_tokens"`
		Tokens []int
	}
	for at, into := range map[string]any{got: &g, want: &r} {
		if err := json.Unmarshal([]byte(Read(t, filepath.Join(at, "said.json"))), into); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(g.Prompt, r.Prompt) || !slices.Equal(g.Tokens, r.Tokens) || len(r.Tokens) < 2 {
		t.Errorf("it said %v to %v; want %v to %v", g.Tokens, g.Prompt, r.Tokens, r.Prompt)
	}
	if bits && Read(t, filepath.Join(got, "said.npy")) != Read(t, filepath.Join(want, "said.npy")) {
		t.Error("said.npy is another one")
	}
}

func (p *phoneProgram) same(t *testing.T) {
	for _, way := range []string{"float", "whole", "cut", "outside", "upstream"} {
		t.Run(way, func(t *testing.T) {
			report := filepath.Join(t.TempDir(), "said")
			said, code := p.run(t, "--ask", filepath.Join(p.out, "made", way, "ask"), "--graphs",
				filepath.Join(p.out, "made", way, "graphs"), "--runtime", p.runtime, "--report", report, "--processor")
			if code != 0 || !strings.Contains(said,
				"ran on: ONNX Runtime 1.31.1's own kernels on x86_64, in the NPU's place\nload: ") {
				t.Fatalf("%d: %s", code, said)
			}
			p.said(t, report, filepath.Join(p.out, way), true)
		})
	}
}

func (p *phoneProgram) emulated(t *testing.T) {
	twins := t.TempDir() // the emulator loads no context that graphs share
	for _, graph := range []string{"prefill", "decode"} {
		if err := os.CopyFS(twins, os.DirFS(filepath.Join(p.out, "context", "emulator", graph))); err != nil {
			t.Fatal(err)
		}
	}
	report := filepath.Join(t.TempDir(), "said")
	said, code := p.run(t, "--ask", filepath.Join(p.out, "made", "whole", "ask"), "--graphs", twins, "--runtime",
		p.runtime, "--report", report)
	if code != 0 || !strings.Contains(said, "ran on: the vendor's emulator for x86, in the NPU's place\n") {
		t.Fatalf("%d: %s", code, said)
	}
	p.said(t, report, filepath.Join(p.out, "emulated"), true)

	said, code = p.run(t, "--ask", filepath.Join(p.out, "made", "whole", "ask"), "--graphs", twins, "--runtime",
		p.alone, "--report", t.TempDir())
	if code != 1 || !regexp.MustCompile(
		`has no libonnxruntime_providers_qnn\.so, and its libonnxruntime\.so, 1\.31\.1, has no QNN provider in it \(.*not supported.*\)`).MatchString(said) {
		t.Errorf("without a provider, %d: %s", code, said)
	}
	if err := os.Truncate(filepath.Join(twins, "decode_ctx_qnn.bin"), 4096); err != nil {
		t.Fatal(err)
	}
	said, code = p.run(t, "--ask", filepath.Join(p.out, "made", "whole", "ask"), "--graphs", twins, "--runtime",
		p.runtime, "--report", t.TempDir())
	if code != 1 || !regexp.MustCompile(
		`(?s)decode_ctx\.onnx: the context was not loaded: .*The context is for SM8750, Hexagon v79, and was made by QAIRT 2\.51\.0`).MatchString(said) {
		t.Errorf("with half of a context, %d: %s", code, said)
	}
}

func (p *phoneProgram) refuses(t *testing.T) {
	made := func(names ...string) string { return filepath.Join(append([]string{p.out, "made"}, names...)...) }
	whole := made("whole", "ask")
	ask := func(edit func(string) string) string {
		at := t.TempDir()
		if err := os.CopyFS(at, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, "ask.txt"), []byte(edit(Read(t, filepath.Join(whole, "ask.txt")))),
			0o644); err != nil {
			t.Fatal(err)
		}
		return at
	}
	replaced := func(pattern, with string) string {
		return ask(func(s string) string { return regexp.MustCompile(pattern).ReplaceAllString(s, with) })
	}
	table := ask(func(s string) string { return s })
	if err := os.WriteFile(filepath.Join(table, "rotation.bin"), make([]byte, 64), 0o644); err != nil {
		t.Fatal(err)
	}
	foreign := t.TempDir()
	if err := os.Symlink(filepath.Join(p.runtime, "libQnnSystem.so"),
		filepath.Join(foreign, "libonnxruntime.so")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ ask, graphs, runtime, report, says string }{
		"a token outside of the vocabulary": {ask: replaced(`prompt \d+`, "prompt 900000"),
			says: `Token 1 of the prompt is 900000, outside of the vocabulary of \d+: was the prompt made for another model\?`},
		"a token below it": {ask: replaced(`prompt \d+`, "prompt -1"),
			says: `Token 1 of the prompt is -1, outside`},
		"a prompt that is too long": {ask: replaced(`prompt .*`, "prompt"+strings.Repeat(" 7", 129)),
			says: `The cache holds 128 tokens, and the prompt has 129`},
		"no prompt": {ask: replaced(`prompt .*\n`, ""),
			says: `ask\.txt: the prompt has no tokens`},
		"a word for a number": {ask: replaced(`prompt \d+`, "prompt Paris"),
			says: `ask\.txt: Paris is no number`},
		"nothing to say": {ask: replaced(`tokens 12`, "tokens 0"),
			says: `tokens is 0, and at least one is to be said`},
		"a line of another release": {ask: replaced(`tokens 12`, "temperature 1"),
			says: `temperature is not known: was it made by another release`},
		"a name without a value": {ask: replaced(`tokens 12`, "tokens"),
			says: `the line "tokens" has no value`},
		"no question": {ask: made(), says: `ask\.txt cannot be read: No such file`},
		"tables of another model": {ask: table,
			says: `rotation\.bin has 16 numbers, which are not those of 144 positions`},
		"a graph of no language model": {graphs: made("picture"),
			says: `prefill\.onnx takes no tokens, or has no cache: it is no language model`},
		"an input that nobody knows": {graphs: made("stranger"),
			says: `prefill\.onnx takes temperature, which is nothing that a language model of onnx_llm takes`},
		"a shape that is not fixed": {graphs: made("open"), says: `the shape of mask is not fixed`},
		"a type that nobody knows": {graphs: made("doubles"),
			says: `mask is of double; float, uint8, uint16 and int32 are known`},
		"no logits": {graphs: made("mute"), says: `prefill\.onnx gives no logits`},
		"a mask for another cache": {graphs: made("short"),
			says: `mask is for a cache of 64 tokens, and the cache holds 128`},
		"a file that is no graph": {graphs: made("torn"), says: `prefill\.onnx was not loaded: .*[Pp]rotobuf`},
		"one graph of two":        {graphs: made("half"), says: `half has no decode\.onnx`},
		"a float cache with another zero": {graphs: made("floats"),
			says: `past_k_0 is of float, and has a zero of \d+`},
		"a folder without graphs": {graphs: made("outside", "ask"), says: `ask has no prefill\.onnx`},
		"no ONNX Runtime": {runtime: made("torn"),
			says: `libonnxruntime\.so is not there: --runtime names the folder`},
		"another library in its place":    {runtime: foreign, says: `has no OrtGetApiBase: it is not ONNX Runtime`},
		"no folder":                       {runtime: made("nowhere"), says: `nowhere is not there`},
		"a report that cannot be written": {report: file, says: `file cannot be made: File exists`},
		"a report in a folder that is not": {report: filepath.Join(file, "said"),
			says: `cannot be made: Not a directory`},
	} {
		t.Run(name, func(t *testing.T) {
			or := func(s, otherwise string) string {
				if s == "" {
					return otherwise
				}
				return s
			}
			said, code := p.run(t, "--ask", or(c.ask, whole), "--graphs", or(c.graphs, made("whole", "graphs")),
				"--runtime", or(c.runtime, p.runtime), "--report", or(c.report, t.TempDir()), "--processor")
			if code != 1 || !regexp.MustCompile(c.says).MatchString(said) {
				t.Errorf("%d: %s", code, said)
			}
		})
	}
	table = made("outside", "graphs", "embedding.bin")
	if err := os.Rename(table, table+".away"); err != nil {
		t.Fatal(err)
	}
	args := []string{"--ask", made("outside", "ask"), "--graphs", made("outside", "graphs"), "--runtime", p.runtime,
		"--report", t.TempDir(), "--processor"}
	if said, code := p.run(t, args...); code != 1 ||
		!strings.Contains(said, "embedding.bin cannot be read: No such file or directory. The graphs have no "+
			"embedding") {
		t.Errorf("without the embedding, %d: %s", code, said)
	}
	if err := os.WriteFile(table, []byte("short"), 0o644); err != nil {
		t.Fatal(err)
	}
	if said, code := p.run(t, args...); code != 1 || !strings.Contains(said, "embedding.bin has 5 bytes, not the ") {
		t.Errorf("with a piece of the embedding, %d: %s", code, said)
	}
	if said, code := p.run(t, "What is the capital of France?"); code != 1 || !strings.HasPrefix(said, "usage: ") {
		t.Errorf("used otherwise, %d: %s", code, said)
	}
}

// words are put to what was said by the bundle's other half.
func (p *phoneProgram) words(t *testing.T) {
	p.w.Write(t, "pipelines/words.hcl", `profile "emulator" { default = true }
toolchain "onnx" {}
step "python" "words" {
  environment = toolchain.onnx.dir
  script      = "out/graphs/bundle/run/phone.py"
  inputs      = ["out/graphs/bundle", "out/graphs/emulated"]
  args        = ["words", "What?", "out/graphs/emulated", "said"]
  output "dir" { tree = "said" }
}
output "said" { value = step.python.words.outputs.dir }
`)
	if err := os.WriteFile(filepath.Join(p.out, "emulated", "times.json"), []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	Wants(t, p.w.Run(t, "run", "words"), ExitOK)
	var got, want struct{ Prompt, Text string }
	for at, into := range map[string]any{filepath.Join(p.w.Dir, "out", "words", "said"): &got,
		filepath.Join(p.out, "emulated"): &want} {
		if err := json.Unmarshal([]byte(Read(t, filepath.Join(at, "said.json"))), into); err != nil {
			t.Fatal(err)
		}
	}
	if got.Text != want.Text || want.Text == "" || got.Prompt == "" {
		t.Errorf("the words are %q, want %q", got, want)
	}
}

// places holds the places of ONNX Runtime's functions to its own header, of a release whose table has them all.
func places(t *testing.T, gcc, source string) {
	const module = "github.com/yalue/onnxruntime_go@v1.27.0" // which has the header among its files
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module)
	cmd.Dir = t.TempDir()
	out, err := cmd.Output()
	var from struct{ Dir, Error string }
	if uerr := json.Unmarshal(out, &from); err != nil || uerr != nil || from.Dir == "" {
		t.Fatalf("%s: %v, %v: %s", module, err, uerr, out)
	}
	found := regexp.MustCompile(`(?m)^  X\((\w+), (\d+), (.+?), *(?:\\\n *)?\((.*)\)\)`).
		FindAllStringSubmatch(regexp.MustCompile(` *\\\n`).ReplaceAllString(Read(t, source), "\n"), -1)
	if len(found) < 25 {
		t.Fatalf("only %d places were found", len(found))
	}
	code := "#include <stddef.h>\n#include \"onnxruntime_c_api.h\"\n#define AT(name, place) " +
		"_Static_assert(offsetof(OrtApi, name) == place * sizeof(void *), #name);\n"
	for _, f := range found {
		code += "AT(" + f[1] + ", " + f[2] + ")\n"
	}
	code += `_Static_assert(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT == 1 && ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8 == 2 && ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16 == 4 && ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32 == 6, "types");
_Static_assert(ORT_LOGGING_LEVEL_ERROR == 3 && OrtHardwareDeviceType_NPU == 2 && OrtArenaAllocator == 1 && OrtMemTypeDefault == 0, "numbers");
_Static_assert(offsetof(OrtApiBase, GetApi) == 0 && offsetof(OrtApiBase, GetVersionString) == sizeof(void *), "base");
`
	at := filepath.Join(t.TempDir(), "places.c")
	if err := os.WriteFile(at, []byte(code), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), gcc, "-std=c11", "-fsyntax-only", "-I", from.Dir,
		at).CombinedOutput(); err != nil {
		t.Errorf("the table is another one: %v: %s", err, out)
	}
}

// TestPhoneAARs pins ONNX Runtime for Android and its provider from a Maven repository, laid out as Android lays out
// AARs: the real ones are not served where hexmage is developed. An AAR with a library of Linux is refused.
func TestPhoneAARs(t *testing.T) {
	w := NewWorld(t)
	clang := toolchaintest.Path(t, "llvm", "usr/bin/clang-22")
	library := func(name string, more ...string) []byte {
		at := filepath.Join(t.TempDir(), name)
		args := append([]string{"--target=aarch64-linux-gnu", "-shared", "-nostdlib", "-fuse-ld=lld",
			"-Wl,-soname," + name, "-x", "c", "-", "-x", "none", "-o", at}, more...)
		cmd := exec.CommandContext(t.Context(), clang, args...)
		cmd.Stdin = strings.NewReader("int puts(const char *); int OrtGetApiBase(void) { return puts(\"\"); }")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return []byte(Read(t, at))
	}
	aar := func(name string, text []byte) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for name, text := range map[string][]byte{"AndroidManifest.xml": []byte("<manifest/>"),
			"jni/x86_64/" + name: []byte("another machine's"), "jni/arm64-v8a/" + name: text, "headers/a.h": nil} {
			f, err := z.Create(name)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = f.Write(text)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	linux := aar("libonnxruntime.so",
		library("libonnxruntime.so",
			filepath.Join(toolchaintest.Root(t, "linux_arm64"), "lib/aarch64-linux-gnu/libc.so.6")))
	const runtime = "/com/microsoft/onnxruntime/onnxruntime-android/1.27.0/onnxruntime-android-1.27.0.aar"
	files := map[string][]byte{
		runtime: aar("libonnxruntime.so", library("libonnxruntime.so")),
		"/com/qualcomm/qti/onnxruntime-android-qnn/2.6.0/onnxruntime-android-qnn-2.6.0.aar": aar(
			"libonnxruntime_providers_qnn.so", library("libonnxruntime_providers_qnn.so")),
	}
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if b, ok := files[r.URL.Path]; ok {
			_, _ = out.Write(b)
			return
		}
		http.NotFound(out, r)
	}))
	defer server.Close()
	settings := filepath.Join(w.Home, ".m2", "settings.xml")
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings,
		[]byte(`<settings><mirrors><mirror><id>here</id><mirrorOf>*</mirrorOf><url>`+server.URL+
			`</url></mirror></mirrors></settings>`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, has := range map[string]string{"ort_android": "libonnxruntime.so",
		"ort_qnn_android": "libonnxruntime_providers_qnn.so"} {
		Wants(t, w.Run(t, "lock", name, "--profile", "device"), ExitOK, "pinned")
		Wants(t, w.Run(t, "toolchain", "fetch", name, "--profile", "device"), ExitOK)
		at := strings.TrimSpace(w.Run(t, "toolchain", "where", name, "--profile", "device").Stdout)
		if found, err := os.ReadDir(at); err != nil || len(found) != 1 || found[0].Name() != has {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
	files[runtime] = linux
	other := NewWorld(t)
	if err := os.CopyFS(filepath.Join(other.Home, ".m2"), os.DirFS(filepath.Dir(settings))); err != nil {
		t.Fatal(err)
	}
	Wants(t, other.Run(t, "lock", "ort_android", "--profile", "device"), ExitEngine, "libonnxruntime.so", "libc.so.6")
}
