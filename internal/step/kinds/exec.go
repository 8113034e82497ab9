// Package kinds has the kinds of step that know nothing of Qualcomm.
//
// Like all kinds they are pure: they turn arguments into Specs, and do not know whether a file of the workspace exists.
package kinds

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
)

// Exec is kind exec: it runs a command. The command starts in the exec root; all its paths are relative to that.
type Exec struct{}

// DefaultPath is PATH of a command whose env does not set it.
const DefaultPath = "/usr/local/bin:/usr/bin:/bin"

// Schema returns the arguments of exec.
func (Exec) Schema() step.Schema {
	return step.Schema{
		Summary: "Runs a command. It starts in the exec root, which holds the step's inputs and nothing else.",
		Args: hcldec.ObjectSpec{
			"argv":          &hcldec.AttrSpec{Name: "argv", Type: cty.List(cty.String), Required: true},
			"inputs":        &hcldec.AttrSpec{Name: "inputs", Type: cty.List(cty.String)},
			"stdin":         &hcldec.AttrSpec{Name: "stdin", Type: cty.String},
			"programs":      &hcldec.AttrSpec{Name: "programs", Type: cty.List(cty.String)},
			"network":       &hcldec.AttrSpec{Name: "network", Type: cty.Bool},
			"ok_exit_codes": &hcldec.AttrSpec{Name: "ok_exit_codes", Type: cty.List(cty.Number)},
		},
		ArgDocs: map[string]string{
			"argv":          "The program and its arguments. Outputs and toolchains it refers to become inputs by themselves.",
			"inputs":        "More inputs: files and folders of the workspace (each appears at its own path), results of fileset(), outputs of steps.",
			"stdin":         "A file, of the workspace or of a step, that becomes standard input.",
			"programs":      "Programs of this machine that the command needs beside argv[0]; `hexmage plan` says which are missing.",
			"network":       "Whether the command may use the network. The default is false.",
			"ok_exit_codes": "Exit codes, beside 0, that are not failures.",
		},
		OwnOutputs: true,
	}
}

// Plan makes one action.
func (Exec) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	e := &execPlan{r: r, outputs: make(map[string]addrs.Output), seen: make(map[string]bool)}
	e.useOutputs()
	spec := action.Spec{Env: map[string]string{"PATH": DefaultPath}}
	for k, v := range r.Env {
		spec.Env[k] = v
	}
	spec.Args = e.strings("argv")
	if len(spec.Args) == 0 {
		e.fail("argv", "An empty command", "argv of %s is empty. Its first element is the program.", r.At)
	}
	for _, in := range e.strings("inputs") {
		e.input("inputs", in)
	}
	if v := r.Args.GetAttr("stdin"); !v.IsNull() {
		spec.Stdin = e.input("stdin", v.AsString())
	}
	if v := r.Args.GetAttr("network"); !v.IsNull() && v.True() {
		spec.Platform = map[string]string{action.PropertyNetwork: "true"}
	}
	if v := r.Args.GetAttr("ok_exit_codes"); !v.IsNull() {
		for _, c := range v.AsValueSlice() {
			spec.OKExitCodes = append(spec.OKExitCodes, e.exitCode(c))
		}
	}
	planned := step.Planned{Outputs: make(map[string]action.Artifact)}
	byPath := make(map[string]string)
	for _, o := range r.Outputs {
		if other, ok := byPath[o.Path]; ok {
			e.fail("output", "Two outputs have the same path", "Outputs %s and %s of %s are both %q.", other, o.Name, r.At, o.Path)
		}
		byPath[o.Path] = o.Name
		spec.Outputs = append(spec.Outputs, action.Output{Path: o.Path, Tree: o.Class == action.Tree})
		planned.Outputs[o.Name] = action.Artifact{Class: o.Class, Parts: []action.Input{{Spec: &action.SpecOutput{Path: o.Path}}}}
	}
	e.program(spec.Args)
	spec.Inputs = e.inputs
	planned.Specs = []action.Spec{spec}
	planned.Programs = e.strings("programs")
	return planned, e.diags
}

type execPlan struct {
	r       step.Request
	outputs map[string]addrs.Output // outputs used, by path
	inputs  []action.Input
	seen    map[string]bool // paths of inputs
	diags   hcl.Diagnostics
}

func (e *execPlan) fail(arg, summary, detail string, args ...any) {
	e.diags = append(e.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...), Subject: e.r.ArgRange(arg)})
}

// useOutputs makes an input of every output that an argument was made from.
func (e *execPlan) useOutputs() {
	for _, u := range e.r.Uses {
		o := u.Output
		e.outputs[o.Path()] = o
		e.add(action.Input{Path: o.Path(), Artifact: &o, Shared: o.Kind == addrs.Toolchain})
	}
	for _, name := range slices.Sorted(maps.Keys(e.r.Toolchains)) {
		e.add(e.r.Toolchains[name].Input())
	}
}

func (e *execPlan) add(in action.Input) {
	if !e.seen[in.Path] {
		e.seen[in.Path] = true
		e.inputs = append(e.inputs, in)
	}
}

// strings returns a list argument. Null elements, which come from steps that do not exist, are left out of inputs and
// refused elsewhere.
func (e *execPlan) strings(name string) []string {
	v := e.r.Args.GetAttr(name)
	if v.IsNull() {
		return nil
	}
	var out []string
	for i, s := range v.AsValueSlice() {
		switch {
		case !s.IsNull():
			out = append(out, s.AsString())
		case name != "inputs":
			e.fail(name, "An argument is null", "%s[%d] of %s is null, as the outputs of a step whose when is false are. Use coalesce(…), or compact(…) around the list.", name, i, e.r.At)
		}
	}
	return out
}

// input takes a path of an output that is used, or of the workspace, and returns where it appears.
func (e *execPlan) input(arg, name string) string {
	clean := path.Clean(name)
	if e.isOutput(clean) {
		return clean // it is there by its own use
	}
	switch {
	case name == "" || clean == "..", strings.HasPrefix(clean, "../"):
		e.fail(arg, "Not an input", "%q of %s is no path inside the workspace. Use an absolute path for what is elsewhere.", name, e.r.At)
		return ""
	case strings.HasPrefix(clean, "steps/") || strings.HasPrefix(clean, "toolchains/"):
		e.fail(arg, "Not an input", "%q of %s: steps/ and toolchains/ of the exec root hold outputs. Refer to the output itself, such as step.patch.ops.outputs.dir.", name, e.r.At)
		return ""
	}
	at := clean
	if path.IsAbs(clean) {
		at = "host" + clean
	}
	if at == "." {
		at = ""
	}
	e.add(action.Input{Path: at, Host: &action.HostPath{Path: clean}})
	return at
}

func (e *execPlan) isOutput(name string) bool {
	return atOrAbove(name, func(p string) bool { _, ok := e.outputs[p]; return ok })
}

// atOrAbove says whether a clean relative path, or a folder that it is in, is among the paths that has knows.
func atOrAbove(name string, has func(string) bool) bool {
	for !has(name) {
		i := strings.LastIndexByte(name, '/')
		if i < 0 {
			return false
		}
		name = name[:i]
	}
	return true
}

// program refuses a relative program that is not among the inputs: it would not be there.
func (e *execPlan) program(argv []string) {
	if len(argv) == 0 || !strings.Contains(argv[0], "/") || path.IsAbs(argv[0]) {
		return
	}
	name := path.Clean(argv[0])
	if e.seen[""] || atOrAbove(name, func(p string) bool { return e.seen[p] }) {
		return
	}
	e.fail("argv", "A program that is not an input",
		"%s runs %q, but a command sees its inputs only. If it is a file of the workspace, add it: inputs = [%q].", e.r.At, argv[0], name)
}

func (e *execPlan) exitCode(v cty.Value) int {
	if v.IsNull() {
		return 0
	}
	i, _ := v.AsBigFloat().Int64()
	if !v.AsBigFloat().IsInt() || i < 0 || i > 255 {
		e.fail("ok_exit_codes", "Not an exit code", "ok_exit_codes of %s has %s; exit codes are whole numbers from 0 to 255.", e.r.At, v.AsBigFloat().Text('g', 10))
	}
	return int(i)
}
