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

// Context are the arguments of kind context.
type Context struct {
	Model    step.Path `arg:"model,required"`
	Config   step.Path `arg:"config,required"`
	Compiler step.Path `arg:"compiler,required"`
	SignedPD bool      `arg:"signed_pd"`
	MemoryGB int       `arg:"memory_gb" range:"1..100000"`
}

func contextSchema() step.Schema {
	return step.Schema{
		Summary: "Compiles a model ahead of time into a context binary for the target.",
		ArgDocs: map[string]string{
			"model":     "The .mllm file (v2).",
			"config":    "The model's config.json: Hugging Face's with linear_block_size.",
			"compiler":  "The ahead-of-time compiler: one of upstream's for qwen3, qwen2 and llama, such as mllm-qwen3-aot-sha-c, or the simulation's.",
			"signed_pd": "Whether to run in a signed protection domain.",
			"memory_gb": "Memory that compiling needs, of the pool memory_gb; upstream's compiler wants 64 for a real model.",
		},
		Outputs: []step.OutputSpec{
			step.File("context", "The context binary."),
			step.File("aot_config", "The compiler's config, generated from the target."),
			step.File("config", "The model's config.json as upstream's compiler and runner read it: with the keys that Hugging Face's lacks."),
		},
		Toolchains: []string{"qairt"},
		Example: `step "context" "qwen3" {
  model    = step.convert.qwen3.outputs.model
  config   = "${step.quantize.qwen3.outputs.dir}/config.json"
  compiler = "${toolchain.mllm.dir}/bin/mllm-qwen3-aot-sha-c"
}`,
	}
}

// Plan has both configs written, and then the compiler run with upstream's flags.
func (c Context) Plan(p *step.Plan) {
	t := target(p, "A context is compiled for one SoC.")
	qairt := p.Toolchain("qairt")
	if p.Failed() {
		return
	}
	configs := step.Tool(p, "aot_config", "write the configs that upstream's programs read", aotconfig.Tool, aotconfig.Spec{
		Target:      aotconfig.Target{Arch: t.Arch, SoC: t.SoC, VTCMMB: t.VTCMMB, SignedPD: c.SignedPD},
		ModelConfig: c.Config.InRoot(), Out: "aot_config.json", ModelOut: "config.json"}).In(c.Config.Input())
	aotConfig, config := configs.Out("aot_config.json"), configs.Out("config.json")

	lib := qairt.Output.Path() + "/lib/x86_64-linux-clang/" // upstream joins the library's name to it: the slash is needed
	args := []string{c.Compiler.InRoot(), "-m", c.Model.InRoot(), "-c", "config.json", "--aot_config", "aot_config.json", "--qnn_env_path", lib}
	out := aotconfig.FixedOutput(path.Base(c.Compiler.InRoot()))
	if out == "" {
		out = "context.bin"
		args = append(args, "-o", out)
	}
	compile := p.Action("compile", "compile ahead of time for "+t.SoC, args...)
	compile.SetEnv(map[string]string{"LD_LIBRARY_PATH": lib + ":" + path.Dir(c.Compiler.InRoot())})
	compile.In(qairt.Input(), c.Model.Input(), c.Compiler.Input(), aotConfig.As("aot_config.json"), config.As("config.json"))
	for _, t := range compiler.Tools() {
		if t.String() == path.Base(c.Compiler.InRoot()) && c.simulated(p) {
			compile.Set(action.PropertyTool, string(t)) // a wrapper of a built-in tool, whose behaviour belongs in the key
		}
	}
	if c.MemoryGB > 0 {
		compile.Set(action.PropertyPool, "memory_gb="+strconv.Itoa(c.MemoryGB))
	}
	p.File("context", compile.Out(out))
	p.File("aot_config", aotConfig)
	p.File("config", config)
}

// facts says what the rules have to know.
func (c Context) facts(q *question) bool {
	q.say("signed_pd", cty.BoolVal(c.SignedPD))
	return true
}

// simulated tells whether the compiler is the simulation's: in a toolchain that is one.
func (c Context) simulated(p *step.Plan) bool {
	o, ok := c.Compiler.Output()
	if !ok || o.Kind != addrs.Toolchain {
		return false
	}
	return knownOf(p.Toolchains[o.Step.Name]).Simulated
}
