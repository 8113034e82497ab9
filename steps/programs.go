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

// Toolchains that kinds of profile emulator use by default: the environment, Qualcomm's libraries, and the libraries
// that these load.
const (
	onnxToolchain    = "onnx"
	htpToolchain     = "htp_host"
	runtimeToolchain = "gnu_runtime"
)

// measured is the reason why outputs with times differ.
const measured = "it has measured times"

// The programs' folder and arguments in an exec root.
const (
	programFolder = "programs"
	programArgs   = "args.json"
)

// args are the arguments of a program by name: what JSON has, paths, and inputs. The program gets paths and inputs as
// its action's inputs, and reads where they are.
type args map[string]any

// inputs returns the inputs among the arguments, and puts their paths in their places.
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

// program adds an action that runs the first of the programs of package python, which may start the others, in an
// environment.
func program(p *step.Plan, environment, description string, given args, programs ...string) *step.Action {
	env := p.Toolchain(environment)
	a := p.Action("", description, env.Output.Path()+"/bin/python3", "-s", path.Join(programFolder, programs[0]+".py"),
		programArgs)
	a.SetEnv(pythonEnv()).In(env.Input()).In(given.inputs()...)
	doc, err := json.Marshal(given)
	if err != nil {
		p.Fail("", "Arguments of a program", "%s: %v.", programs[0], err)
	}
	a.In(action.Input{Path: programArgs, Content: &action.Content{Data: doc}})
	files, err := python.Program(programs...)
	if err != nil {
		p.Fail("", "A program is missing", "%v.", err)
	}
	for _, f := range files {
		a.In(action.Input{Path: path.Join(programFolder, f.Name), Content: &action.Content{Data: f.Data}})
	}
	return a
}

// onHTP is program in environment onnx, with Qualcomm's libraries. ONNX Runtime folds constants before it compiles, and
// runs nodes that stay on the CPU.
func onHTP(p *step.Plan, description string, given args, programs ...string) *step.Action {
	libraries, runtime := p.Toolchain(htpToolchain), p.Toolchain(runtimeToolchain)
	given["libraries"] = libraries.Output.Path() + "/onnxruntime_qnn"
	at := runtime.Output.Path()
	a := computes(p, program(p, onnxToolchain, description, given, programs...)).In(libraries.Input(), runtime.Input())
	return a.SetEnv(map[string]string{"LD_LIBRARY_PATH": at + "/usr/lib/x86_64-linux-gnu:" + at + "/lib/x86_64-linux-gnu"})
}

// computing returns the names of the environments that have ONNX Runtime.
func computing() []string {
	return []string{onnxToolchain, aimetToolchain, quarkToolchain}
}

// computes marks an action that computes with ONNX Runtime's CPU kernels: the last bits depend on the processor.
func computes(p *step.Plan, a *step.Action) *step.Action {
	return a.Set(action.PropertyCPULevel, p.CPULevel)
}

// text is an argument of a program: a file that the step names, or one that hexmage has.
func text(p *step.Plan, given step.Path, shipped string) any {
	if given.IsSet() {
		return given
	}
	data, err := python.Text(shipped)
	if err != nil {
		p.Fail("", "A text is missing", "%v.", err)
	}
	return action.Input{Path: shipped, Content: &action.Content{Data: data}}
}
