package steps

import (
	"maps"
	"path"
	"slices"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
)

// Python are the arguments of kind python: it runs a script in an environment of Python's, which is a toolchain.
type Python struct {
	Environment string   `arg:"environment,required"`
	Script      string   `arg:"script,required"`
	Args        []string `arg:"args,nonull"`
	command
}

func pythonSchema() step.Schema {
	return step.Schema{
		Summary: "Runs a script in a Python environment: without network, without packages of this machine, with a " +
			"fixed hash seed and caches of its own.",
		ArgDocs: commandDocs(map[string]string{
			"environment": "The toolchain's folder: `toolchain.NAME.dir`, of one with `python` and `requirements`.",
			"script": "The script: a file of the workspace, or a step's output. Modules that it imports beside " +
				"the environment's packages go into `inputs`.",
			"args": "Its arguments. Outputs that they refer to become inputs.",
		}),
		OwnOutputs: true,
		Secrets:    true,
		Example: `step "python" "table" {
  environment = toolchain.tools.dir
  script      = "scripts/table.py"
  args        = ["--out", "table.json"]
  output "json" { file = "table.json" }
}`,
	}
}

// pythonEnv is the environment of every Python: the same dictionaries in each run, no files beside the modules, no
// requests to hubs, no telemetry, for which onnxruntime 1.31 has a thread that moves what others allocate. Caches are
// below HOME, which each action has for itself.
func pythonEnv() map[string]string {
	return map[string]string{"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONNOUSERSITE": "1",
		"PYTHONUTF8": "1", "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1",
		"HF_HUB_DISABLE_TELEMETRY": "1", "ORT_DISABLE_TELEMETRY": "1"}
}

// Plan makes one action, as exec does.
func (x Python) Plan(p *step.Plan) {
	used := p.Used("environment")
	if len(used) == 0 {
		p.Fail("environment", "Not an environment", "%q is no toolchain's folder. Add a block `toolchain \"tools\" { "+
			"python = \"3.11\" … }`, and refer to toolchain.tools.dir.", x.Environment)
		return
	}
	env := pythonEnv()
	maps.Copy(env, p.Env)
	p.Env = env
	script := p.Placed(x.Script)
	if path.IsAbs(script) { // it is there as exec has it among its inputs
		script = "host" + path.Clean(script)
	}
	x.Inputs = slices.Concat([]string{x.Script}, x.Inputs)
	a := Exec{Argv: append([]string{x.Environment + "/bin/python3", script}, x.Args...), command: x.command}.plan(p)
	if slices.ContainsFunc(used, func(o addrs.Output) bool { return slices.Contains(computing(), o.Instance.Name) }) {
		computes(p, a)
	}
}
