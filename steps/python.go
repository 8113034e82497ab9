package steps

import (
	"maps"
	"path"
	"slices"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
)

// Python holds the arguments of a python step, which runs a script in a Python environment.
type Python struct {
	Environment string   `arg:"environment,required"`
	Script      string   `arg:"script,required"`
	Args        []string `arg:"args,nonull"`
	command
}

func pythonSchema() step.Schema {
	return step.Schema{
		Summary: "Runs a script in a Python environment, without the network and this machine's packages, with a " +
			"fixed hash seed and its own caches.",
		ArgDocs: commandDocs(map[string]string{
			"environment": "Folder of the environment, `toolchain.NAME.dir`: a toolchain with `python` and " +
				"`requirements`.",
			"script": "Script to run: a file of the workspace, or a step's output. Modules that it imports and " +
				"the environment lacks go into `inputs`.",
			"args": "Arguments of the script. Outputs in them become inputs.",
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

// pythonEnv returns the variables of every Python: the same dictionary order in each run, no .pyc files, no requests to
// model hubs, no telemetry. The telemetry of onnxruntime 1.31 runs a thread that moves the addresses of other
// allocations. Caches are below HOME, which each action has for itself.
func pythonEnv() map[string]string {
	return map[string]string{"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONNOUSERSITE": "1",
		"PYTHONUTF8": "1", "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1",
		"HF_HUB_DISABLE_TELEMETRY": "1", "ORT_DISABLE_TELEMETRY": "1"}
}

// Plan plans one action, as for an exec step.
func (x Python) Plan(p *step.Plan) {
	used := p.Used("environment")
	if len(used) == 0 {
		p.Fail("environment", "Not an environment", "environment: %q is not the folder of a toolchain. Add a block "+
			"`toolchain \"tools\" { python = \"3.11\" … }`, and refer to toolchain.tools.dir.", x.Environment)
		return
	}
	env := pythonEnv()
	maps.Copy(env, p.Env)
	p.Env = env
	script := p.Placed(x.Script)
	if path.IsAbs(script) { // the path of exec's input
		script = "host" + path.Clean(script)
	}
	x.Inputs = slices.Concat([]string{x.Script}, x.Inputs)
	a := Exec{Argv: append([]string{x.Environment + "/bin/python3", script}, x.Args...), command: x.command}.plan(p)
	if slices.ContainsFunc(used, func(o addrs.Output) bool { return slices.Contains(computing(), o.Instance.Name) }) {
		computes(p, a)
	}
}
