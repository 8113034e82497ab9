package steps

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
)

// Exec are the arguments of kind exec: it runs a command, which starts in the exec root. All its paths are relative to
// that.
type Exec struct {
	Argv     []string `arg:"argv,required,nonull"`
	Shell    bool     `arg:"shell"`
	Depfile  string   `arg:"depfile"`
	Programs []string `arg:"programs,nonull"`
	Network  bool     `arg:"network"`
	command
}

// command has the arguments of all kinds that run a command of the user's.
type command struct {
	Inputs           []string `arg:"inputs"` // null elements come from steps that do not exist
	Stdin            *string  `arg:"stdin"`
	OKExitCodes      []int    `arg:"ok_exit_codes" range:"0..255"`
	Checkpoint       string   `arg:"checkpoint"`
	DisableASLR      bool     `arg:"disable_aslr"`
	Nondeterministic string   `arg:"nondeterministic_because"`
}

func commandDocs(docs map[string]string) map[string]string {
	maps.Copy(docs, map[string]string{
		"inputs": "More inputs: files and folders of the workspace (each appears at its own path), results of " +
			"fileset(), outputs of steps.",
		"stdin":         "A file, of the workspace or of a step, that becomes standard input.",
		"ok_exit_codes": "Exit codes, beside 0, that are not failures. hexmage caches such a result like any other.",
		"checkpoint": "A folder, relative to the exec root, in which the command keeps its progress. If the command " +
			"fails or is killed, its next run finds the folder there; see [Long steps](#long-steps).",
		"disable_aslr": "Whether the command has its memory at the same addresses in each run, as with `setarch " +
			"-R`: for programs that sort by address. If a container forbids it, the command runs all the same, and " +
			"`--verify` says so.",
		"nondeterministic_because": "Why two runs may write different bytes, such as \"it writes the time\". Then " +
			"`--verify` shows the difference, and does not fail. It is not part of the cache key.",
	})
	return docs
}

// DefaultPath is PATH of a command whose env does not set it.
const DefaultPath = "/usr/local/bin:/usr/bin:/bin"

func execSchema() step.Schema {
	return step.Schema{
		Summary: "Runs a command. It starts in the exec root, which holds the step's inputs and nothing else.",
		ArgDocs: commandDocs(map[string]string{
			"argv": "The program and its arguments; no shell reads them. Outputs and toolchains that they refer to " +
				"become inputs, and so does a program of the workspace (`./tools/gen`). A name without a slash is a " +
				"program of this machine.",
			"shell": "With `true`, argv is one text, which `/bin/sh -eu` runs: it ends at the first command that " +
				"fails, and an unset variable is an error.",
			"depfile": "A file that the command writes, in which it names what it read, as compilers do (`gcc -MD " +
				"-MF a.d`). Then a changed file in a folder among the inputs runs the step again only if it was " +
				"read; see [Depfiles](#depfiles).",
			"programs": "Programs of this machine that the command starts beside argv[0]. If the file of one " +
				"changes, the step runs again; `hexmage plan` says which are missing.",
			"network": "Whether the command may use the network.",
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
	e := &execPlan{Exec: &x, p: p, taken: map[string]bool{}}
	for _, u := range p.Uses {
		e.add(action.Input{Path: u.Output.Path(), Artifact: u.Output, Shared: u.Output.Kind == addrs.Toolchain})
	}
	e.used = maps.Clone(e.taken)
	for _, name := range slices.Sorted(maps.Keys(p.Toolchains)) {
		e.add(p.Toolchains[name].Input())
	}
	a := p.Action("", "", e.argv()...)
	for i, arg := range a.Args {
		if strings.Contains(arg, "\x00") {
			p.Fail("argv", "NUL character", "argv[%d] of %s has a NUL character (U+0000), which no program can be given. "+
				"Remove it.", i, p.At)
		}
	}
	a.SetEnv(map[string]string{"PATH": DefaultPath}).SetEnv(p.Env)
	for name, value := range a.Env {
		a.Env[name] = p.Placed(value)
	}
	for property, text := range p.Secrets {
		a.Set(property, text)
	}
	if _, ok := p.Secrets[action.PropertySecret+"PATH"]; ok {
		p.Fail("env", "No secret", "PATH of %s is where programs are found, which is part of the key. Use a value "+
			"that is not sensitive.", p.At)
	}
	for _, own := range []string{"HOME", "TMPDIR", "HEXMAGE_ROOT", "HEXMAGE_SELF"} {
		_, env := p.Env[own]
		_, hidden := p.Secrets[action.PropertySecret+own]
		_, file := p.Secrets[action.PropertySecretFile+own]
		if env || hidden || file {
			p.Fail("env", "Every action has this variable", "env of %s sets %s, which hexmage sets for each action. "+
				"Set it in the command: argv = [\"env\", \"%s=…\", …].", p.At, own, own)
		}
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
	a.OKExitCodes = x.OKExitCodes
	byPath := make(map[string]string, len(p.Outputs))
	for _, o := range p.Outputs {
		if other, ok := byPath[o.Path]; ok {
			p.Fail("output", "Two outputs have the same path", "Outputs %s and %s of %s are both %q.",
				other, o.Name, p.At, o.Path)
		}
		byPath[o.Path] = o.Name
		a.Outputs = append(a.Outputs, action.Output{Path: o.Path, Tree: o.Class == action.Tree})
		p.Output(o.Name, o.Class, action.Input{Spec: &action.SpecOutput{Path: o.Path}})
	}
	e.checkpoint(a)
	if x.DisableASLR {
		a.Set(action.PropertyAddresses, action.AddressesFixed)
	}
	a.Vary(x.Nondeterministic)
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
	p      *step.Plan
	used   map[string]bool // paths of outputs that arguments were made from
	inputs []action.Input
	taken  map[string]bool // their paths
}

func (e *execPlan) add(in action.Input) {
	if !e.taken[in.Path] {
		e.taken[in.Path] = true
		e.inputs = append(e.inputs, in)
	}
}

// input takes a path of an output that is used, or of the workspace, and returns where it appears.
func (e *execPlan) input(arg, name string) string {
	clean := path.Clean(name)
	for at := clean; at != "." && at != "/"; at = path.Dir(at) {
		if e.used[at] {
			return clean // it is there by its own use
		}
	}
	why := step.Unexpanded(name)
	switch {
	case why != "":
		e.p.Fail(arg, "Unexpanded path", "%q of %s: %s.", name, e.p.At, why)
		return ""
	case name == "" || clean == ".." || strings.HasPrefix(clean, "../"):
		e.p.Fail(arg, "Not an input", "%q of %s is no path inside the workspace. Use an absolute path for what is "+
			"elsewhere.", name, e.p.At)
		return ""
	case strings.HasPrefix(clean, "steps/") || strings.HasPrefix(clean, "toolchains/"):
		e.p.Fail(arg, "Not an input", "%q of %s: steps/ and toolchains/ of the exec root hold outputs. Refer to the "+
			"output itself, such as step.patch.ops.outputs.dir.", name, e.p.At)
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

// argv returns what is run: argv itself, or the shell with it as its script.
func (e *execPlan) argv() []string {
	argv, shell := e.Argv, e.Shell
	switch {
	case len(argv) == 0:
		e.p.Fail("argv", "An empty command", "argv of %s is empty. Its first element is the program, or with shell = "+
			"true the script.", e.p.At)
	case !shell && len(argv) == 1 && isScript(argv[0]):
		e.p.Fail("argv", "A script without a shell", "%q of %s would be the name of a program: argv is a list of "+
			"words. Set shell = true for a script, or write each word on its own: argv = [%q, …].",
			argv[0], e.p.At, strings.Fields(argv[0])[0])
	case shell && len(argv) > 1:
		e.p.Fail("argv", "A script and more", "With shell = true, argv of %s is one text, the script; here it has "+
			"%d. Leave shell out if these are the words of one command. To give the script a value, use env = { NAME "+
			"= … } and \"$NAME\".", e.p.At, len(argv))
	case shell && strings.TrimSpace(argv[0]) == "":
		e.p.Fail("argv", "An empty script", "argv[0] of %s is the script that the shell runs, and has nothing in it.",
			e.p.At)
	case shell:
		return []string{"/bin/sh", "-eu", "-c", argv[0]}
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
	if e.Depfile == "" {
		return ""
	}
	clean := path.Clean(e.Depfile)
	if !filepath.IsLocal(clean) || clean == "." || e.taken[clean] {
		e.p.Fail("depfile", "Not the path of a depfile", "%q of %s must be a relative path, with /, of a file that "+
			"the command writes below the folder in which it starts.", e.Depfile, e.p.At)
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
	case !filepath.IsLocal(clean) || clean == ".":
		e.p.Fail("checkpoint", "Not the path of a folder", "%q of %s must be a relative path, with /, of a folder "+
			"below that in which the command starts.", e.Checkpoint, e.p.At)
	case slices.ContainsFunc(e.inputs, func(in action.Input) bool { return overlaps(in.Path) }) ||
		slices.ContainsFunc(a.Outputs, func(o action.Output) bool { return overlaps(o.Path) }):
		e.p.Fail("checkpoint", "A checkpoint among inputs or outputs", "%q of %s is in, or around, an input or "+
			"output. Name a folder that only this command uses.", e.Checkpoint, e.p.At)
	case len(e.p.Secrets) > 0:
		e.p.Fail("checkpoint", "A checkpoint beside secrets", "%s has secrets in env, and what it leaves in %q would "+
			"stay on the disk. Let a step without secrets do the long work.", e.p.At, e.Checkpoint)
	}
	a.Set(action.PropertyCheckpoint, clean)
}
