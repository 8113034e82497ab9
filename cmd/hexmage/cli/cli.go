// Package cli is the command line: flags, exit codes, and the one place where the engine and the domain are wired
// together.
//
// It alone reads the environment, the arguments and the working directory, and it alone decides what is printed where.
// It does not know how anything is done.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/term"

	"github.com/hexmage/hexmage/internal/ansi"
)

// Exit codes are API: programs may rely on them.
const (
	ExitOK          = 0
	ExitFailed      = 1   // a step failed
	ExitUsage       = 2   // usage or configuration
	ExitEngine      = 3   // engine or infrastructure
	ExitLocked      = 4   // another process holds what this one needs
	ExitCheck       = 5   // all steps are done, and a check of severity error failed
	ExitInterrupted = 130 // by Ctrl-C
)

// firstGC lets the heap grow to about 64 MB before it is looked through for the first time: most commands end before.
const firstGC = 1600

// lateGC begins to collect garbage late, and then goes on as Go does by itself: what is large here is read in streams, and the graph
// of a large pipeline should not cost several times its size.
func lateGC() {
	debug.SetGCPercent(firstGC)
	runtime.SetFinalizer(new(struct{ _ [16]byte }), func(any) { debug.SetGCPercent(100) })
}

// boundHeap has garbage collected more often, rather than take more memory, in a build of so many actions. It is meant to be about twice
// what such a build needs.
func (e Env) boundHeap(actions int) {
	bound := 44<<20 + int64(actions)*5<<10
	if e.heap != 0 {
		bound = min(bound, e.heap)
	}
	debug.SetMemoryLimit(bound)
}

// Env is what the process was given: everything the command line takes from outside its arguments.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Vars           []string // KEY=value
	Dir            string   // working directory
	Self           string   // path of this binary, which runs again as a built-in tool
	Terminal       bool     // Stderr is a terminal
	Width          int      // its columns

	heap int64 // of a child of a hexmage that has little memory: about how far the heap may grow; else 0
}

// System returns the process's own environment.
func System() Env {
	dir, _ := os.Getwd()
	self, _ := os.Executable()
	e := Env{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Vars: os.Environ(), Dir: dir, Self: self}
	if fd := int(os.Stderr.Fd()); term.IsTerminal(fd) {
		e.Terminal = true
		e.Width, _, _ = term.GetSize(fd)
	}
	return e
}

// Var returns a variable of the environment, or "".
func (e Env) Var(name string) string {
	for i := len(e.Vars) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(e.Vars[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// exitError carries an exit code and what to say with it.
type exitError struct {
	code int
	err  error // nil: it was said already
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// givenError says that what is wrong is what the command was given: no file has to change to make it right.
type givenError struct{ error }

func (e givenError) Unwrap() error { return e.error }

func usage(format string, args ...any) error {
	return &exitError{ExitUsage, fmt.Errorf(format, args...)}
}

func engine(err error) error { return &exitError{ExitEngine, err} }

// Main runs the command line and returns the exit code.
func Main(args []string, env Env) int {
	args, child := inChild(args, &env)
	if len(args) > 1 && args[1] == "tool" { // a built-in tool in an action's exec root: no flags, no configuration
		return runTool(args[2:], env)
	}
	if !child {
		if code, ok := limited(args, &env); ok {
			return code
		}
	}
	lateGC()
	if env.heap != 0 {
		debug.SetMemoryLimit(env.heap)
	}
	env.Stdout, env.Stderr = newOutput(env.Stdout), newOutput(env.Stderr)
	return run(args[1:], env)
}

// exitCode is what kong's --help and --version want to end with.
type exitCode int

func run(args []string, env Env) (code int) {
	asked := args
	defer func() { code = written(env, code) }()
	defer func() {
		switch r := recover().(type) {
		case nil:
		case exitCode:
			if code = int(r); len(asked) == 0 {
				code = ExitUsage // help was shown, and nothing was asked for
			}
		default:
			panic(r)
		}
	}()
	if len(args) == 0 {
		args = []string{"--help"} // what people want who do not know what to ask for
	}
	kctx, global, err := parse(args, env)
	if err != nil && strings.HasPrefix(err.Error(), "--var: expected ") { // it shows what may be a secret
		err = errors.New("--var takes NAME=VALUE")
	}
	if err != nil {
		fmt.Fprintf(env.Stderr, "hexmage: %s\nSee: hexmage --help\n", ansi.Visible(err.Error(), false))
		return ExitUsage
	}
	in := newInterrupts(func(text string) { fmt.Fprint(env.Stderr, "\n", text) })
	in.child = env.heap != 0
	ctx, stop := in.watch(context.Background())
	defer stop()
	finish, err := profile(env)
	if err != nil {
		return exitWith(ctx, err, env)
	}
	app, err := newApp(*global, env)
	if err == nil {
		app.interrupts = in
		kctx.BindTo(ctx, (*context.Context)(nil))
		err = kctx.Run(app)
	}
	if e := finish(); err == nil {
		err = e
	}
	return exitWith(ctx, err, env)
}

// exitWith prints what has not been said and chooses the exit code.
func exitWith(ctx context.Context, err error, env Env) int {
	var exit *exitError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &exit):
		if exit.err != nil {
			fmt.Fprintln(env.Stderr, "hexmage:", ansi.Visible(exit.err.Error(), false))
		}
		return exit.code
	case ctx.Err() != nil:
		fmt.Fprintln(env.Stderr, "hexmage: interrupted")
		return ExitInterrupted
	}
	fmt.Fprintln(env.Stderr, "hexmage:", ansi.Visible(err.Error(), false))
	return ExitEngine
}

// absolute returns path seen from dir.
func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// commands is the command line's grammar, for kong, which shows what a command's Help returns below its one-line description; indented
// lines stay as they are.
type commands struct {
	Global Global `embed:""`

	Run       runCmd       `cmd:"" help:"Build a pipeline: fetch, patch, compile, convert, run on the device."`
	Watch     watchCmd     `cmd:"" help:"Build a pipeline, and again after every save of a file that it reads."`
	Plan      planCmd      `cmd:"" help:"Print what a pipeline would run, and run nothing."`
	Explain   explainCmd   `cmd:"" help:"Say why a step will run: what differs from when it last ran."`
	Show      showCmd      `cmd:"" help:"Show what a pipeline or module takes and gives, or one thing that it names."`
	Graph     graphCmd     `cmd:"" help:"Print a pipeline's graph of steps (dot, mermaid or json)."`
	Validate  validateCmd  `cmd:"" help:"Check pipeline files."`
	Fmt       fmtCmd       `cmd:"" help:"Rewrite pipeline files in the canonical format."`
	Lock      lockCmd      `cmd:"" help:"Record the digests of the toolchains and modules that a pipeline fetches in hexmage.lock.hcl."`
	Patch     patchCmd     `cmd:"" help:"Patch op sources for an SDK: check, apply, diff, record, and list what will not compile."`
	Makefile  makefileCmd  `cmd:"" help:"Write a standalone Makefile for an op package, or compare another one with it."`
	IDE       ideCmd       `cmd:"" name:"ide" help:"Write what clangd and VS Code need to understand an op package."`
	Kinds     kindsCmd     `cmd:"" help:"The kinds of step: what each takes and gives, an example, the pipelines that use it."`
	Inspect   inspectCmd   `cmd:"" help:"Say what a library, context binary, model or SDK is."`
	Toolchain toolchainCmd `cmd:"" help:"The toolchains of the catalogue: list, fetch and verify them, find where they are."`
	Compat    compatCmd    `cmd:"" help:"Print what works with what for a SoC, and why the rest does not."`
	Env       envCmd       `cmd:"" help:"Print what the SDKs' own environment scripts would set, for a shell."`
	Device    deviceCmd    `cmd:"" help:"Devices: list them, push and pull files, run commands, read logs, connect over the network."`
	Diagnose  diagnoseCmd  `cmd:"" help:"Find the failure in a log: its cause, and what to do."`
	Doctor    doctorCmd    `cmd:"" help:"Say what this machine has, what it lacks, and how to get it."`
	Cache     cacheCmd     `cmd:"" help:"Look after the cache: count it, collect garbage, verify it, find what is in it."`
	Version   versionCmd   `cmd:"" help:"Print the version."`
}

// Global are the flags of every command.
type Global struct {
	Dir     string            `short:"C" placeholder:"DIR" help:"Start in DIR instead of the working directory."`
	JSON    bool              `name:"json" help:"Write events or results as JSON: one object, or list of them, a line."`
	Profile string            `placeholder:"NAME" help:"Profile of the pipeline, such as open or device. Default: HEXMAGE_PROFILE, else the pipeline's own default."`
	SoC     []string          `name:"soc" sep:"," placeholder:"NAME" help:"Build for this SoC, such as SM8650, instead of the pipeline's targets; with +NAME, for it too. May be repeated."`
	Set     map[string]string `name:"var" placeholder:"NAME=VALUE" mapsep:"none" help:"Set a variable of the pipeline. May be repeated."`
	Fresh   stepsFlag         `placeholder:"STEP" help:"Run every action, with =STEP those of that step, even if its result is known."`
	Offline bool              `help:"Never use the network."`
	Sandbox string            `placeholder:"LEVEL" help:"How far actions are kept from what they do not declare: strict, staged or off. Default: HEXMAGE_SANDBOX, else strict where the kernel can."`
	Jobs    int               `short:"j" placeholder:"N" help:"Run at most N actions at once. Default: one a processor."`
	Verbose bool              `short:"v" help:"Show every action."`
	Colour  string            `enum:"auto,always,never" default:"auto" help:"Colour the output: auto, always or never."`
}

// errInterrupted is the cause of a context that Ctrl-C ended.
var errInterrupted = errors.New("interrupted")

// interrupts decides what Ctrl-C does: the first one ends a context, so that children end and state is kept; the second
// ends this process and its children at once.
type interrupts struct {
	mu   sync.Mutex
	say  func(text string) // nil: say nothing
	kill []*func()         // end the children

	child bool // of a hexmage that says when to end (see limited)
}

func newInterrupts(say func(string)) *interrupts { return &interrupts{say: say} }

// notify has texts shown by say from now on, as on a display whose last lines are rewritten. It returns a function that
// goes back to what was before.
func (i *interrupts) notify(say func(string)) func() {
	i.mu.Lock()
	defer i.mu.Unlock()
	before := i.say
	i.say = say
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.say = before
	}
}

// onKill adds to what ends the children, and returns what takes it off again.
func (i *interrupts) onKill(kill func()) func() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.kill = append(i.kill, &kill)
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.kill = slices.DeleteFunc(i.kill, func(k *func()) bool { return k == &kill })
	}
}

func (i *interrupts) first() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.say != nil {
		i.say("hexmage: stopping; once more to stop at once\n")
	}
}

func (i *interrupts) second() {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, kill := range i.kill {
		(*kill)()
	}
	os.Exit(ExitInterrupted)
}

// watch returns a context that ends with the first interrupt, or when the terminal goes away, and a function that stops
// watching.
func (i *interrupts) watch(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	ch := make(chan os.Signal, 2)
	end := ch
	if i.child { // the terminal's signals reach the parent, too, which sends on each once
		signal.Notify(ch, askedToEnd)
		end = make(chan os.Signal, 1)
	}
	signal.Notify(end, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup stays what it is
		signal.Notify(end, syscall.SIGHUP)
	}
	go func() {
		if _, ok := <-ch; !ok {
			return
		}
		cancel(errInterrupted)
		i.first()
		if _, ok := <-ch; ok {
			i.second()
		}
	}()
	return ctx, func() { signal.Stop(ch); close(ch); cancel(nil) }
}

// survivePipes makes a reader that goes away, such as `head`, an error of writing rather than the end of the process: a
// build goes on.
func survivePipes() func() {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGPIPE)
	return func() { signal.Stop(ch) }
}

// Variables with which developers look into a run of hexmage itself (docs/performance.md). Each names the file to write.
const (
	envCPUProfile = "HEXMAGE_CPUPROFILE"
	envMemProfile = "HEXMAGE_MEMPROFILE" // what was allocated, and what is still in use, at the end of the run
)

// profile starts the profiles that the environment asks for. The function that it returns ends and writes them.
func profile(env Env) (func() error, error) {
	cpu, mem := env.Var(envCPUProfile), env.Var(envMemProfile)
	if cpu == "" && mem == "" {
		return func() error { return nil }, nil
	}
	var f *os.File
	if cpu != "" {
		var err error
		if f, err = os.Create(absolute(env.Dir, cpu)); err != nil {
			return nil, usage("%s: %w", envCPUProfile, err)
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return func() error {
		var errs []error
		if f != nil {
			pprof.StopCPUProfile()
			errs = append(errs, f.Close())
		}
		if mem != "" {
			errs = append(errs, writeMemProfile(absolute(env.Dir, mem)))
		}
		return errors.Join(errs...)
	}, nil
}

func writeMemProfile(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	runtime.GC() // what is in use is counted as of the last collection
	return errors.Join(pprof.Lookup("allocs").WriteTo(f, 0), f.Close())
}

// versionCmd is `hexmage version`.
type versionCmd struct{}

// Run prints what this binary is.
func (*versionCmd) Run(_ context.Context, a *app) error {
	version, revision := binaryVersion(), ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = s.Value
			}
		}
	}
	if a.JSON {
		return a.printJSON(map[string]string{"version": version, "revision": revision, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH})
	}
	fmt.Fprintf(a.env.Stdout, "hexmage %s %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}

func (a *app) printJSON(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return engine(err)
	}
	fmt.Fprintln(a.env.Stdout, string(b))
	return nil
}
