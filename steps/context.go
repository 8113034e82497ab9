package steps

import (
	"path"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	standin "github.com/hexmage/hexmage/standin/mllm/compiler"
	"github.com/hexmage/hexmage/standin/mllm/qwen3"
)

type contextKind struct{}

// Schema of kind context.
func (contextKind) Schema() step.Schema {
	return step.Schema{
		Summary: "compiles a model ahead of time into a context binary for the target",
		Args: attrs(map[string]cty.Type{
			"model!": cty.String, "config!": cty.String, "compiler!": cty.String, "signed_pd": cty.Bool,
			"memory_gb": cty.Number,
		}),
		ArgDocs: map[string]string{
			"model":     "the .mllm file (v2)",
			"config":    "the model's config.json",
			"compiler":  "the ahead-of-time compiler: upstream's mllm-qwen3-aot-sha-c, or the stand-in's",
			"signed_pd": "run in a signed protection domain; default false",
			"memory_gb": "memory that compiling needs, of the pool memory_gb; upstream's compiler wants 64 for a real model",
		},
		Outputs: []step.OutputSpec{
			{Name: "context", Class: action.File, Doc: "the context binary"},
			{Name: "aot_config", Class: action.File, Doc: "the compiler's config, generated from the target"},
		},
		Toolchains: []string{"qairt"},
	}
}

// Plan of kind context: the compiler's config is generated from the target, then the compiler runs with upstream's flags.
func (contextKind) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	if r.Target == cty.NilVal || r.Target.IsNull() {
		return step.Planned{}, hcl.Diagnostics{r.Errorf("No target", "A context is compiled for one SoC. Add a block `target { soc = \"SM8750\" }` to the pipeline.")}
	}
	qairt, diag := r.Toolchain("qairt")
	if diag != nil {
		return step.Planned{}, hcl.Diagnostics{diag}
	}
	target := step.Request{Args: r.Target}
	config, configIn := r.Place("config")
	args, platform := step.FlagTool("aot-config", standin.ConfigVersion,
		"--arch", target.String("arch"), "--soc", target.String("soc"), "--vtcm", target.String("vtcm_mb"),
		"--model_config", config, "--out", "aot_config.json")
	if r.Bool("signed_pd") {
		args = append(args, "--signed_pd")
	}
	cfg := action.Spec{
		Name: "aot_config", Description: "generate the compiler's config", Args: args, Platform: platform, Inputs: configIn,
		Outputs: []action.Output{{Path: "aot_config.json"}},
	}

	model, modelIn := r.Place("model")
	compiler, compilerIn := r.Place("compiler")
	in := append(append(append([]action.Input{qairt.Input()}, configIn...), modelIn...), compilerIn...)
	in = append(step.Unique(in), action.Input{Path: "aot_config.json", Spec: &action.SpecOutput{Spec: cfg.Name, Path: "aot_config.json"}})
	lib := qairt.Output.Path() + "/lib/x86_64-linux-clang/" // upstream joins the library's name to it: the slash is needed
	compile := action.Spec{
		Name: "compile", Description: "compile ahead of time for " + target.String("soc"),
		Args:    []string{compiler, "-m", model, "-c", config, "--aot_config", "aot_config.json", "--qnn_env_path", lib, "-o", "context.bin"},
		Env:     map[string]string{"LD_LIBRARY_PATH": lib + ":" + path.Dir(compiler)},
		Inputs:  in,
		Outputs: []action.Output{{Path: "context.bin"}},
		// The stand-in's compiler is a wrapper of a built-in tool: its behaviour belongs in the key.
		Platform: map[string]string{action.PropertyTool: "mllm-qwen3-aot-sha-c/" + standin.Version},
	}
	if gb := r.String("memory_gb"); gb != "" {
		if n, err := strconv.Atoi(gb); err != nil || n < 1 {
			return step.Planned{}, hcl.Diagnostics{r.ArgErrorf("memory_gb", "Not an amount of memory", "memory_gb is %s; give a whole number of gigabytes, 1 or more.", gb)}
		}
		compile.Platform[action.PropertyPool] = "memory_gb=" + gb
	}
	file := func(spec, p string) action.Artifact {
		return action.Artifact{Class: action.File, Parts: []action.Input{{Spec: &action.SpecOutput{Spec: spec, Path: p}}}}
	}
	return step.Planned{
		Specs:   []action.Spec{cfg, compile},
		Outputs: map[string]action.Artifact{"context": file("compile", "context.bin"), "aot_config": file("aot_config", "aot_config.json")},
	}, nil
}

type referenceKind struct{}

// Schema of kind reference.
func (referenceKind) Schema() step.Schema {
	return step.Schema{
		Summary: "runs a reference forward pass of the open model on the host, for the device's tokens to be compared with",
		Args: attrs(map[string]cty.Type{
			"model!": cty.String, "config!": cty.String, "tokenizer!": cty.String, "prompt!": cty.String, "max_new_tokens": cty.Number,
		}),
		ArgDocs: map[string]string{
			"model":          "the .mllm file (v2)",
			"config":         "the model's config.json",
			"tokenizer":      "the model's tokenizer.json",
			"prompt":         "the prompt's text",
			"max_new_tokens": "how many tokens to make at most; default 32",
		},
		Outputs: []step.OutputSpec{{Name: "tokens", Class: action.File, Doc: "prompt tokens, tokens and text as JSON"}},
	}
}

// Plan of kind reference.
func (referenceKind) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	model, in := r.Place("model")
	config, configIn := r.Place("config")
	tokenizer, tokenizerIn := r.Place("tokenizer")
	if strings.TrimSpace(r.String("prompt")) == "" {
		return step.Planned{}, hcl.Diagnostics{r.ArgErrorf("prompt", "The prompt is empty",
			"A model goes on from the tokens of a prompt and needs at least one. Write some text.")}
	}
	maxNew := r.String("max_new_tokens")
	if maxNew == "" {
		maxNew = "32"
	}
	in = step.Unique(append(append(in, configIn...), tokenizerIn...))
	in = append(in, action.Input{Path: "prompt.txt", Content: &action.Content{Data: []byte(r.String("prompt") + "\n")}})
	args, platform := step.FlagTool("reference", qwen3.ReferenceVersion, "--model", model, "--config", config, "--tokenizer", tokenizer,
		"--prompt-file", "prompt.txt", "--max_new", maxNew, "--out", "tokens.json")
	return one(action.Spec{Description: "reference forward pass", Args: args, Platform: platform, Inputs: in}, action.Output{Path: "tokens.json"})
}
