package steps

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
)

// Exec are the arguments of kind exec: it runs a command, which starts in the exec root. All its paths are relative to that.
type Exec struct {
	Argv        []string  `arg:"argv,required,nonull"`
	Shell       bool      `arg:"shell"`
	Depfile     string    `arg:"depfile"`
	Inputs      []string  `arg:"inputs"` // null elements come from steps that do not exist, and are none
	Stdin       *string   `arg:"stdin"`
	Programs    []string  `arg:"programs,nonull"`
	Network     bool      `arg:"network"`
	OKExitCodes []float64 `arg:"ok_exit_codes"`
	Checkpoint  string    `arg:"checkpoint"`
	Reproducing
}

// DefaultPath is PATH of a command whose env does not set it.
const DefaultPath = "/usr/local/bin:/usr/bin:/bin"

// Shell runs the script of a step with shell = true.
const Shell = "/bin/sh"

func execSchema() step.Schema {
	return step.Schema{
		Summary: "Runs a command. It starts in the exec root, which holds the step's inputs and nothing else.",
		ArgDocs: reproducingDocs(map[string]string{
			"argv":          "The program and its arguments; no shell reads them. Outputs and toolchains it refers to become inputs by themselves, and so does a program of the workspace (`./tools/gen`). A name without a slash is a program of this machine.",
			"shell":         "With `true`, argv is one text, which `/bin/sh -eu` runs: it ends at the first command that fails, and an unset variable is an error. The default is false.",
			"depfile":       "A file that the command writes, in which it names what it read, as compilers do (`gcc -MD -MF a.d`). Then a changed file in a folder among the inputs runs the step again only if it was read; see [Depfiles](#depfiles).",
			"inputs":        "More inputs: files and folders of the workspace (each appears at its own path), results of fileset(), outputs of steps.",
			"stdin":         "A file, of the workspace or of a step, that becomes standard input.",
			"programs":      "Programs of this machine that the command starts beside argv[0]. When the file of one changes, the step runs again; `hexmage plan` says which are missing.",
			"network":       "Whether the command may use the network. The default is false.",
			"checkpoint":    "A folder, relative to that in which the command starts, where it leaves what it has done so far. If it fails or is killed, the same command finds it there when it runs again; see [Long steps](#long-steps).",
			"ok_exit_codes": "Exit codes, beside 0, that are not failures. Such a result counts and is remembered like any other.",
		}),
		OwnOutputs: true,
		Secrets:    true,
		Example: `step "exec" "tokenizer" {
  argv   = ["./prepare", "--out", "tokenizer.json"]
  inputs = ["vocabulary"]
  output "json" { file = "tokenizer.json" }
}`,
	}
}

// Plan makes one action.
func (x Exec) Plan(p *step.Plan) { x.plan(p) }

func (x Exec) plan(p *step.Plan) *step.Action {
	e := &execPlan{Exec: &x, p: p}
	e.useOutputs()
	a := p.Action("", "", e.command()...)
	a.Env = make(map[string]string, len(p.Env)+1)
	a.Env["PATH"] = DefaultPath
	a.SetEnv(p.Env)
	for name, value := range a.Env {
		a.Env[name] = p.Placed(value)
	}
	for property, text := range p.Secrets {
		a.Set(property, text)
	}
	if _, ok := p.Secrets[action.PropertySecret+"PATH"]; ok {
		p.Fail("env", "No secret", "PATH of %s is where programs are found, which is part of the key. Use a value that is not sensitive.", p.At)
	}
	for _, own := range []string{"HOME", "TMPDIR", "HEXMAGE_ROOT", "HEXMAGE_SELF"} {
		_, env := p.Env[own]
		_, hidden := p.Secrets[action.PropertySecret+own]
		_, file := p.Secrets[action.PropertySecretFile+own]
		if env || hidden || file {
			p.Fail("env", "Every action has this variable", "env of %s sets %s, which hexmage sets for each action. Set it in the command: argv = [\"env\", \"%s=…\", …].", p.At, own, own)
		}
	}
	if len(x.Inputs) > 0 {
		e.inputs = slices.Grow(e.inputs, min(len(x.Inputs), 1000)) // those among the outputs are there already
	}
	for _, in := range x.Inputs {
		e.input("inputs", in)
	}
	if x.Stdin != nil {
		a.Stdin = e.input("stdin", *x.Stdin)
	}
	if x.Network {
		a.Set(action.PropertyNetwork, "true")
	}
	for _, c := range x.OKExitCodes {
		if c != float64(int(c)) || c < 0 || c > 255 {
			p.Fail("ok_exit_codes", "Not an exit code", "ok_exit_codes of %s has %v; exit codes are whole numbers from 0 to 255.", p.At, c)
		}
		a.OKExitCodes = append(a.OKExitCodes, int(c))
	}
	byPath := make(map[string]string, len(p.Outputs))
	for _, o := range p.Outputs {
		if other, ok := byPath[o.Path]; ok {
			p.Fail("output", "Two outputs have the same path", "Outputs %s and %s of %s are both %q.", other, o.Name, p.At, o.Path)
		}
		byPath[o.Path] = o.Name
		a.Outputs = append(a.Outputs, action.Output{Path: o.Path, Tree: o.Class == action.Tree})
		p.Output(o.Name, o.Class, action.Input{Spec: &action.SpecOutput{Path: o.Path}})
	}
	e.checkpoint(a)
	x.Reproducing.apply(a)
	e.program(a.Args)
	for i, arg := range a.Args {
		a.Args[i] = p.Placed(arg)
	}
	a.Depfile = e.depfile()
	a.Inputs = e.inputs
	p.Programs(x.Programs...)
	return a
}

type execPlan struct {
	*Exec
	p       *step.Plan
	outputs map[string]bool // paths of outputs used
	inputs  []action.Input
	seen    map[string]bool // paths of inputs, when there are many
}

// useOutputs makes an input of every output that an argument was made from.
func (e *execPlan) useOutputs() {
	if n := len(e.p.Uses); n > 0 {
		e.outputs = make(map[string]bool, n)
		e.inputs = make([]action.Input, 0, n+1)
	}
	for _, u := range e.p.Uses {
		at := u.Output.Path()
		e.outputs[at] = true
		e.add(action.Input{Path: at, Artifact: u.Output, Shared: u.Output.Kind == addrs.Toolchain})
	}
	for _, name := range slices.Sorted(maps.Keys(e.p.Toolchains)) {
		e.add(e.p.Toolchains[name].Input())
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
		e.seen = make(map[string]bool, max(len(e.p.Uses), len(e.inputs)))
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

// input takes a path of an output that is used, or of the workspace, and returns where it appears.
func (e *execPlan) input(arg, name string) string {
	clean := path.Clean(name)
	if e.isOutput(clean) {
		return clean // it is there by its own use
	}
	switch {
	case name == "" || clean == "..", strings.HasPrefix(clean, "../"):
		e.p.Fail(arg, "Not an input", "%q of %s is no path inside the workspace. Use an absolute path for what is elsewhere.", name, e.p.At)
		return ""
	case strings.HasPrefix(clean, "steps/") || strings.HasPrefix(clean, "toolchains/"):
		e.p.Fail(arg, "Not an input", "%q of %s: steps/ and toolchains/ of the exec root hold outputs. Refer to the output itself, such as step.patch.ops.outputs.dir.", name, e.p.At)
		return ""
	}
	at := clean
	if path.IsAbs(clean) {
		if at = e.p.Placed(clean); path.IsAbs(at) {
			at = "host" + clean
		}
	}
	if at == "." {
		at = ""
	}
	e.add(action.Input{Path: at, Host: &action.HostPath{Path: clean}})
	return at
}

func (e *execPlan) isOutput(name string) bool {
	return atOrAbove(name, func(p string) bool { return e.outputs[p] })
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
	if len(argv) == 0 || !strings.Contains(argv[0], "/") {
		return
	}
	name := path.Clean(e.p.Placed(argv[0]))
	if path.IsAbs(name) {
		return
	}
	for i := range e.inputs {
		if p := e.inputs[i].Path; p != "" && (name == p || strings.HasPrefix(name, p+"/")) {
			// A depfile does not tell what the program has beside itself.
			e.inputs[i].Whole = e.Depfile != "" && p != name && !e.inputs[i].Shared
			return
		}
	}
	e.input("argv", argv[0])
}

// command returns what is run: argv itself, or the shell with it as its script.
func (e *execPlan) command() []string {
	argv, shell := e.Argv, e.Shell
	switch {
	case len(argv) == 0:
		e.p.Fail("argv", "An empty command", "argv of %s is empty. Its first element is the program, or with shell = true the script.", e.p.At)
	case !shell && len(argv) == 1 && isScript(argv[0]):
		e.p.Fail("argv", "A script without a shell", "%q of %s would be the name of a program: argv is a list of words. Set shell = true for a script, or write each word on its own: argv = [%q, …].",
			argv[0], e.p.At, strings.Fields(argv[0])[0])
	case shell && len(argv) > 1:
		e.p.Fail("argv", "A script and more", "With shell = true, argv of %s is one text, the script; here it has %d. Leave shell out if these are the words of one command. "+
			"To give the script a value, use env = { NAME = … } and \"$NAME\".", e.p.At, len(argv))
	case shell && strings.TrimSpace(argv[0]) == "":
		e.p.Fail("argv", "An empty script", "argv[0] of %s is the script that the shell runs, and has nothing in it.", e.p.At)
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
	name := e.Depfile
	if name == "" {
		return ""
	}
	clean := path.Clean(name)
	if path.IsAbs(name) || clean == "." || clean == ".." || strings.HasPrefix(clean, "../") || e.has(clean) {
		e.p.Fail("depfile", "Not the path of a depfile", "%q of %s must be a relative path, with /, of a file that the command writes below the folder in which it starts.", name, e.p.At)
	}
	return clean
}

// checkpoint has the action keep a folder.
func (e *execPlan) checkpoint(a *step.Action) {
	if e.Checkpoint == "" {
		return
	}
	clean := path.Clean(e.Checkpoint)
	overlaps := func(p string) bool {
		return p == clean || strings.HasPrefix(p, clean+"/") || p != "" && strings.HasPrefix(clean, p+"/")
	}
	switch {
	case path.IsAbs(e.Checkpoint) || clean == "." || clean == ".." || strings.HasPrefix(clean, "../"):
		e.p.Fail("checkpoint", "Not the path of a folder", "%q of %s must be a relative path, with /, of a folder below that in which the command starts.", e.Checkpoint, e.p.At)
	case slices.ContainsFunc(e.inputs, func(in action.Input) bool { return overlaps(in.Path) }) ||
		slices.ContainsFunc(a.Outputs, func(o action.Output) bool { return overlaps(o.Path) }):
		e.p.Fail("checkpoint", "A checkpoint among inputs or outputs", "%q of %s is in, or around, an input or output. Give what the command goes on from a folder of its own.", e.Checkpoint, e.p.At)
	case len(e.p.Secrets) > 0:
		e.p.Fail("checkpoint", "A checkpoint beside secrets", "%s has secrets in env, and what it leaves in %q would stay on the disk. Let a step without secrets do the long work.", e.p.At, e.Checkpoint)
	}
	a.Set(action.PropertyCheckpoint, clean)
}
