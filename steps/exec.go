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

// Exec holds the arguments of an exec step, which runs a command. All paths are relative to the exec root, where the
// command starts.
type Exec struct {
	Argv     []string `arg:"argv,required,nonull"`
	Shell    bool     `arg:"shell"`
	Depfile  string   `arg:"depfile"`
	Programs []string `arg:"programs,nonull"`
	Network  bool     `arg:"network"`
	command
}

// command holds the arguments that all kinds with a user's command share.
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
		"inputs": "More inputs: files and folders of the workspace (each appears at its own path), " +
			"results of fileset(), outputs of steps.",
		"stdin": "File of the workspace or of a step that becomes standard input.",
		"ok_exit_codes": "Exit codes other than 0 that count as success. hexmage caches these results " +
			"like others.",
		"checkpoint": "Folder, relative to the exec root, in which the command keeps its progress. If " +
			"the command fails or is killed, its next run finds the folder; see [Long steps](#long-steps).",
		"disable_aslr": "Whether the command gets the same memory addresses in each run, as with " +
			"`setarch -R`. For programs that sort by address. If a container forbids it, the command still runs, and " +
			"`--verify` reports it.",
		"nondeterministic_because": "Why two runs may write different bytes, such as \"it writes the time\". " +
			"`--verify` then shows a difference without failing. Not part of the cache key.",
	})
	return docs
}

// DefaultPath is the PATH of a command whose environment does not contain PATH.
const DefaultPath = "/usr/local/bin:/usr/bin:/bin"

func execSchema() step.Schema {
	return step.Schema{
		Summary: "Runs a command. It starts in the exec root, which holds the step's inputs and nothing else.",
		ArgDocs: commandDocs(map[string]string{
			"argv": "The program and its arguments, without a shell. Outputs, toolchains and workspace programs " +
				"(`./tools/gen`) in argv become inputs. A name without a slash is a program of this machine.",
			"shell": "Whether argv is one string that `/bin/sh -eu` runs. The script ends at the first command " +
				"that fails, and an unset variable is an error.",
			"depfile": "File in which the command lists the files that it read, as compilers do (`gcc -MD -MF " +
				"a.d`). A changed file in an input folder then runs the step again only if the command read it; see " +
				"[Depfiles](#depfiles).",
			"programs": "Programs of this machine that the command starts besides argv[0]. If one of their files " +
				"changes, the step runs again. `hexmage plan` lists missing programs.",
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

// Plan plans one action.
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
			p.Fail("argv", "NUL character", "argv[%d] of %s contains a NUL character (U+0000), which programs cannot "+
				"receive. Remove the character.", i, p.At)
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
		p.Fail("env", "Sensitive PATH", "PATH of %s: a secret cannot be part of the cache key. Use a value that is "+
			"not sensitive.", p.At)
	}
	for _, own := range []string{"HOME", "TMPDIR", "HEXMAGE_ROOT", "HEXMAGE_SELF"} {
		_, env := p.Env[own]
		_, hidden := p.Secrets[action.PropertySecret+own]
		_, file := p.Secrets[action.PropertySecretFile+own]
		if env || hidden || file {
			p.Fail("env", "Reserved variable", "env of %s: hexmage itself sets %s for each action. Set the variable "+
				"in the command: argv = [\"env\", \"%s=…\", …].", p.At, own, own)
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
	used   map[string]bool // paths of outputs in the arguments
	inputs []action.Input
	taken  map[string]bool // paths of inputs
}

func (e *execPlan) add(in action.Input) {
	if !e.taken[in.Path] {
		e.taken[in.Path] = true
		e.inputs = append(e.inputs, in)
	}
}

// input adds an output or a workspace path as input, and returns its path in the exec root.
func (e *execPlan) input(arg, name string) string {
	clean := path.Clean(name)
	for at := clean; at != "." && at != "/"; at = path.Dir(at) {
		if e.used[at] {
			return clean // already an input
		}
	}
	why := step.Unexpanded(name)
	switch {
	case why != "":
		e.p.Fail(arg, "Unexpanded path", "%q of %s: %s.", name, e.p.At, why)
		return ""
	case name == "" || clean == ".." || strings.HasPrefix(clean, "../"):
		e.p.Fail(arg, "Not an input", "%q of %s: path outside the workspace. Use an absolute path for a file "+
			"outside.", name, e.p.At)
		return ""
	case strings.HasPrefix(clean, "steps/") || strings.HasPrefix(clean, "toolchains/"):
		e.p.Fail(arg, "Not an input", "%q of %s: hexmage places outputs in steps/ and toolchains/. Refer to the "+
			"output, such as step.patch.ops.outputs.dir.", name, e.p.At)
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

// program makes a relative program an input, unless an input contains it.
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
			// A depfile does not list the files that the program needs beside itself.
			e.inputs[i].Whole = e.Depfile != "" && p != name && !e.inputs[i].Shared
			return
		}
	}
	e.input("argv", argv[0])
}

// argv returns the command line: argv, or the shell with argv[0] as its script.
func (e *execPlan) argv() []string {
	argv, shell := e.Argv, e.Shell
	switch {
	case len(argv) == 0:
		e.p.Fail("argv", "Empty command", "argv of %s: empty. Add the program as first element, or the script with "+
			"shell = true.", e.p.At)
	case !shell && len(argv) == 1 && isScript(argv[0]):
		e.p.Fail("argv", "Script without a shell", "%q of %s: looks like a script, but argv is a list of words. Set "+
			"shell = true, or write each word as an element: argv = [%q, …].",
			argv[0], e.p.At, strings.Fields(argv[0])[0])
	case shell && len(argv) > 1:
		e.p.Fail("argv", "Several scripts", "argv of %s has %d strings, but shell = true takes one string, the "+
			"script. To pass a value to the script, use env = { NAME = … } and \"$NAME\".", e.p.At, len(argv))
	case shell && strings.TrimSpace(argv[0]) == "":
		e.p.Fail("argv", "Empty script", "argv[0] of %s is an empty script. Write at least one command.",
			e.p.At)
	case shell:
		return []string{"/bin/sh", "-eu", "-c", argv[0]}
	}
	return argv
}

// isScript reports whether the program's name has several words, or characters of the shell.
func isScript(s string) bool {
	if strings.HasPrefix(s, "<") { // a placeholder: the value is not known yet
		return false
	}
	words := strings.Fields(s)
	return len(words) > 1 && !strings.Contains(words[0], "/") || len(words) == 1 && strings.ContainsAny(s, "|&;<>$`")
}

// depfile returns the checked path of the depfile.
func (e *execPlan) depfile() string {
	if e.Depfile == "" {
		return ""
	}
	clean := path.Clean(e.Depfile)
	if !filepath.IsLocal(clean) || clean == "." || e.taken[clean] {
		e.p.Fail("depfile", "Invalid depfile path", "%q of %s is not an output path. Use the relative path of a file "+
			"that the command writes, below the exec root.", e.Depfile, e.p.At)
	}
	return clean
}

// checkpoint sets the folder that the action keeps when it fails.
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
		e.p.Fail("checkpoint", "Invalid checkpoint path", "%q of %s: not a path below the exec root. Use a relative "+
			"path of a folder.", e.Checkpoint, e.p.At)
	case slices.ContainsFunc(e.inputs, func(in action.Input) bool { return overlaps(in.Path) }) ||
		slices.ContainsFunc(a.Outputs, func(o action.Output) bool { return overlaps(o.Path) }):
		e.p.Fail("checkpoint", "Checkpoint overlaps an input or output", "%q of %s: overlaps an input or output. "+
			"Name a folder that only this command uses.", e.Checkpoint, e.p.At)
	case len(e.p.Secrets) > 0:
		e.p.Fail("checkpoint", "Checkpoint with secrets", "%s: env has secrets, and the files in %q would stay on "+
			"the disk. Move the long work to a step without secrets.", e.p.At, e.Checkpoint)
	}
	a.Set(action.PropertyCheckpoint, clean)
}
