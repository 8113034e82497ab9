package steps

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

// Shell runs the script of a step with shell = true.
const Shell = "/bin/sh"

// Schema returns the arguments of exec.
func (Exec) Schema() step.Schema {
	return step.Schema{
		Summary: "Runs a command. It starts in the exec root, which holds the step's inputs and nothing else.",
		Args: hcldec.ObjectSpec{
			"argv":          &hcldec.AttrSpec{Name: "argv", Type: cty.List(cty.String), Required: true},
			"shell":         &hcldec.AttrSpec{Name: "shell", Type: cty.Bool},
			"depfile":       &hcldec.AttrSpec{Name: "depfile", Type: cty.String},
			"inputs":        &hcldec.AttrSpec{Name: "inputs", Type: cty.List(cty.String)},
			"stdin":         &hcldec.AttrSpec{Name: "stdin", Type: cty.String},
			"programs":      &hcldec.AttrSpec{Name: "programs", Type: cty.List(cty.String)},
			"network":       &hcldec.AttrSpec{Name: "network", Type: cty.Bool},
			"ok_exit_codes": &hcldec.AttrSpec{Name: "ok_exit_codes", Type: cty.List(cty.Number)},
		},
		ArgDocs: map[string]string{
			"argv":          "The program and its arguments; no shell reads them. Outputs and toolchains it refers to become inputs by themselves, and so does a program of the workspace (`./tools/gen`). A name without a slash is a program of this machine.",
			"shell":         "With `true`, argv is one text, which `/bin/sh -eu` runs: it ends at the first command that fails, and an unset variable is an error. The default is false.",
			"depfile":       "A file that the command writes, in which it names what it read, as compilers do (`gcc -MD -MF a.d`). Then a changed file in a folder among the inputs runs the step again only if it was read; see [Depfiles](#depfiles).",
			"inputs":        "More inputs: files and folders of the workspace (each appears at its own path), results of fileset(), outputs of steps.",
			"stdin":         "A file, of the workspace or of a step, that becomes standard input.",
			"programs":      "Programs of this machine that the command starts beside argv[0]. When the file of one changes, the step runs again; `hexmage plan` says which are missing.",
			"network":       "Whether the command may use the network. The default is false.",
			"ok_exit_codes": "Exit codes, beside 0, that are not failures. Such a result counts and is remembered like any other.",
		},
		OwnOutputs: true,
	}
}

// Plan makes one action.
func (Exec) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	e := &execPlan{r: r}
	e.useOutputs()
	spec := action.Spec{Env: map[string]string{"PATH": DefaultPath}}
	for k, v := range r.Env {
		spec.Env[k] = v
	}
	spec.Args = e.command()
	inputs := e.strings("inputs")
	if len(inputs) > 0 {
		e.inputs = slices.Grow(e.inputs, min(len(inputs), 1000)+1) // those among the outputs are there already
	}
	for _, in := range inputs {
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
	planned := step.Planned{Outputs: make(map[string]action.Artifact, len(r.Outputs))}
	byPath := make(map[string]string, len(r.Outputs))
	for _, o := range r.Outputs {
		if other, ok := byPath[o.Path]; ok {
			e.fail("output", "Two outputs have the same path", "Outputs %s and %s of %s are both %q.", other, o.Name, r.At, o.Path)
		}
		byPath[o.Path] = o.Name
		spec.Outputs = append(spec.Outputs, action.Output{Path: o.Path, Tree: o.Class == action.Tree})
		planned.Outputs[o.Name] = action.Artifact{Class: o.Class, Parts: []action.Input{{Spec: &action.SpecOutput{Path: o.Path}}}}
	}
	e.program(spec.Args)
	spec.Depfile = e.depfile()
	spec.Inputs = e.inputs
	planned.Specs = []action.Spec{spec}
	planned.Programs = e.strings("programs")
	return planned, e.diags
}

type execPlan struct {
	r       step.Request
	outputs map[string]addrs.Output // outputs used, by path
	inputs  []action.Input
	seen    map[string]bool // paths of inputs, when there are many
	diags   hcl.Diagnostics
}

func (e *execPlan) fail(arg, summary, detail string, args ...any) {
	e.diags = append(e.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...), Subject: e.r.ArgRange(arg)})
}

// useOutputs makes an input of every output that an argument was made from.
func (e *execPlan) useOutputs() {
	if n := len(e.r.Uses); n > 0 {
		e.outputs = make(map[string]addrs.Output, n)
		e.inputs = make([]action.Input, 0, n+1)
	}
	for _, u := range e.r.Uses {
		o := u.Output
		at := o.Path()
		e.outputs[at] = o
		e.add(action.Input{Path: at, Artifact: &o, Shared: o.Kind == addrs.Toolchain})
	}
	for _, name := range slices.Sorted(maps.Keys(e.r.Toolchains)) {
		e.add(e.r.Toolchains[name].Input())
	}
}

func (e *execPlan) add(in action.Input) {
	if e.has(in.Path) {
		return
	}
	e.inputs = append(e.inputs, in)
	switch {
	case e.seen != nil:
		e.seen[in.Path] = true
	case len(e.inputs) > 16: // so many that to look through them all takes longer
		e.seen = make(map[string]bool, max(len(e.r.Uses), len(e.inputs)))
		for _, in := range e.inputs {
			e.seen[in.Path] = true
		}
	}
}

// has says whether there is an input at the path.
func (e *execPlan) has(at string) bool {
	if e.seen != nil {
		return e.seen[at]
	}
	return slices.ContainsFunc(e.inputs, func(in action.Input) bool { return in.Path == at })
}

// strings returns a list argument. Null elements, which come from steps that do not exist, are left out of inputs and
// refused elsewhere.
func (e *execPlan) strings(name string) []string {
	v := e.r.Args.GetAttr(name)
	if v.IsNull() || v.LengthInt() == 0 {
		return nil
	}
	out := make([]string, 0, v.LengthInt())
	i := -1
	for it := v.ElementIterator(); it.Next(); {
		_, s := it.Element()
		i++
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

// program makes a relative program an input, if it is in none.
func (e *execPlan) program(argv []string) {
	if len(argv) == 0 || !strings.Contains(argv[0], "/") || path.IsAbs(argv[0]) {
		return
	}
	name := path.Clean(argv[0])
	for i := range e.inputs {
		if p := e.inputs[i].Path; p != "" && (name == p || strings.HasPrefix(name, p+"/")) {
			// A depfile does not tell what the program has beside itself.
			e.inputs[i].Whole = e.r.String("depfile") != "" && p != name && !e.inputs[i].Shared
			return
		}
	}
	e.input("argv", name)
}

// command returns what is run: argv itself, or the shell with it as its script.
func (e *execPlan) command() []string {
	argv := e.strings("argv")
	shell := e.r.Bool("shell")
	switch {
	case len(argv) == 0:
		e.fail("argv", "An empty command", "argv of %s is empty. Its first element is the program, or with shell = true the script.", e.r.At)
	case !shell && len(argv) == 1 && isScript(argv[0]):
		e.fail("argv", "A script without a shell", "%q of %s would be the name of a program: argv is a list of words. Set shell = true for a script, or write each word on its own: argv = [%q, …].",
			argv[0], e.r.At, strings.Fields(argv[0])[0])
	case shell && len(argv) > 1:
		e.fail("argv", "A script and more", "With shell = true, argv of %s is one text, the script; here it has %d. Leave shell out if these are the words of one command. "+
			"To give the script a value, use env = { NAME = … } and \"$NAME\".", e.r.At, len(argv))
	case shell && strings.TrimSpace(argv[0]) == "":
		e.fail("argv", "An empty script", "argv[0] of %s is the script that the shell runs, and has nothing in it.", e.r.At)
	case shell:
		return []string{Shell, "-eu", "-c", argv[0]}
	}
	return argv
}

// isScript tells whether what should be the name of a program is several words, or more than words.
func isScript(s string) bool {
	if strings.HasPrefix(s, "<") { // stands for a value that is not known yet
		return false
	}
	words := strings.Fields(s)
	return len(words) > 1 && !strings.Contains(words[0], "/") || len(words) == 1 && strings.ContainsAny(s, "|&;<>$`")
}

// depfile returns the path of the depfile.
func (e *execPlan) depfile() string {
	name := e.r.String("depfile")
	if name == "" {
		return ""
	}
	clean := path.Clean(name)
	if path.IsAbs(name) || clean == "." || clean == ".." || strings.HasPrefix(clean, "../") || e.has(clean) {
		e.fail("depfile", "Not the path of a depfile", "%q of %s must be a relative path, with /, of a file that the command writes below the folder in which it starts.", name, e.r.At)
	}
	return clean
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
