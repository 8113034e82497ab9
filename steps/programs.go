package steps

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/model/python"
)

// Toolchains that kinds of profile emulator use by default: the Python environment, Qualcomm's libraries, and the
// libraries that these load.
const (
	onnxToolchain    = "onnx"
	htpToolchain     = "htp_host"
	runtimeToolchain = "gnu_runtime"
)

// measured is the reason for differences in outputs with times.
const measured = "the output contains measured times"

// Paths of the programs' folder and arguments in an exec root.
const (
	programFolder = "programs"
	programArgs   = "args.json"
)

// args are the arguments of a program by name: JSON values, paths and inputs. The program receives paths and inputs as
// inputs of its action, and their exec root paths as arguments.
type args map[string]any

// inputs returns the inputs among the arguments, and replaces each by its path.
func (a args) inputs() (all []action.Input) {
	for name, v := range a {
		switch v := v.(type) {
		case step.Path:
			all = append(all, v.Input())
		case []step.Path:
			for _, p := range v {
				all = append(all, p.Input())
			}
		case map[string]step.Path:
			for _, p := range v {
				all = append(all, p.Input())
			}
		case action.Input:
			a[name], all = v.Path, append(all, v)
		}
	}
	slices.SortFunc(all, func(a, b action.Input) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// program adds an action that runs a program of package python in an environment. The other named programs are inputs
// that it may start.
func program(p *step.Plan, environment, description string, given args, programs ...string) *step.Action {
	env := p.Toolchain(environment)
	a := p.Action("", description, env.Output.Path()+"/bin/python3", "-s", path.Join(programFolder, programs[0]+".py"),
		programArgs)
	a.SetEnv(pythonEnv()).In(env.Input()).In(given.inputs()...)
	doc, err := json.Marshal(given)
	if err != nil {
		p.Fail("", "Invalid arguments of a program", "%s: %v.", programs[0], err)
	}
	a.In(action.Input{Path: programArgs, Content: &action.Content{Data: doc}})
	files, err := python.Program(programs...)
	if err != nil {
		p.Fail("", "Missing program", "%v.", err)
	}
	for _, f := range files {
		a.In(action.Input{Path: path.Join(programFolder, f.Name), Content: &action.Content{Data: f.Data}})
	}
	return a
}

// onHTP adds a program in environment onnx with Qualcomm's libraries. ONNX Runtime folds constants before it compiles,
// and runs the nodes that stay on the CPU.
func onHTP(p *step.Plan, description string, given args, programs ...string) *step.Action {
	libraries, runtime := p.Toolchain(htpToolchain), p.Toolchain(runtimeToolchain)
	given["libraries"] = libraries.Output.Path() + "/onnxruntime_qnn"
	at := runtime.Output.Path()
	a := computes(p, program(p, onnxToolchain, description, given, programs...)).In(libraries.Input(), runtime.Input())
	path := at + "/usr/lib/x86_64-linux-gnu:" + at + "/lib/x86_64-linux-gnu"
	return a.SetEnv(map[string]string{"LD_LIBRARY_PATH": path})
}

// computing returns the names of the environments that have ONNX Runtime.
func computing() []string {
	return []string{onnxToolchain, aimetToolchain, quarkToolchain}
}

// computes marks an action that computes with ONNX Runtime's CPU kernels, whose last bits depend on the processor.
func computes(p *step.Plan, a *step.Action) *step.Action {
	return a.Set(action.PropertyCPULevel, p.CPULevel)
}

// text returns a program's argument: the file that the step names, or a shipped one.
func text(p *step.Plan, given step.Path, shipped string) any {
	if given.IsSet() {
		return given
	}
	data, err := python.Text(shipped)
	if err != nil {
		p.Fail("", "Missing text file", "%v.", err)
	}
	return action.Input{Path: shipped, Content: &action.Content{Data: data}}
}
