//go:build linux

package phone_test

import (
	"archive/zip"
	"bytes"
	"cmp"
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
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// deviceGraphs makes one pair of graphs of each kind that the device's program reads, the host's answers to one prompt,
// and contexts for Qualcomm's emulator.
const deviceGraphs = `profile "emulator" { default = true }
target "SM8750" {}
toolchain "htp_host" {}
toolchain "gnu_runtime" {}
toolchain "onnx" {}
step "toy_model" "tiny" {
  seed   = 79
  layers = 2
}
step "quantize" "upstream" {
  model        = step.toy_model.tiny.outputs.dir
  architecture = "qwen3"
  block_size   = 16
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
  model     = step.toy_model.tiny.outputs.dir
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
step "htp_context" "way" {
  for_each = toset(["cut", "whole"])
  graphs   = local.graphs[each.key]
}
step "htp_emulate" "way" {
  for_each = toset(["cut", "whole"])
  context  = step.htp_context.way[each.key].outputs.dir
  prompt   = local.prompt
  tokens   = 12
}
step "python" "made" {
  environment = toolchain.onnx.dir
  script      = "made.py"
  inputs      = concat(values(local.graphs), ["programs"])
  args        = ["made", jsonencode(local.graphs)]
  output "dir" { tree = "made" }
}
output "made" { value = step.python.made.outputs.dir }
output "contexts" { value = { for way, c in step.htp_context.way : way => c.outputs.dir } }
output "emulated" { value = { for way, e in step.htp_emulate.way : way => e.outputs.dir } }
output "float" { value = step.onnx_run.way["float"].outputs.dir }
output "whole" { value = step.onnx_run.way["whole"].outputs.dir }
output "cut" { value = step.onnx_run.way["cut"].outputs.dir }
output "outside" { value = step.onnx_run.way["outside"].outputs.dir }
output "upstream" { value = step.onnx_run.way["upstream"].outputs.dir }
`

// deviceMade writes decoder.txt and rotation.f32 beside the graphs, and graphs of no language model.
const deviceMade = `
import json, shutil, sys
from pathlib import Path
import onnx
from onnx import TensorProto, helper

sys.path.insert(0, "programs")
import device

out, graphs = Path(sys.argv[1]), json.loads(sys.argv[2])
for name, at in graphs.items():
    shutil.copytree(at, out / name / "graphs", copy_function=shutil.copyfile)
    (out / name / "context").mkdir()
    device.write(Path(at), out / name / "context", True, "for a test")

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

// TestDeviceProgram compiles the program of module onnx-device for this machine, and runs it here. Its logits equal the
// host's bit by bit on ONNX Runtime's own kernels, and with Qualcomm's plug-in on Qualcomm's emulator.
func TestDeviceProgram(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("NOT TESTED: there is no gcc on this machine, which hexmage has in no toolchain")
	}
	w := EmulatorWarmed(t)
	for _, name := range []string{"arch.py", "device.py"} {
		w.Write(t, "programs/"+name, Read(t, filepath.Join(Repo(), "model", "python", "programs", name)))
	}
	w.Write(t, "made.py", deviceMade)
	w.Write(t, "pipelines/graphs.hcl", deviceGraphs)
	Wants(t, w.Run(t, "run", "graphs"), ExitOK)
	p := deviceProgram{t: t, w: w, out: filepath.Join(w.Dir, "out", "graphs"), at: filepath.Join(t.TempDir(), "answer")}
	p.libraries(t)
	source := filepath.Join(Repo(), "modules", "onnx-device", "answer.c")
	if out, err := exec.CommandContext(t.Context(), gcc, "-std=gnu11", "-O1", "-Wall", "-Wextra",
		"-Werror", "-Wno-format-truncation", "-fPIE", "-pie", "-o", p.at, source, "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Run("the host's logits", p.same)
	t.Run("on Qualcomm's emulator", p.emulated)
	t.Run("refuses", p.refuses)
	t.Run("places", func(t *testing.T) { places(t, gcc, source) })
}

// deviceProgram is the program and its inputs.
type deviceProgram struct {
	t       *testing.T
	w       *World
	out, at string // the pipeline's outputs; the program
	runtime string // a folder with ONNX Runtime and Qualcomm's libraries
	alone   string // one without the plug-in
	path    string // LD_LIBRARY_PATH of Qualcomm's libraries
}

func (p *deviceProgram) libraries(t *testing.T) {
	t.Helper()
	where := func(name string) string {
		o := p.w.Run(t, "toolchain", "path", name, "--profile", "emulator")
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
		t.Fatalf("Qualcomm's libraries: %q, %v", all, err)
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

// asked are the program's arguments; empty ones are those of the whole quantized graphs.
type asked struct{ context, prompt, tokens, graphs, runtime, report string }

// run starts the program, and returns its output and exit code. processor names the graphs that the program runs on
// ONNX Runtime's own kernels.
func (p *deviceProgram) run(t *testing.T, a asked, processor bool) (string, int) {
	t.Helper()
	at := func(s, otherwise string) string { return cmp.Or(s, filepath.Join(p.out, otherwise)) }
	args := []string{"--context", at(a.context, "made/whole/context"), "--prompt", at(a.prompt, "whole/prompt.txt"),
		"--tokens", cmp.Or(a.tokens, "12"), "--runtime", cmp.Or(a.runtime, p.runtime), "--report",
		cmp.Or(a.report, filepath.Join(t.TempDir(), "said"))}
	if processor {
		args = append(args, "--processor", at(a.graphs, "made/whole/graphs"))
	}
	return p.start(t, args...)
}

func (p *deviceProgram) start(t *testing.T, args ...string) (string, int) {
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
func (p *deviceProgram) said(t *testing.T, got, want string, bits bool) {
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

func (p *deviceProgram) same(t *testing.T) {
	for _, way := range []string{"float", "whole", "cut", "outside", "upstream"} {
		t.Run(way, func(t *testing.T) {
			made, report := filepath.Join(p.out, "made", way), filepath.Join(t.TempDir(), "said")
			said, code := p.run(t, asked{context: made + "/context", prompt: filepath.Join(p.out, way, "prompt.txt"),
				graphs: made + "/graphs", report: report}, true)
			if code != 0 || !strings.Contains(said,
				"ran on: ONNX Runtime 1.31.1's own kernels on x86_64, in the NPU's place\nload: ") {
				t.Fatalf("%d: %s", code, said)
			}
			p.said(t, report, filepath.Join(p.out, way), true)
		})
	}
}

// emulated has each graph's own context for Qualcomm's emulator, which loads no context that graphs share, and those of
// the cut graphs in a folder for each part, as they are for a device.
func (p *deviceProgram) emulated(t *testing.T) {
	twins := func(way string, graphs map[string]string) string {
		t.Helper()
		dir := t.TempDir()
		contexts := filepath.Join(p.out, "contexts."+way)
		for graph, folder := range graphs {
			if err := os.CopyFS(filepath.Join(dir, folder),
				os.DirFS(filepath.Join(contexts, "emulator", graph))); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"decoder.txt", "rotation.f32"} {
			text := Read(t, filepath.Join(contexts, "device", name))
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	whole := twins("whole", map[string]string{"prefill": ".", "decode": "."})
	for way, at := range map[string]string{"whole": whole, "cut": twins("cut",
		map[string]string{"prefill_0": "0", "decode_0": "0", "prefill_1": "1", "decode_1": "1"})} {
		report := filepath.Join(t.TempDir(), "said")
		said, code := p.run(t, asked{context: at, report: report}, false)
		if code != 0 || !strings.Contains(said, "ran on: Qualcomm's emulator for x86, in the NPU's place\n") {
			t.Fatalf("%s, %d: %s", way, code, said)
		}
		p.said(t, report, filepath.Join(p.out, "emulated."+way), true)
	}

	said, code := p.run(t, asked{context: whole, runtime: p.alone}, false)
	if code != 1 || !regexp.MustCompile(
		`has no libonnxruntime_providers_qnn\.so, and its libonnxruntime\.so, 1\.31\.1, has no QNN provider in it \(.*not supported.*\)`).MatchString(said) {
		t.Errorf("without a provider, %d: %s", code, said)
	}
	if err := os.Truncate(filepath.Join(whole, "decode_ctx_qnn.bin"), 4096); err != nil {
		t.Fatal(err)
	}
	said, code = p.run(t, asked{context: whole}, false)
	if code != 1 || !regexp.MustCompile(
		`(?s)decode_ctx\.onnx: the context was not loaded: .*The context is for SM8750, Hexagon v79, compiled by QAIRT 2\.51\.0`).MatchString(said) {
		t.Errorf("with half of a context, %d: %s", code, said)
	}
}

func (p *deviceProgram) refuses(t *testing.T) {
	made := func(names ...string) string { return filepath.Join(append([]string{p.out, "made"}, names...)...) }
	prompt := func(text string) string {
		at := filepath.Join(t.TempDir(), "prompt.txt")
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return at
	}
	context := func(pattern, with string) string {
		at := t.TempDir()
		if err := os.CopyFS(at, os.DirFS(made("whole", "context"))); err != nil {
			t.Fatal(err)
		}
		text := regexp.MustCompile(pattern).ReplaceAllString(Read(t, filepath.Join(at, "decoder.txt")), with)
		if err := os.WriteFile(filepath.Join(at, "decoder.txt"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return at
	}
	table := context("shared", "shared")
	if err := os.WriteFile(filepath.Join(table, "rotation.f32"), make([]byte, 64), 0o644); err != nil {
		t.Fatal(err)
	}
	foreign := t.TempDir()
	if err := os.Symlink(filepath.Join(p.runtime, "libQnnSystem.so"),
		filepath.Join(foreign, "libonnxruntime.so")); err != nil {
		t.Fatal(err)
	}
	file := prompt("")
	for name, c := range map[string]struct {
		asked
		says string
	}{
		"a token outside of the vocabulary": {asked{prompt: prompt("900000 1\n")},
			`Token 1 of the prompt is 900000, outside of the vocabulary of \d+: was the prompt made for another model\?`},
		"a negative token": {asked{prompt: prompt("-1")}, `Token 1 of the prompt is -1, outside`},
		"a prompt that is too long": {asked{prompt: prompt(strings.Repeat("7 ", 129))},
			`The cache holds 128 tokens, and the prompt has 129`},
		"no prompt":           {asked{prompt: file}, `the prompt has no tokens`},
		"a word for a number": {asked{prompt: prompt("1 Paris")}, `prompt\.txt: invalid number "Paris"`},
		"no tokens":           {asked{tokens: "0"}, `--tokens 0: ask for one token at least`},
		"tokens by a word":    {asked{tokens: "few"}, `--tokens: invalid number "few"`},
		"a line of another release": {asked{context: context("shared", "temperature")},
			`unknown name temperature: another release`},
		"a name without a value": {asked{context: context("shared .", "shared")},
			`the line "shared" has no value`},
		"no context": {asked{context: made()}, `decoder\.txt cannot be read: No such file`},
		"tables of another model": {asked{context: table},
			`rotation\.f32 has 16 numbers, which are not those of 144 positions`},
		"a graph of no language model": {asked{graphs: made("picture")},
			`prefill\.onnx takes no tokens, or has no cache: it is no language model`},
		"an unknown input": {asked{graphs: made("stranger")},
			`unknown input temperature, which graphs of onnx_llm do not take`},
		"a shape that is not fixed": {asked{graphs: made("open")}, `the shape of mask is not fixed`},
		"an unknown type": {asked{graphs: made("doubles")},
			`mask is of double; float, uint8, uint16 and int32 are known`},
		"no logits": {asked{graphs: made("mute")}, `prefill\.onnx gives no logits`},
		"a mask for another cache": {asked{graphs: made("short")},
			`mask is for a cache of 64 tokens, and the cache holds 128`},
		"a file that is no graph": {asked{graphs: made("torn")}, `prefill\.onnx was not loaded: .*[Pp]rotobuf`},
		"one graph of two":        {asked{graphs: made("half")}, `half has no decode\.onnx`},
		"a float cache with another zero": {asked{graphs: made("floats")},
			`past_k_0 is of float, and has a zero of \d+`},
		"a folder without graphs": {asked{graphs: made("outside", "context")}, `context has no prefill\.onnx`},
		"no ONNX Runtime": {asked{runtime: made("torn")},
			`libonnxruntime\.so is not there: --runtime names the folder`},
		"another library":     {asked{runtime: foreign}, `has no OrtGetApiBase: it is not ONNX Runtime`},
		"no folder":           {asked{runtime: made("nowhere")}, `nowhere is not there`},
		"a file for a report": {asked{report: file}, `prompt\.txt cannot be made: File exists`},
		"a report below a file": {asked{report: filepath.Join(file, "said")},
			`cannot be made: Not a directory`},
	} {
		t.Run(name, func(t *testing.T) {
			said, code := p.run(t, c.asked, true)
			if code != 1 || !regexp.MustCompile(c.says).MatchString(said) {
				t.Errorf("%d: %s", code, said)
			}
		})
	}
	table = made("outside", "graphs", "embedding.bin")
	if err := os.Rename(table, table+".away"); err != nil {
		t.Fatal(err)
	}
	outside := asked{context: made("outside", "context"), prompt: filepath.Join(p.out, "outside", "prompt.txt"),
		graphs: made("outside", "graphs")}
	if said, code := p.run(t, outside, true); code != 1 ||
		!strings.Contains(said, "embedding.bin cannot be read: No such file or directory. The graphs have no "+
			"embedding") {
		t.Errorf("without the embedding, %d: %s", code, said)
	}
	if err := os.WriteFile(table, []byte("short"), 0o644); err != nil {
		t.Fatal(err)
	}
	if said, code := p.run(t, outside, true); code != 1 ||
		!strings.Contains(said, "embedding.bin has 5 bytes, not the ") {
		t.Errorf("with a piece of the embedding, %d: %s", code, said)
	}
	for _, args := range [][]string{nil, {"What is the capital of France?"}, {"--prompt"}, {"--temperature", "1"}} {
		if said, code := p.start(t, args...); code != 1 || !strings.HasPrefix(said, "usage: ") {
			t.Errorf("%q, %d: %s", args, code, said)
		}
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

// unpinned are the releases of ort_android.hcl without digests.
const unpinned = `toolchain "ort_android" {
  release "1.27.0" {
    source "maven" {
      coordinates  = "com.microsoft.onnxruntime:onnxruntime-android:1.27.0"
      strip_prefix = "jni/arm64-v8a"
      only         = ["*.so"]
    }
  }
}
toolchain "ort_qnn_android" {
  release "2.6.0" {
    source "maven" {
      coordinates  = "com.qualcomm.qti:onnxruntime-android-qnn:2.6.0"
      strip_prefix = "jni/arm64-v8a"
      only         = ["*.so"]
    }
  }
}
`

// TestPhoneAARs pins ONNX Runtime for Android and its provider from a Maven repository, laid out as Android lays out
// AARs: the real ones are not served where hexmage is developed. An AAR with a library of Linux is refused, and so is
// an AAR with another digest than the catalog's.
func TestPhoneAARs(t *testing.T) {
	w := NewWorld(t)
	w.Write(t, "toolchains/unpinned.hcl", unpinned)
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
		at := strings.TrimSpace(w.Run(t, "toolchain", "path", name, "--profile", "device").Stdout)
		if found, err := os.ReadDir(at); err != nil || len(found) != 1 || found[0].Name() != has {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
	files[runtime] = linux
	other := NewWorld(t)
	if err := os.CopyFS(filepath.Join(other.Home, ".m2"), os.DirFS(filepath.Dir(settings))); err != nil {
		t.Fatal(err)
	}
	Wants(t, other.Run(t, "toolchain", "fetch", "ort_android", "--profile", "device"), ExitFailed,
		"wrong digest or size")
	other.Write(t, "toolchains/unpinned.hcl", unpinned)
	Wants(t, other.Run(t, "lock", "ort_android", "--profile", "device"), ExitEngine, "libonnxruntime.so", "libc.so.6")
}
