package steps_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/model/aotconfig"
	"github.com/hexmage/hexmage/standin/mllm/compiler"
)

func TestModelMistakes(t *testing.T) {
	str, num := cty.StringVal, cty.NumberIntVal
	for _, tt := range []struct {
		kind string
		args map[string]cty.Value
		want string // "" is none
	}{
		{"model", map[string]cty.Value{"seed": num(1), "block_size": num(17)}, "block_size is 17"},
		{"model", map[string]cty.Value{"seed": num(1), "block_size": num(32)}, ""},
		{"quantize", map[string]cty.Value{"model": str("m"), "block_size": cty.NumberFloatVal(16.5)}, "block_size is 16.5"},
		{"quantize", map[string]cty.Value{"model": str("m")}, ""},
		{"convert", map[string]cty.Value{"model": str("m"), "name": str("n"), "format": str("v3")}, `format is "v3"`},
		{"reference", map[string]cty.Value{"model": str("m"), "config": str("c"), "tokenizer": str("t"), "prompt": str(" ")}, "needs at least one"},
		{"reference", map[string]cty.Value{"model": str("m"), "config": str("c"), "tokenizer": str("t"), "prompt": str("x")}, ""},
		{"context", map[string]cty.Value{"model": str("m"), "config": str("c"), "compiler": str("x")}, "Add a block `target"},
	} {
		r := step.Request{At: addrs.Instance{Step: addrs.Step{Kind: tt.kind, Name: "x"}}, Args: cty.ObjectVal(tt.args), Target: cty.NullVal(cty.DynamicPseudoType)}
		_, diags := table()[tt.kind].Plan(r)
		if (tt.want == "") == diags.HasErrors() || tt.want != "" && !strings.Contains(diags.Error(), tt.want) {
			t.Errorf("%s %v: diagnostics %v, want %q", tt.kind, tt.args, diags, tt.want)
		}
	}
}

// What the stand-in's compiler does is part of a context's key where it is the compiler, and there alone.
func TestContextIsKeyedByTheCompilerThatRuns(t *testing.T) {
	output := func(kind, name string) addrs.Output {
		return addrs.Output{Instance: addrs.Instance{Step: addrs.Step{Kind: kind, Name: name}}, Name: "dir"}
	}
	mllm, built := output(addrs.Toolchain, "mllm"), output("exec", "aot_tools")
	standIn := func(is bool) step.Toolchain {
		return step.Toolchain{Output: mllm, Attrs: cty.ObjectVal(map[string]cty.Value{"version": cty.StringVal("1"), "stand_in": cty.BoolVal(is)})}
	}
	for name, c := range map[string]struct {
		compiler string
		mllm     step.Toolchain
		want     string
	}{
		"the stand-in":          {mllm.Path() + "/bin/c", standIn(true), string(compiler.Tool)},
		"a toolchain's own":     {mllm.Path() + "/bin/c", standIn(false), ""},
		"upstream's, built":     {built.Path() + "/c", standIn(true), ""},
		"one of the workspace":  {"bin/c", standIn(true), ""},
		"one of this machine's": {"/opt/bin/c", standIn(true), ""},
	} {
		r := step.Request{At: addrs.Instance{Step: addrs.Step{Kind: "context", Name: "x"}},
			Args:       cty.ObjectVal(map[string]cty.Value{"model": cty.StringVal("m"), "config": cty.StringVal("c"), "compiler": cty.StringVal(c.compiler)}),
			Uses:       []step.Use{{Path: cty.GetAttrPath("compiler"), Output: mllm}, {Path: cty.GetAttrPath("compiler"), Output: built}},
			Target:     cty.ObjectVal(map[string]cty.Value{"soc": cty.StringVal("SM8750"), "arch": cty.StringVal("v79"), "soc_model": cty.NumberIntVal(69), "vtcm_mb": cty.NumberIntVal(8)}),
			Toolchains: map[string]step.Toolchain{"qairt": toolchain("qairt"), "mllm": c.mllm}}
		p, diags := table()["context"].Plan(r)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		if got := p.Specs[1].Platform[action.PropertyTool]; got != c.want {
			t.Errorf("%s: the key has %q of a tool, want %q", name, got, c.want)
		}
		if i := slices.Index(p.Specs[1].Args, "-c"); p.Specs[1].Args[i+1] != "config.json" {
			t.Errorf("%s: the compiler's config is not the one that was written for it: %q", name, p.Specs[1].Args)
		}
		if p.Specs[0].Platform[action.PropertyTool] != string(aotconfig.Tool) {
			t.Errorf("%s: %v writes the config", name, p.Specs[0].Platform)
		}
	}
}

// Of upstream's compilers two take the name of the file that they write; the others' outputs are looked for where they write them.
func TestContextIsWhereItIsWritten(t *testing.T) {
	for program, want := range map[string]string{"mllm-qwen3-aot-c": "context.bin", "mllm-qwen3-aot-sha-c": "context.bin", "mllm-qwen2-aot-c": "qwen2-lpbq.bin",
		"mllm-qwen2-aot-c-sha": "qwen2-lpbq-sha.bin", "mllm-llama-aot-c": "llama-lpbq.bin", "mllm-llama-aot-c-sha": "llama-lpbq-sha.bin"} {
		p, diags := table()["context"].Plan(step.Request{At: addrs.Instance{Step: addrs.Step{Kind: "context", Name: "x"}},
			Args:       cty.ObjectVal(map[string]cty.Value{"model": cty.StringVal("m"), "config": cty.StringVal("c"), "compiler": cty.StringVal("bin/" + program)}),
			Target:     cty.ObjectVal(map[string]cty.Value{"soc": cty.StringVal("SM8750"), "arch": cty.StringVal("v79"), "soc_model": cty.NumberIntVal(69), "vtcm_mb": cty.NumberIntVal(8)}),
			Toolchains: map[string]step.Toolchain{"qairt": toolchain("qairt")}})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		compile := p.Specs[1]
		if got, named := compile.Outputs[0].Path, slices.Contains(compile.Args, "-o"); got != want || named != (want == "context.bin") {
			t.Errorf("%s: output %s, -o given: %v", program, got, named)
		}
	}
}

// TestUpstreamsQuantiser runs the planned command with a program in the place of train.py: upstream's programs find in the config what a model of
// the hub lacks, and what it has stays.
func TestUpstreamsQuantiser(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no Python here")
	}
	p, diags := table()["quantize"].Plan(step.Request{At: addrs.Instance{Step: addrs.Step{Kind: "quantize", Name: "x"}},
		Args: cty.ObjectVal(map[string]cty.Value{"model": cty.StringVal("/hub"), "pymllm": cty.StringVal("/mllm"), "python": cty.StringVal(python), "block_size": cty.NumberIntVal(32)})})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for name, c := range map[string]struct{ config, want string }{
		"of the hub": {`{"head_dim": 128}`, `{"head_dim": 128, "linear_block_size": 32, "linear_impl_type": "QNN_LPBQ_w4a16o16_G32", "max_cache_length": 2048}`},
		"upstream's": {`{"max_cache_length": 1024}`, `{"max_cache_length": 1024, "linear_block_size": 32, "linear_impl_type": "QNN_LPBQ_w4a16o16_G32"}`},
	} {
		cmd := exec.CommandContext(t.Context(), p.Specs[0].Args[0], p.Specs[0].Args[1:]...)
		cmd.Dir = t.TempDir()
		for _, in := range p.Specs[0].Inputs {
			files := map[string]string{"config.json": c.config, "tokenizer.json": "{}"}
			if strings.Contains(in.Path, "mllm") {
				files = map[string]string{"pymllm/mobile/backends/qualcomm/transformers/qwen3/train.py": "import os; os.mkdir('dir')"}
			}
			for name, text := range files {
				at := filepath.Join(cmd.Dir, in.Path, name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got, err := os.ReadFile(filepath.Join(cmd.Dir, "dir/config.json")); err != nil || string(got) != c.want {
			t.Errorf("a config %s becomes %s, %v; want %s", name, got, err, c.want)
		}
	}
}
