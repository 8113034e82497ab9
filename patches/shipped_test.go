package patches_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/patches"
)

// sample is a source that a shipped rule changes when the headers say what they say, and what becomes of it.
type sample struct{ header, file, src, want string }

// samples has one for every rule that comes with hexmage.
func samples() map[string]sample {
	const runner = "examples/qwen2_qnn_aot/aot_run.cpp"
	const asks = "config.num_heads = qwen2_cfg.num_attention_heads;\nauto input_tensor = tokenizer.convertMessage({.prompt = \"hello\"});\n" +
		"input_tensor[\"sequence\"] = mllm::Tensor::arange(0, seq_len.get(), 1, mllm::kInt64, mllm::kCPU).view({1, -1});\nrun(input_tensor);\n"
	const reads = "config.num_heads = qwen2_cfg.num_key_value_heads;\nauto input_tensor = tokenizer.convertMessage({.prompt = [] { std::string line; std::getline(std::cin, line); return line; }()});\nrun(input_tensor);\n"
	const layer = "src/backends/qnn/op/QNNLinearINT8.cpp"
	const names = "f({.v1 = {.name = \"InceptionV3_InceptionV3_Conv2d_1a_3x3_Conv2D_stride\"}}, {.name = \"InceptionV3_InceptionV3_Conv2d_1a_3x3_Conv2D_pad_amount\"});\n"
	const named = "f({.v1 = {.name = strdup((name() + \".stride\").c_str())}}, {.name = strdup((name() + \".pad\").c_str())});\n"
	return map[string]sample{
		`rename "interface_scale"`:      {newHeader, "src/a.cpp", "f(t.get_interface_scale());\n", "f(t.interface_scale());\n"},
		`rename "interface_offset"`:     {newHeader, "src/a.cpp", "f(t.interface_scale(), t.get_interface_offset());\n", "f(t.interface_scale(), t.interface_offset());\n"},
		`rename "get_interface_scale"`:  {oldHeader, "src/a.cpp", "f(t.interface_scale());\n", "f(t.get_interface_scale());\n"},
		`rename "get_interface_offset"`: {oldHeader, "src/a.cpp", "f(t.get_interface_scale(), t.interface_offset());\n", "f(t.get_interface_scale(), t.get_interface_offset());\n"},
		`replace "performance"`:         {newHeader, "mllm/backends/qnn/aot_rt/QnnAOTRuntime.hpp", "void generate(int n, bool perf = false);\n", "void generate(int n, bool perf = true);\n"},
		`replace "prompt"`:              {newHeader, runner, asks, reads},
		`replace "numbers"`:             {newHeader, runner, asks, reads},
		`replace "heads_qwen2"`:         {newHeader, runner, asks, reads},
		`replace "heads_llama"`:         {newHeader, "examples/llama_qnn_aot/aot_run.cpp", "config.num_heads = llama_cfg.num_attention_heads;\n", "config.num_heads = llama_cfg.num_key_value_heads;\n"},
		`replace "stride"`:              {newHeader, layer, names, named},
		`replace "pad"`:                 {newHeader, layer, names, named},
	}
}

// TestShippedRules: every rule that comes with hexmage does what it is for, once, and leaves comments and strings alone.
func TestShippedRules(t *testing.T) {
	series := map[string]string{} // of each rule
	for _, name := range []string{"mllm", "mllm-aot", "mllm-v1"} {
		fsys, err := patches.Shipped(name)
		if err != nil {
			t.Fatal(err)
		}
		ranges, err := patches.Load(fsys)
		if err != nil {
			t.Fatal(err)
		}
		for _, rg := range ranges {
			for _, r := range rg.Rules {
				series[r.String()] = name
			}
		}
	}
	for rule, name := range series {
		s, ok := samples()[rule]
		if !ok {
			t.Errorf("there is no sample for %s", rule)
			continue
		}
		t.Run(rule, func(t *testing.T) {
			quoted := "// " + strings.ReplaceAll(strings.TrimSpace(s.src), "\n", "\n// ") + "\nconst char *s = R\"__(" + s.src + ")__\";\n"
			r := request(t, map[string]string{s.file: quoted + s.src}, "")
			r.SDKInclude = write(t, map[string]string{"HTP/core/tensor.h": s.header})
			var err error
			if r.SeriesFS, err = patches.Shipped(name); err != nil {
				t.Fatal(err)
			}
			r.Series = name
			report, err := patches.ApplyInPlace(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(quoted+s.want, read(t, r.Source, s.file)); diff != "" {
				t.Errorf("patched (-want +got):\n%s", diff)
			}
			if !changedBy(report, rule) {
				t.Errorf("another rule did it: %s", report.Text())
			}
			if again, err := patches.ApplyInPlace(t.Context(), r); err != nil || len(again.Changed) != 0 {
				t.Errorf("a second time: %v\n%s", err, again.Text())
			}
		})
	}
}

func changedBy(r patches.Report, rule string) bool {
	for _, n := range r.Rules {
		if rule == n.Rule {
			return n.State == patches.StateApplied
		}
	}
	return false
}

// opPackage is a package in upstream's shape, written for this test: three files that call the getter 8, 1 and 1 times, with three
// more calls in a line that is commented out, among others that don't.
func opPackage() map[string]string {
	head := "#include \"HTP/core/constraints.h\"\n#include \"HTP/core/simple_reg.h\"\n#include \"QnnOpPackage.h\"\n\nBEGIN_PKG_OP_DEFINITION(PKG_X);\n\n"
	fn := func(body string) string {
		return head + "template <typename TensorType>\nGraphStatus impl(TensorType &out_0, const TensorType &in_0, const TensorType &sin, const TensorType &cos) {\n" + body + "  return GraphStatus::Success;\n}\n"
	}
	four := "      float a = (x - 128) * in_0.get_interface_scale() * (c - 128) * cos.get_interface_scale();\n" +
		"      float b = (y - 128) * in_0.get_interface_scale() * (s - 128) * sin.get_interface_scale();\n"
	files := map[string]string{
		"src/ops/IRoPE.cpp": fn("  if (half) {\n" + four + "  } else {\n" + four +
			"      // debuglog(\"%f %f %f\", in_0.get_interface_scale(), sin.get_interface_scale(), cos.get_interface_scale());\n  }\n"),
		"src/ops/RMSNorm.cpp": fn("#ifndef REFERENCE_OP\n  float epsilon = in_0.get_interface_scale();\n#endif\n"),
		"src/ops/RoPE.cpp":    fn("#ifndef REFERENCE_OP\n  hvx(in_0.raw_data_const(),\n      in_0.get_interface_scale());\n#endif\n"),
		"src/PInterface.cpp":  "#include \"HTP/core/unique_types.h\"\nDEFINE_UNIQ_TY()\nINIT_PKG_CORE_INIT_FUNC()\n",
	}
	for _, op := range []string{"Add", "Mul", "SiLU", "KVCache"} {
		files["src/ops/"+op+".cpp"] = fn("  out_0.set_dims(in_0);\n")
	}
	return files
}

// TestMllmShape: 10 calls in 3 files, and the commented line stays.
func TestMllmShape(t *testing.T) {
	checkTenCalls(t, request(t, opPackage(), newHeader), "src/ops/")
}

// checkTenCalls checks what the renaming does to a tree with upstream's calls: it is the same for the real one.
func checkTenCalls(t *testing.T, r patches.Request, ops string) {
	t.Helper()
	const comment = "get_interface_scale"
	report, err := patches.Apply(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	perFile := map[string]int{}
	for _, n := range report.Rules {
		for _, p := range n.Changed {
			perFile[filepath.Base(p.File)]++
		}
	}
	if diff := cmp.Diff(map[string]int{"IRoPE.cpp": 8, "RMSNorm.cpp": 1, "RoPE.cpp": 1}, perFile); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if want := []string{ops + "IRoPE.cpp", ops + "RMSNorm.cpp", ops + "RoPE.cpp"}; !slices.Equal(report.Changed, want) {
		t.Errorf("changed %q, want %q", report.Changed, want)
	}
	left := 0
	err = filepath.WalkDir(filepath.Join(r.Out, ops), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		for line := range strings.Lines(string(data)) {
			if n := strings.Count(line, comment); n > 0 {
				left += n
				if filepath.Base(p) != "IRoPE.cpp" || !strings.HasPrefix(strings.TrimSpace(line), "//") {
					t.Errorf("%s still has %q", p, line)
				}
			}
		}
		return err
	})
	if err != nil || left != 3 {
		t.Errorf("%d old names are left in comments, want 3 (%v)", left, err)
	}
	r.Source, r.Out = r.Out, filepath.Join(t.TempDir(), "again")
	if report, err := patches.Apply(t.Context(), r); err != nil || len(report.Changed) != 0 {
		t.Errorf("a second time: %v\n%s", err, report.Text())
	}
}

// TestSeriesOrder: what is needed of a range sees what the ranges before it did.
func TestSeriesOrder(t *testing.T) {
	rules := func(from, to string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("rename \"" + to + "\" {\n from = \"" + from + "\"\n to = \"" + to + "\"\n files = [\"*\"]\n expect {\n max = 9\n }\n}\n")}
	}
	r := patches.Request{Source: write(t, map[string]string{"a": "one\n"}), Out: t.TempDir(), Series: "s",
		SeriesFS: fstest.MapFS{"1-2/rules.hcl": rules("one", "two"), "2-3/rules.hcl": rules("two", "three")}}
	if report, err := patches.Apply(t.Context(), r); err != nil || read(t, r.Out, "a") != "three\n" {
		t.Errorf("became %q, %v\n%s", read(t, r.Out, "a"), err, report.Text())
	}
}
