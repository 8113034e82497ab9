package steps_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/model/aotconfig"
	"github.com/hexmage/hexmage/simulated/mllm/compiler"
)

func TestModelMistakes(t *testing.T) {
	str, num := cty.StringVal, cty.NumberIntVal
	for _, tt := range []struct {
		kind string
		args map[string]cty.Value
		want string // "" is none
	}{
		{"toy_model", map[string]cty.Value{"seed": num(1), "block_size": num(17)}, "block_size is 17"},
		{"toy_model", map[string]cty.Value{"seed": num(1), "block_size": num(32)}, ""},
		{"quantize", map[string]cty.Value{"model": str("m"), "block_size": cty.NumberFloatVal(16.5)}, "block_size is 16.5"},
		{"quantize", map[string]cty.Value{"model": str("m")}, "toolchain \"onnx\""},
		{"convert", map[string]cty.Value{"model": str("m"), "name": str("n"), "format": str("v3")}, `format is "v3"`},
		{"reference", map[string]cty.Value{"model": str("m"), "config": str("c"), "tokenizer": str("t"), "prompt": str(" ")}, "needs at least one"},
		{"reference", map[string]cty.Value{"model": str("m"), "config": str("c"), "tokenizer": str("t"), "prompt": str("x")}, ""},
		{"context", map[string]cty.Value{"model": str("m"), "config": str("c"), "compiler": str("x")}, "Add a block `target"},
	} {
		r := step.Request{At: addrs.Instance{Step: addrs.Step{Kind: tt.kind, Name: "x"}}, Args: tt.args, Target: cty.NullVal(cty.DynamicPseudoType)}
		_, diags := table()[tt.kind].Plan(r)
		if (tt.want == "") == diags.HasErrors() || tt.want != "" && !strings.Contains(diags.Error(), tt.want) {
			t.Errorf("%s %v: diagnostics %v, want %q", tt.kind, tt.args, diags, tt.want)
		}
	}
}

// What the simulation's compiler does is part of a context's key where it is the compiler, and there alone.
func TestContextIsKeyedByTheCompilerThatRuns(t *testing.T) {
	output := func(kind, name string) addrs.Output {
		return addrs.Output{Instance: addrs.Instance{Step: addrs.Step{Kind: kind, Name: name}}, Name: "dir"}
	}
	mllm, built := output(addrs.Toolchain, "mllm"), output("exec", "aot_tools")
	simulated := func(is bool) step.Toolchain {
		return step.Toolchain{Output: mllm, Attrs: cty.ObjectVal(map[string]cty.Value{"version": cty.StringVal("1"), "simulated": cty.BoolVal(is)})}
	}
	for name, c := range map[string]struct {
		compiler string
		mllm     step.Toolchain
		want     string
	}{
		"the simulation":            {mllm.Path() + "/bin/mllm-qwen3-aot-sha-c", simulated(true), string(compiler.Qwen3)},
		"the simulation of Llama's": {mllm.Path() + "/bin/mllm-llama-aot-c-sha", simulated(true), string(compiler.Llama)},
		"a toolchain's own":         {mllm.Path() + "/bin/mllm-qwen3-aot-sha-c", simulated(false), ""},
		"upstream's, built":         {built.Path() + "/mllm-qwen3-aot-sha-c", simulated(true), ""},
		"one of the workspace":      {"bin/mllm-qwen3-aot-sha-c", simulated(true), ""},
		"one of this machine's":     {"/opt/bin/mllm-qwen3-aot-sha-c", simulated(true), ""},
	} {
		r := step.Request{At: addrs.Instance{Step: addrs.Step{Kind: "context", Name: "x"}},
			Args:       map[string]cty.Value{"model": cty.StringVal("m"), "config": cty.StringVal("c"), "compiler": cty.StringVal(c.compiler)},
			Uses:       []step.OutputRef{step.OutputRefOf(cty.GetAttrPath("compiler"), mllm), step.OutputRefOf(cty.GetAttrPath("compiler"), built)},
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
			Args:       map[string]cty.Value{"model": cty.StringVal("m"), "config": cty.StringVal("c"), "compiler": cty.StringVal("bin/" + program)},
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

// TestMllmsQuantizer: which of two quantizers is planned, what upstream's is told, and what cannot be.
func TestMllmsQuantizer(t *testing.T) {
	str := cty.StringVal
	for name, c := range map[string]struct {
		args   map[string]cty.Value
		argv   string
		told   []string // in its arguments
		pool   string
		refuse string
	}{
		"ours": {args: map[string]cty.Value{"num_samples": cty.NumberIntVal(8)}, argv: "programs/mllm_native.py",
			told: []string{`"architecture":"qwen3"`, `"samples":8`, `"max_length":1024`, `"calibration":"mllm.txt"`, `"checkpoint":"seen"`}},
		"ours, llama": {args: map[string]cty.Value{"architecture": str("llama"), "block_size": cty.NumberIntVal(32)},
			argv: "programs/mllm_native.py", told: []string{`"architecture":"llama"`, `"block_size":32`}},
		"ours, blocks":      {args: map[string]cty.Value{"architecture": str("qwen2")}, refuse: "block_size = 32"},
		"upstream's":        {args: map[string]cty.Value{"pymllm": str("/mllm")}, argv: "programs/mllm_quantize.py", told: []string{`"architecture":"qwen3"`, `"block_size":16`, `"device":"cpu"`, `"calibration":"mllm.txt"`}},
		"upstream's on GPU": {args: map[string]cty.Value{"pymllm": str("/mllm"), "device": str("cuda")}, argv: "programs/mllm_quantize.py", told: []string{`"device":"cuda"`}, pool: "gpu=1"},
		"of another text":   {args: map[string]cty.Value{"pymllm": str("/mllm"), "calibration": str("/text")}, argv: "programs/mllm_quantize.py", told: []string{`text"`}},
		"upstream's llama":  {args: map[string]cty.Value{"pymllm": str("/mllm"), "architecture": str("llama")}, refuse: "block_size = 32"},
	} {
		c.args["model"] = str("/hub")
		p, diags := table()["quantize"].Plan(step.Request{At: addrs.Instance{Step: addrs.Step{Kind: "quantize", Name: "x"}}, Args: c.args,
			Toolchains: map[string]step.Toolchain{"mllm_quantizer": toolchain("mllm_quantizer"), "onnx": toolchain("onnx")}})
		if c.refuse != "" {
			if !diags.HasErrors() || !strings.Contains(diags.Error(), c.refuse) {
				t.Errorf("%s: %v", name, diags)
			}
			continue
		}
		if diags.HasErrors() || len(p.Specs) != 1 {
			t.Errorf("%s: %d actions, %v", name, len(p.Specs), diags)
			continue
		}
		s := p.Specs[0]
		if s.Platform[action.PropertyPool] != c.pool || len(s.Args) < 3 || s.Args[2] != c.argv {
			t.Errorf("%s: %q, %v", name, s.Args, s.Platform)
		}
		for _, in := range s.Inputs {
			if in.Path != "args.json" {
				continue
			}
			for _, want := range c.told {
				if !strings.Contains(string(in.Content.Data), want) {
					t.Errorf("%s: %s, want %s", name, in.Content.Data, want)
				}
			}
		}
	}
}

// TestShowUIPlanned: a model that sees is prepared with its pictures, on a GPU; one that does not on the processor, and is told of none.
func TestShowUIPlanned(t *testing.T) {
	for _, kind := range []string{"rotate_v1", "quantize_v1"} {
		for pictures, pool := range map[string]string{"": "", "/ScreenSpot": "gpu=1"} {
			args := map[string]cty.Value{"sources": cty.StringVal("/mllm"), "model": cty.StringVal("/ShowUI-2B")}
			if pictures != "" {
				args["pictures"] = cty.StringVal(pictures)
			}
			p, diags := table()[kind].Plan(step.Request{At: addrs.Instance{Step: addrs.Step{Kind: kind, Name: "x"}}, Args: args,
				Toolchains: map[string]step.Toolchain{"mllm_quantizer": toolchain("mllm_quantizer")}})
			if diags.HasErrors() || len(p.Specs) == 0 {
				t.Fatalf("%s: %v", kind, diags)
			}
			for _, s := range p.Specs {
				told, there := "", false
				for _, in := range s.Inputs {
					if in.Path == "args.json" {
						told = string(in.Content.Data)
					}
					there = there || strings.Contains(in.Path, "ScreenSpot")
				}
				if s.Platform[action.PropertyPool] != pool || there != (pictures != "") || strings.Contains(told, `"pictures":""`) != (pictures == "") {
					t.Errorf("%s, pictures %q: pool %q, input %v, %s", kind, pictures, s.Platform[action.PropertyPool], there, told)
				}
			}
		}
	}
}

// TestConvertCheckpoint: a checkpoint is read in toolchain onnx, and safetensors need no toolchain.
func TestConvertCheckpoint(t *testing.T) {
	for model, tools := range map[string][]string{"m.safetensors": nil, "dir": nil, "m.pth": {"onnx"}, "x/m.bin": {"onnx"},
		"m.pt": nil} {
		r := step.Request{At: addrs.Instance{Step: addrs.Step{Kind: "convert", Name: "x"}},
			Args:       map[string]cty.Value{"model": cty.StringVal(model), "name": cty.StringVal("m")},
			Toolchains: map[string]step.Toolchain{}}
		for _, name := range tools {
			r.Toolchains[name] = toolchain(name)
		}
		p, diags := table()["convert"].Plan(r)
		if model == "m.pt" {
			if said := diags.Error(); !strings.Contains(said, `needs toolchain "onnx". Add toolchain "onnx" {} to the pipeline`) {
				t.Errorf("without the toolchain: %s", said)
			}
			continue
		}
		if diags.HasErrors() || len(p.Specs) != 1+len(tools) {
			t.Errorf("%s: %d actions, %v", model, len(p.Specs), diags)
		}
	}
}
