package steps

import (
	"encoding/json"
	"path"

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

// libraryPath is the variable with the folders in which programs look for libraries.
const libraryPath = "LD_LIBRARY_PATH"

// measured is the reason why outputs with times differ.
const measured = "it has measured times"

// The programs' folder and arguments in an exec root.
const (
	programFolder = "programs"
	programArgs   = "args.json"
)

// htpLibraries returns the folder of the libraries in a tree of Qualcomm's wheel.
func htpLibraries(t step.Toolchain) string { return t.Output.Path() + "/onnxruntime_qnn" }

// program adds an action that runs a program of package python, which may start others, in environment onnx. htp: they
// load Qualcomm's libraries.
func program(p *step.Plan, description string, args any, htp bool, of string, others ...string) *step.Action {
	a := programIn(p, onnxToolchain, description, args, of, others...)
	if htp {
		libraries, runtime := p.Toolchain(htpToolchain), p.Toolchain(runtimeToolchain)
		a.SetEnv(htpEnv(runtime))
		a.In(libraries.Input(), runtime.Input())
	}
	return a
}

// htpEnv returns the environment variables for Qualcomm's libraries, which load those of toolchain gnu_runtime.
func htpEnv(runtime step.Toolchain) map[string]string {
	return map[string]string{libraryPath: runtime.Output.Path() + "/usr/lib/x86_64-linux-gnu:" + runtime.Output.Path() + "/lib/x86_64-linux-gnu"}
}

// programIn is program in another environment, without Qualcomm's libraries.
func programIn(p *step.Plan, environment, description string, args any, of string, others ...string) *step.Action {
	env, files := p.Toolchain(environment), programFiles(p, append(others, of)...)
	doc, err := json.Marshal(args)
	if err != nil {
		p.Fail("", "Arguments of a program", "%s: %v.", of, err)
	}
	a := p.Action("", description, env.Output.Path()+"/bin/python3", "-s", path.Join(programFolder, of+".py"), programArgs)
	a.SetEnv(pythonEnv())
	return a.In(env.Input()).In(action.Input{Path: programArgs, Content: &action.Content{Data: doc}}).In(files...)
}

// computing returns the names of the environments that have ONNX Runtime.
func computing() []string {
	return []string{onnxToolchain, aimetToolchain, quarkToolchain}
}

// computes marks an action that computes with ONNX Runtime's CPU kernels: the last bits depend on the processor.
func computes(p *step.Plan, a *step.Action) *step.Action {
	return a.Set(action.PropertyCPULevel, p.CPULevel)
}

func programFiles(p *step.Plan, of ...string) []action.Input {
	files, err := python.Program(of...)
	if err != nil {
		p.Fail("", "A program is missing", "%v.", err)
	}
	var in []action.Input
	for _, f := range files {
		in = append(in, action.Input{Path: path.Join(programFolder, f.Name), Content: &action.Content{Data: f.Data}})
	}
	return in
}

// text is a file that the step names, or one that hexmage carries.
func text(p *step.Plan, given step.Path, carried string) (at string, in action.Input) {
	if given.IsSet() {
		return given.InRoot(), given.Input()
	}
	data, err := python.Text(carried)
	if err != nil {
		p.Fail("", "A text is missing", "%v.", err)
	}
	return carried, action.Input{Path: carried, Content: &action.Content{Data: data}}
}
