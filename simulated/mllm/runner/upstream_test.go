package runner_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/model/aotconfig"
	"github.com/hexmage/hexmage/simulated/mllm/compiler"
	devrunner "github.com/hexmage/hexmage/simulated/mllm/runner"
)

// Facts about flags, output and files of mllm's programs of main at b9c30702. TestMllmsTables compares these tables
// with a clone.

// Flags, short and long, of mllm-qwen3-aot-sha-c and of mllm-qwen3-aot-runner.
func upstreamsFlags() map[string][]string {
	return map[string][]string{
		"compile_sha.cpp": {"-h|--help", "-m|--model_path", "-c|--config", "-aot_cfg|--aot_config", "-qnn_env|--qnn_env_path", "-o|--output_context_name"},
		"aot_run.cpp":     {"-h|--help", "-m|--model", "-t|--tokenizer", "-c|--config", "--ar_len"},
	}
}

// said is a text that mllm's programs print, as in their source, and its constant parts.
type said struct {
	file, format string
	parts        []string
	compiler     bool // else the runner prints it
}

func upstreamSays() []said {
	const examples, qnn, rt = "examples/qwen3_qnn_aot/", "mllm/backends/qnn/", "mllm/backends/qnn/aot_rt/"
	return []said{
		{examples + "compile_sha.cpp", "Preparing SHA parameters (slicing MHA weights)...", nil, true},
		{examples + "compile_sha.cpp", "SHA parameters prepared.", nil, true},
		{examples + "compile_sha.cpp", "Tracing SHA model (seq=", []string{"Tracing SHA model (seq=32)...", "Tracing SHA model (seq=1)..."}, true},
		{examples + "compile_sha.cpp", "SHA model traced successfully.", nil, true},
		{qnn + "aot/QnnWrappersAPI.cpp", "QNN context {} saved to {} written {}", []string{"QNN context context.0 saved to ", " written "}, true},
		{examples + "compile_sha.cpp", "SHA compilation completed successfully!", nil, true},
		{examples + "compile_sha.cpp", "Output files:", nil, true},
		{examples + "compile_sha.cpp", "  - qwen3_qnn_aot_sha_32.mir (IR dump for seq=32)", nil, true},
		{examples + "compile_sha.cpp", "  - qwen3_qnn_aot_sha_1.mir (IR dump for seq=1)", nil, true},
		{examples + "compile_sha.cpp", `"  - " + output_context_path.get() + " (QNN context)"`, []string{"  - qwen3.bin (QNN context)"}, true},
		{qnn + "QNNBackend.cpp", "QNN Backend Build Id: {}", []string{"QNN Backend Build Id: "}, false},
		{qnn + "QNNBackend.cpp", "Context binary file size: {} MB", []string{"Context binary file size: ", " MB"}, false},
		{qnn + "QNNBackend.cpp", "QNN context retrieved from qnn_context.bin with {} QNNModels(QnnGraphs)", []string{"QNN context retrieved from qnn_context.bin with ", " QNNModels(QnnGraphs)"}, false},
		{qnn + "QNNBackend.cpp", "Could not create context from binary. Mostly due to binary's qnn version mismatch with backend's qnn version.", nil, false},
		{qnn + "QNNBackend.cpp", "Graph {} not found for execution", []string{"Graph ", " not found for execution"}, false},
		{qnn + "QNNUtils.cpp", "Failed to open QNN libs.", nil, false},
		{rt + "PromptProcessor.cpp", "num_tokens: {}", []string{"num_tokens: "}, false},
		{examples + "aot_run.cpp", "💬 Prompt text (or 'exit/quit'): ", nil, false},
		{rt + "QnnAOTRuntime.cpp", `"\n{:=^50}\n", " Performance Summary "`, []string{`\n============== Performance Summary ===============\n`}, false},
		{rt + "QnnAOTRuntime.cpp", "Prefill time", nil, false},
		{rt + "QnnAOTRuntime.cpp", "Decode time", nil, false},
		{rt + "QnnAOTRuntime.cpp", "Prefill tokens", nil, false},
		{rt + "QnnAOTRuntime.cpp", "Decode tokens", nil, false},
	}
}

// upstreamWrites are the files that mllm-qwen3-aot-sha-c writes into its working directory, besides the file after
// -o.
func upstreamWrites() []string {
	return []string{"qwen3_qnn_aot_sha_1.mir", "qwen3_qnn_aot_sha_32.mir"}
}

// source returns all source text of the runner.
func source(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	if err := fs.WalkDir(devrunner.Sources(), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(devrunner.Sources(), p)
		all.Write(b)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// flagsIn returns the flags that a file of the runner looks for.
func flagsIn(t *testing.T, file string) (flags []string) {
	t.Helper()
	text, err := fs.ReadFile(devrunner.Sources(), file)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`flag == "(-[\w-]+)"`).FindAllStringSubmatch(string(text), -1) {
		flags = append(flags, m[1])
	}
	return flags
}

// TestMllmsNpu compares flags, paths and lines of main_qwen_npu and demo_qwen_npu with mllm's sources, in a clone of
// the user.
func TestMllmsNpu(t *testing.T) {
	clone := os.Getenv("HEXMAGE_TEST_MLLM")
	if clone == "" {
		t.Skip("HEXMAGE_TEST_MLLM names no clone of mllm")
	}
	var theirs string
	for _, file := range []string{"examples/main_qwen_npu.cpp", "examples/demo_qwen_npu.cpp", "src/backends/qnn/QNNExecutor.cpp"} {
		out, err := exec.CommandContext(t.Context(), "git", "-C", clone, "show", "bbf87ffb:"+file).Output()
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		theirs += string(out)
	}
	for rev, keeps := range map[string]bool{"bbf87ffb": false, "71d7a680": true, "origin/v1": true} { // whether the revision keeps the graphs of an earlier run
		err := exec.CommandContext(t.Context(), "git", "-C", clone, "grep", "-q", "-F", `exists("qnn_context.bin")`, rev, "--", "*QNNBackend.cpp").Run()
		if _, failed := errors.AsType[*exec.ExitError](err); (err == nil) != keeps || err != nil && !failed {
			t.Errorf("%s: programs take up qnn_context.bin: want %v, %v", rev, keeps, err)
		}
	}
	if len(flagsIn(t, "npu.cc")) < 8 {
		t.Errorf("flags %q", flagsIn(t, "npu.cc"))
	}
	for _, f := range flagsIn(t, "npu.cc") {
		if !regexp.MustCompile(`cmdParser.add<\w+>\("\w+", '` + f[1:] + `'`).MatchString(theirs) {
			t.Errorf("upstream's have no flag %s", f)
		}
	}
	text, err := fs.ReadFile(devrunner.Sources(), "npu.cc")
	if err != nil {
		t.Fatal(err)
	}
	told := regexp.MustCompile(`"(\.\./[\w./-]+)"`).FindAllStringSubmatch(string(text), -1)
	if len(told) != 4 {
		t.Errorf("paths %q", told)
	}
	told = append(told, []string{"", "Load model: "}, []string{"", "real_seq_length: "}, []string{"", "[Q] "}, []string{"", "[A] "}, []string{"", "prefill time: "}, []string{"", "===================="})
	for _, m := range told {
		if !strings.Contains(theirs, m[1]) || !strings.Contains(string(text), m[1]) {
			t.Errorf("%q is not in both", m[1])
		}
	}
}

// TestLikeMllm: the simulated compiler and runner accept mllm's flags and print mllm's lines.
func TestLikeMllm(t *testing.T) {
	for _, pair := range upstreamsFlags()["compile_sha.cpp"][1:] {
		for f := range strings.SplitSeq(pair, "|") {
			var out bytes.Buffer
			code := compiler.New(compiler.Qwen3)(t.Context(), []string{f, "x"}, tool.Env{Stdout: io.Discard, Stderr: &out})
			if code != 134 || strings.Contains(out.String(), "not defined") {
				t.Errorf("%s: exit %d, %s", f, code, &out)
			}
		}
	}

	text := source(t)
	var flags []string
	for _, pair := range upstreamsFlags()["aot_run.cpp"] {
		flags = append(flags, strings.Split(pair, "|")...)
	}
	own := flagsIn(t, "flags.cc")
	slices.Sort(flags)
	slices.Sort(own)
	if d := cmp.Diff(flags, slices.Compact(own)); d != "" {
		t.Errorf("the runner's flags: %s", d)
	}

	made := chain(t, compiler.Qwen3)
	if d := cmp.Diff(append([]string{"qwen3.bin"}, upstreamWrites()...), made.wrote); d != "" {
		t.Errorf("the compiler's files: %s", d)
	}
	compiled := made.said
	for _, s := range upstreamSays() {
		in := text
		if s.compiler {
			in = compiled
		}
		parts := s.parts
		if parts == nil {
			parts = []string{s.format}
		}
		for _, p := range parts {
			if !strings.Contains(in, p) {
				t.Errorf("the simulation does not print %q of %q", p, s.format)
			}
		}
	}
}

// TestMllmsTables compares the tables above, and the table of mllm's chips, with a clone.
func TestMllmsTables(t *testing.T) {
	clone := os.Getenv("HEXMAGE_TEST_MLLM")
	if clone == "" {
		t.Skip("HEXMAGE_TEST_MLLM names no clone of mllm")
	}
	read := func(name string) string {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(clone, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for file, flags := range upstreamsFlags() {
		var got []string
		for _, m := range regexp.MustCompile(`Argparse::add<[\w:]+>\("([^"]+)"\)`).FindAllStringSubmatch(read("examples/qwen3_qnn_aot/"+file), -1) {
			got = append(got, m[1])
		}
		if d := cmp.Diff(flags, got); d != "" {
			t.Errorf("%s: %s", file, d)
		}
	}
	for _, s := range upstreamSays() {
		if !strings.Contains(read(s.file), s.format) {
			t.Errorf("%s does not print %q", s.file, s.format)
		}
	}
	var dumps []string
	for _, m := range regexp.MustCompile(`trace_and_dump\(\d+, "([^"]+)"\)`).FindAllStringSubmatch(read("examples/qwen3_qnn_aot/compile_sha.cpp"), -1) {
		dumps = append(dumps, m[1])
	}
	slices.Sort(dumps)
	if d := cmp.Diff(upstreamWrites(), dumps); d != "" {
		t.Errorf("compile_sha.cpp writes other files: %s", d)
	}
	for _, file := range []string{"examples/qwen3_qnn_aot/aot_run.cpp", "mllm/backends/qnn/aot_rt/QnnAOTRuntime.cpp", "mllm/backends/qnn/aot_rt/PromptProcessor.cpp", "mllm/backends/qnn/aot_rt/TokenGenerator.cpp"} {
		if strings.Contains(read(file), "ofstream") {
			t.Errorf("%s writes a file, and the simulation's runner writes none", file)
		}
	}
	chips := map[string]uint32{}
	_, enum, _ := strings.Cut(read("mllm/backends/qnn/aot/QnnTargetMachine.hpp"), "enum QcomChipset")
	enum, _, _ = strings.Cut(enum, "};")
	for _, m := range regexp.MustCompile(`(\w+) = (\d+),`).FindAllStringSubmatch(enum, -1) {
		n, err := strconv.ParseUint(m[2], 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		chips[m[1]] = uint32(n)
	}
	if d := cmp.Diff(chips, aotconfig.SoCModels()); d != "" {
		t.Errorf("chips: %s", d)
	}
	for _, program := range []string{"qwen3", "qwen2", "llama"} {
		cmake := read("examples/" + program + "_qnn_aot/CMakeLists.txt")
		for _, m := range regexp.MustCompile(`add_executable\((\S+aot\S*-c\S*) (\S+)\)`).FindAllStringSubmatch(cmake, -1) {
			text := read("examples/" + program + "_qnn_aot/" + m[2])
			fixed := regexp.MustCompile(`saveContext\("context.0", "([^"]+)"\)`).FindStringSubmatch(text)
			if got := aotconfig.FixedOutput(m[1]); fixed == nil && got != "" || fixed != nil && got != fixed[1] || (got == "") != strings.Contains(text, "--output_context_name") {
				t.Errorf("%s writes %q, the table says %q", m[1], fixed, got)
			}
		}
	}
	keys := map[string]bool{}
	for _, m := range regexp.MustCompile(`data\(\)\["(\w+)"\]`).FindAllStringSubmatch(read("mllm/models/qwen3/configuration_qwen3.hpp"), -1) {
		keys[m[1]] = true
	}
	if d := cmp.Diff(slices.Sorted(maps.Keys(keys)), slices.Sorted(slices.Values(aotconfig.Keys("qwen3")))); d != "" {
		t.Errorf("keys of Qwen3's config: %s", d)
	}
}
