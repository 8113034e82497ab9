package steps

import (
	"path"
	"strconv"

	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/model/aotconfig"
	"github.com/hexmage/hexmage/simulated/mllm/compiler"
)

// Context holds the arguments of a context step.
type Context struct {
	Model    step.Path `arg:"model,required"`
	Config   step.Path `arg:"config,required"`
	Compiler step.Path `arg:"compiler,required"`
	SignedPD bool      `arg:"signed_pd"`
	MemoryGB int       `arg:"memory_gb" range:"1..100000"`
}

func contextSchema() step.Schema {
	return step.Schema{
		Summary: "Compiles a model into a context binary for the target.",
		ArgDocs: map[string]string{
			"model":  "The .mllm file (v2).",
			"config": "The model's config.json from Hugging Face, with linear_block_size added.",
			"compiler": "The ahead-of-time compiler: one of mllm's for qwen3, qwen2 and llama, such as " +
				"mllm-qwen3-aot-sha-c, or the simulated one.",
			"signed_pd": "Whether to run in a signed protection domain.",
			"memory_gb": "Memory in GB that the compilation takes from the pool memory_gb. mllm's compiler needs 64 " +
				"for a real model.",
		},
		Outputs: []step.OutputSpec{
			step.File("context", "The context binary."),
			step.File("aot_config", "The compiler's config, generated from the target."),
			step.File("config", "The model's config.json with the keys that mllm's compiler and runner need and "+
				"Hugging Face leaves out."),
		},
		Toolchains: []string{"qairt"},
		Example: `step "context" "qwen3" {
  model    = step.convert.qwen3.outputs.model
  config   = "${step.quantize.qwen3.outputs.dir}/config.json"
  compiler = "${toolchain.mllm.dir}/bin/mllm-qwen3-aot-sha-c"
}`,
	}
}

// Plan plans an action that writes the configs for mllm's programs, and an action that runs mllm's compiler.
func (c Context) Plan(p *step.Plan) {
	t := target(p, "A context is compiled for one SoC.")
	qairt := p.Toolchain("qairt")
	if p.Failed() {
		return
	}
	s := aotconfig.Spec{Target: aotconfig.Target{Arch: t.Arch, SoC: t.SoC, VTCMMB: t.VTCMMB, SignedPD: c.SignedPD},
		ModelConfig: c.Config.InRoot(), Out: "aot_config.json", ModelOut: "config.json"}
	configs := step.Tool(p, "aot_config", "write the configs that mllm's programs read", aotconfig.Tool, s)
	configs.In(c.Config.Input())
	aotConfig, config := configs.Out(s.Out), configs.Out(s.ModelOut)

	program := c.Compiler.InRoot()
	lib := qairt.Output.Path() + "/lib/x86_64-linux-clang/" // mllm appends the library's name: the slash is needed
	args := []string{program, "-m", c.Model.InRoot(), "-c", s.ModelOut, "--aot_config", s.Out, "--qnn_env_path", lib}
	out := aotconfig.FixedOutput(path.Base(program))
	if out == "" {
		out = "context.bin"
		args = append(args, "-o", out)
	}
	compile := p.Action("compile", "compile ahead of time for "+t.SoC, args...)
	compile.SetEnv(map[string]string{"LD_LIBRARY_PATH": lib + ":" + path.Dir(program)})
	compile.In(qairt.Input(), c.Model.Input(), c.Compiler.Input(), aotConfig.As(s.Out), config.As(s.ModelOut))
	for _, t := range compiler.Tools() {
		if t.String() == path.Base(program) && c.simulated(p) {
			compile.Set(action.PropertyTool, string(t)) // a built-in tool, whose version is part of the key
		}
	}
	if c.MemoryGB > 0 {
		compile.Set(action.PropertyPool, "memory_gb="+strconv.Itoa(c.MemoryGB))
	}
	p.File("context", compile.Out(out))
	p.File("aot_config", aotConfig)
	p.File("config", config)
}

// facts adds the step's facts for the rules.
func (c Context) facts(q *question) bool {
	q.say("signed_pd", cty.BoolVal(c.SignedPD))
	return true
}

// simulated reports whether the compiler comes from a simulated toolchain.
func (c Context) simulated(p *step.Plan) bool {
	o, ok := c.Compiler.Output()
	if !ok || o.Kind != addrs.Toolchain {
		return false
	}
	return knownOf(p.Toolchains[o.Step.Name]).Simulated
}
