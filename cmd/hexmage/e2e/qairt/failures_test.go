//go:build linux

package qairt_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/qnn/qnnctx/qnnctxtest"
	"github.com/hexmage/hexmage/simulated/sdk"
	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
)

// release is the simulated SDK whose tools fail here.
const release = "2.42.0.251225"

// bench is a folder in which the check program runs simulated tools by itself.
type bench struct {
	dir, sdk, python, program string
}

// newBench has the simulated SDK, the example graph with its samples, and what each stage takes from the one before.
func newBench(t *testing.T, python string) *bench {
	t.Helper()
	b := &bench{dir: t.TempDir(), sdk: t.TempDir(), python: python, program: filepath.Join(Repo(), "modules",
		"onnx-htp", "qairt.py")}
	unpackSDK(t, b.sdk)
	if out, err := exec.CommandContext(t.Context(), python, filepath.Join(Repo(), "modules", "onnx-htp",
		"example.py"), filepath.Join(b.dir, "example")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b.write(t, "named.encodings", `{"activation_encodings": [{"name": "image"}, {"name": "scores"}]}`)
	b.write(t, "other.encodings", `{"activation_encodings": {"/model/Conv_output_0": []}, "param_encodings": {}}`)
	b.write(t, "graphs.py",
		`import os, numpy, onnx
m = onnx.load("example/net.onnx")
m.graph.initializer.append(onnx.numpy_helper.from_array(numpy.ones(1 << 19, numpy.float32), "wide"))
os.mkdir("wide")
for name in ("prefill", "decode"):
    onnx.save(m, f"wide/{name}.onnx")
m = onnx.load("example/net.onnx")
m.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "N"
onnx.save(m, "dynamic.onnx")
`)
	cmd := exec.CommandContext(t.Context(), python, "graphs.py")
	cmd.Dir = b.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b.write(t, "matmul.onnx", string(qnnctxtest.Real(t, "prefill.onnx")))
	for _, stage := range []string{"flags", "convert", "raw", "quantize", "context", "results"} {
		if said, ok := b.run(t, stage, provoked{}); !ok {
			t.Fatalf("%s does not work without a failure: %s", stage, said)
		}
	}
	return b
}

// copied returns a copy of the bench without what a stage makes.
func (b *bench) copied(t *testing.T, stage string) *bench {
	t.Helper()
	c := *b
	c.dir = t.TempDir()
	err := os.CopyFS(c.dir, os.DirFS(b.dir))
	if made := map[string]string{"convert": "float", "quantize": "dlc", "context": "device",
		"results": "outputs"}[stage]; err == nil && made != "" {
		err = os.RemoveAll(filepath.Join(c.dir, made))
	}
	if err != nil {
		t.Fatal(err)
	}
	return &c
}

func unpackSDK(t *testing.T, dir string) {
	t.Helper()
	var raw bytes.Buffer
	if err := sdktest.Archive(&raw, "qairt", release); err != nil {
		t.Fatal(err)
	}
	r, err := sdk.Find("qairt", release)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(raw.Bytes()), int64(raw.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		at := filepath.Join(dir, strings.TrimPrefix(f.Name, r.Prefix))
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(in)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(at), 0o755)
		}
		if err == nil {
			err = os.WriteFile(at, data, f.Mode())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func (b *bench) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// provoked is a failure of a simulated tool, or a change of the command or its files that fails.
type provoked struct {
	stage, name string
	plays       string            // SIMULATED_FAILURE
	words       map[string]string // replaced words of the command; "" removes one
	more        []string          // added to the tool's arguments
	prepare     func(t *testing.T, b *bench)
	results     *ran
	want        string
}

// command is a stage as the module has it.
func (b *bench) command(stage string) []string {
	bin, lib := b.sdk+"/bin/x86_64-linux-clang/", b.sdk+"/lib/x86_64-linux-clang/"
	return map[string][]string{
		"flags": {"flags", "--sdk", b.sdk, "--out", "flags.json", "--tools", "qairt-converter",
			"qairt-quantizer", "qnn-context-binary-generator", "qnn-net-run"},
		"convert": {"convert", "--flags", "flags.json", "--report", "convert.json", "--",
			bin + "qairt-converter", "--input_network", "example/net.onnx",
			"--output_path", "float/net.dlc", "--float_bitwidth", "32"},
		"overridden": {"convert", "--flags", "flags.json", "--report", "convert.json", "--",
			bin + "qairt-converter", "--input_network", "example/net.onnx",
			"--output_path", "overridden/net.dlc", "--float_bitwidth", "16", "--quantization_overrides",
			"named.encodings"},
		"raw": {"raw", "--samples", "example/samples", "--graph", "example/net.onnx", "--out", "calibration"},
		"quantize": {"quantize", "--flags", "flags.json", "--report", "quantize.json", "--graph",
			"example/net.onnx", "--", bin + "qairt-quantizer", "--input_dlc", "float/net.dlc",
			"--output_dlc", "dlc/net.dlc", "--input_list", "calibration/list.txt", "--act_bitwidth", "16",
			"--weights_bitwidth", "8", "--bias_bitwidth", "32"},
		"context": {"context", "--flags", "flags.json", "--report", "context.json", "--extensions",
			lib + "libQnnHtpNetRunExtensions.so", "--soc", "SM8750", "--soc-model", "69",
			"--arch", "v79", "--vtcm-mb", "8", "--simulated", "--", bin + "qnn-context-binary-generator",
			"--backend", lib + "libQnnHtp.so",
			"--model", lib + "libQnnModelDlc.so", "--dlc_path", "dlc/net.dlc", "--binary_file", "net",
			"--output_dir", "device", "--config_file", "link.json"},
		"results": {"results", "--samples", "example/samples", "--graph", "net", "--context", "device/net.bin",
			"--log", "log.txt", "--results", "results.tar", "--out", "outputs"},
	}[stage]
}

// run runs a stage.
func (b *bench) run(t *testing.T, stage string, p provoked) (said string, ok bool) {
	t.Helper()
	argv := b.command(stage)
	for from, to := range p.words {
		i := slices.Index(argv, from)
		if i < 0 {
			i = slices.IndexFunc(argv, func(w string) bool { return strings.HasSuffix(w, from) })
		}
		if i < 0 {
			t.Fatalf("%s has no %q", stage, from)
		}
		argv[i] = to
	}
	argv = append(slices.DeleteFunc(argv, func(w string) bool { return w == "" }), p.more...)
	if p.prepare != nil {
		p.prepare(t, b)
	}
	if stage == "results" {
		b.ran(t, p.results)
	}
	cmd := exec.CommandContext(t.Context(), b.python, append([]string{b.program}, argv...)...)
	cmd.Dir = b.dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HEXMAGE_SELF=" + Hexmage(), "HOME=" + b.dir,
		"SIMULATED_FAILURE=" + p.plays, "PYTHONDONTWRITEBYTECODE=1"}
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// ran has the log, the metadata and the number of result folders that the simulated phone returned.
type ran struct {
	log, metadata string
	results       int // folders
	bytes         int // of a file
	value         func(sample, i int) float32
	name          string
	cut           bool // the archive
}

// ran writes a run's log and archive: eight samples with ten numbers each, unless r has others.
func (b *bench) ran(t *testing.T, r *ran) {
	t.Helper()
	a := ran{log: "Finished Executing Graphs\n", metadata: "inferences_completed: 8\n", results: 8, bytes: 40,
		value: func(sample, i int) float32 { return float32(sample + i) }, name: "scores.raw"}
	if r != nil {
		if r.log != "" {
			a.log = r.log
		}
		if r.metadata != "" {
			a.metadata = r.metadata
		}
		if r.results > 0 {
			a.results = r.results
		}
		if r.bytes > 0 {
			a.bytes = r.bytes
		}
		if r.value != nil {
			a.value = r.value
		}
		if r.name != "" {
			a.name = r.name
		}
		a.cut = r.cut
	}
	var raw bytes.Buffer
	z := tar.NewWriter(&raw)
	add := func(name string, data []byte) {
		if err := z.WriteHeader(&tar.Header{Name: "results/" + name, Mode: 0o644,
			Size: int64(len(data))}); err != nil {
			t.Fatal(err)
		}
		if _, err := z.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	add("execution_metadata.yaml", []byte(a.metadata))
	for sample := range a.results {
		var data []byte
		for i := range a.bytes / 4 {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(a.value(sample, i)))
		}
		add("Result_"+strconv.Itoa(sample)+"/"+a.name, data)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	b.write(t, "log.txt", a.log)
	if a.cut {
		raw.Truncate(700) // in the middle of the first file's record
	}
	b.write(t, "results.tar", raw.String())
}

// sample is a file of calibration with other bytes.
func sample(data string) func(t *testing.T, b *bench) {
	return func(t *testing.T, b *bench) {
		b.write(t, filepath.Join("calibration", "0.0.raw"), data)
	}
}

// silent are failures that QAIRT's tools have shown with exit code 0 or without a word, or that would make them fail
// so. docs/onnx-qairt.md has their sources.
func silent() []provoked {
	zeros := func(int, int) float32 { return 0 }
	return []provoked{
		{stage: "flags", name: "help without arguments", plays: "no-help",
			want: "qairt-converter --help lists no arguments"},
		{stage: "flags", name: "two SDKs in one folder", plays: "mixed-sdk",
			want: "the tool is from QAIRT 2.30.0, but sdk.yaml names 2.42.0"},
		{stage: "flags", name: "part of an SDK", words: map[string]string{"qnn-net-run": "qnn-nothing"},
			want: "the SDK lacks this tool"},

		{stage: "convert", name: "no DLC", plays: "dlc-none",
			want: "float/net.dlc: exit code 0, but the tool did not write this file"},
		{stage: "convert", name: "empty DLC", plays: "dlc-small",
			want: "float/net.dlc: exit code 0, but the tool wrote only 0 bytes"},
		{stage: "convert", name: "no success in the log", plays: "no-token",
			want: "the log lacks 'INFO_CONVERSION_SUCCESS'"},
		{stage: "convert", name: "graph has another name", plays: "other-name",
			want: "missing graph net; the file has model"},
		{stage: "convert", name: "inputs have other names", plays: "other-inputs",
			want: "inputs image_1 differ from the ONNX graph's inputs image"},
		{stage: "convert", name: "floats of another width", plays: "other-float",
			want: "floats have 16 bits, but --float_bitwidth is 32"},
		{stage: "convert", name: "operator unknown", plays: "unknown-op", want: "QAIRT has no such operator"},
		{stage: "convert", name: "width by default", words: map[string]string{"--float_bitwidth": "", "32": ""},
			want: "missing --float_bitwidth"},
		{stage: "convert", name: "graph would be renamed",
			words: map[string]string{"float/net.dlc": "float/my-net.dlc"},
			want:  "the converter would name the graph my_net"},
		{stage: "convert", name: "dynamic shape", words: map[string]string{"example/net.onnx": "dynamic.onnx"},
			want: "input image has no fixed shape (N)"},
		{stage: "convert", name: "disk too small", prepare: heavy,
			want: "the converter needs up to 6597"},
		{stage: "convert", name: "argument of another release", more: []string{"--float_fallback"},
			want: "unknown argument --float_fallback"},
		{stage: "overridden", name: "no encoding applied", plays: "no-encodings",
			want: "the converter processed 0 encodings"},
		{stage: "overridden", name: "encodings lost", plays: "all-float",
			want: "no quantized tensors, although named.encodings has encodings"},
		{stage: "overridden", name: "encodings of another graph",
			words: map[string]string{"named.encodings": "other.encodings"},
			want:  "none of the 1 names is an input or output of net.onnx"},

		{stage: "quantize", name: "nothing quantized", plays: "float-left", want: "no quantized tensors"},
		{stage: "quantize", name: "width ignored", plays: "width",
			want: "image is ufixed8, but --act_bitwidth is 16"},
		{stage: "quantize", name: "steps ignored", plays: "steps",
			want: "restrict_quantization_steps had no effect"},
		{stage: "quantize", name: "mixed precision", plays: "mixed", want: "add --disable_dynamic_16_bit_weights"},
		{stage: "quantize", name: "convolution without bias", plays: "no-bias", want: "a convolution has no bias"},
		{stage: "quantize", name: "no samples", words: map[string]string{"--input_list": "",
			"calibration/list.txt": ""}, want: "missing --input_list"},
		{stage: "quantize", name: "widths by default", words: map[string]string{"--bias_bitwidth": "",
			"32": ""}, want: "missing bit widths"},
		{stage: "quantize", name: "float fallback", words: map[string]string{"--input_list": "-f",
			"calibration/list.txt": ""}, want: "silently keeps tensors as floats"},
		{stage: "quantize", name: "float fallback beside samples", more: []string{"-f"},
			want: "--enable_float_fallback excludes --input_list"},
		{stage: "quantize", name: "equalization without convolutions",
			words: map[string]string{"example/net.onnx": "matmul.onnx"}, more: []string{"--apply_algorithms",
				"cle"},
			want: "cross-layer equalization needs convolutions"},
		{stage: "quantize", name: "sample of another size", prepare: sample("short"),
			want: "0.0.raw: 5 bytes, but input image takes 3072 bytes in float32"},
		{stage: "quantize", name: "sample of another type", prepare: sample(strings.Repeat("\xff", 3072)),
			want: "some numbers are not finite"},

		{stage: "context", name: "no target", words: map[string]string{"69": "0"},
			want: "would compile for v68 and 4 MB"},
		{stage: "context", name: "target lost", plays: "default-target",
			want: "SoC model 0 instead of 69; arch v68 instead of v79; VTCM 4 MB instead of 8 MB"},
		{stage: "context", name: "other VTCM", plays: "vtcm", want: "VTCM 4 MB instead of 8 MB"},
		{stage: "context", name: "other level", plays: "level",
			want: "optimization level 1 instead of 2"},
		{stage: "context", name: "other graph", plays: "graph-name",
			want: "graphs net_0 instead of net"},
		{stage: "context", name: "encoding lost", plays: "encoding",
			want: "image of net is float32 without an encoding instead of ufixed16"},
		{stage: "context", name: "config ignored", plays: "unknown-key", want: "the tool ignores keys of a config"},
		{stage: "context", name: "no context", plays: "context-none",
			want: "device/net.bin: exit code 0, but the tool did not write this file"},
		{stage: "context", name: "empty context", plays: "context-small",
			want: "device/net.bin: exit code 0, but the tool wrote only 0 bytes"},
		{stage: "context", name: "context elsewhere", plays: "other-file", want: "written: device/bins/net.bin"},
		{stage: "context", name: "file with a folder", words: map[string]string{"net": "net.1"},
			want: "the generator misreads --binary_file"},
		{stage: "context", name: "DLC as model", words: map[string]string{"/libQnnModelDlc.so": "dlc/net.dlc"},
			want: "--model needs libQnnModelDlc.so"},
		{stage: "context", name: "weights not shared", prepare: wide,
			words: map[string]string{"dlc/net.dlc": "wide/prefill.dlc,wide/decode.dlc"},
			want:  "the graphs do not share weights"},
		{stage: "context", name: "DLC of another release", prepare: otherRelease,
			want: "but the generator is from 2.48.40. Use one release"},

		{stage: "results", name: "run not finished", results: &ran{log: "Executing Graphs\n"},
			want: "the log lacks 'Finished Executing Graphs'"},
		{stage: "results", name: "inferences missing", results: &ran{metadata: "inferences_completed: 7\n"},
			want: "only 7 of 8 inferences completed"},
		{stage: "results", name: "results of an earlier run", results: &ran{results: 9},
			want: "9 results for 8 samples"},
		{stage: "results", name: "results missing", results: &ran{results: 5},
			want: "5 results for 8 samples"},
		{stage: "results", name: "native results", results: &ran{name: "scores_native.raw"},
			want: "Result_0/scores.raw: qnn-net-run did not write this file; written: Result_0/scores_native.raw"},
		{stage: "results", name: "results of another type", results: &ran{bytes: 20},
			want: "Result_0/scores.raw: 20 bytes, but output scores takes 40"},
		{stage: "results", name: "archive cut short", results: &ran{cut: true},
			want: "cannot read the archive from the phone"},
		{stage: "results", name: "overflow", results: &ran{value: func(int,
			int) float32 {
			return float32(math.NaN())
		}}, want: "not finite"},
		{stage: "results", name: "zeros", results: &ran{value: zeros}, want: "all outputs are zero"},
		{stage: "results", name: "inputs not read", results: &ran{value: func(_,
			i int) float32 {
			return float32(i)
		}}, want: "all samples have the same outputs"},
	}
}

// heavy puts a file of 1 TiB, without blocks, beside the graph.
func heavy(t *testing.T, b *bench) {
	at := filepath.Join(b.dir, "example", "net.onnx.data")
	b.write(t, filepath.Join("example", "net.onnx.data"), "")
	if err := os.Truncate(at, 1<<40); err != nil {
		t.Fatal(err)
	}
}

// wide converts two graphs with 2 MB of weights. A simulated context has the weights of each.
func wide(t *testing.T, b *bench) {
	for _, name := range []string{"prefill", "decode"} {
		words := map[string]string{"example/net.onnx": "wide/" + name + ".onnx",
			"float/net.dlc": "wide/" + name + ".dlc"}
		if said, ok := b.run(t, "convert", provoked{words: words}); !ok {
			t.Fatal(said)
		}
	}
}

// otherRelease has the SDK say that it is another one than that of the DLC.
func otherRelease(t *testing.T, b *bench) {
	old := Read(t, filepath.Join(b.dir, "flags.json"))
	b.write(t, "flags.json", strings.Replace(old, `"version": "2.42.0"`, `"version": "2.48.40"`, 1))
}

// provokes provokes each failure, and wants its sentence.
func provokes(t *testing.T, w *World) {
	t.Helper()
	b := newBench(t, environment(t, w))
	for _, p := range silent() {
		t.Run(p.stage+"/"+p.name, func(t *testing.T) {
			t.Parallel()
			said, ok := b.copied(t, p.stage).run(t, p.stage, p)
			if ok || !strings.Contains(said, p.want) {
				t.Errorf("want %q, got ok %v: %s", p.want, ok, said)
			}
		})
	}
}

// environment is the Python of toolchain onnx in the world's cache.
func environment(t *testing.T, w *World) string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(w.Cache, "trees", "*", "bin", "python3"))
	if err != nil {
		t.Fatal(err)
	}
	for _, python := range all {
		if exec.CommandContext(t.Context(), python, "-B", "-c", "import numpy, onnx, onnxruntime").Run() == nil {
			return python
		}
	}
	t.Fatalf("none of %q has numpy", all)
	return ""
}
