// Package cli is the command line: flags, exit codes, and the one place where the engine and the domain are wired
// together.
//
// It alone reads the environment, the arguments and the working directory, and it alone decides what is printed where.
// It does not know how anything is done.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"
	"golang.org/x/term"
)

// Exit codes are API: programs may rely on them.
const (
	ExitOK          = 0
	ExitFailed      = 1   // a step failed
	ExitUsage       = 2   // usage or configuration
	ExitEngine      = 3   // engine or infrastructure
	ExitLocked      = 4   // another process holds what this one needs
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
func boundHeap(actions int) { debug.SetMemoryLimit(44<<20 + int64(actions)*5<<10) }

// Env is what the process was given: everything the command line takes from outside its arguments.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Vars           []string // KEY=value
	Dir            string   // working directory
	Self           string   // path of this binary, which runs again as a built-in tool
	Terminal       bool     // Stderr is a terminal
	Width          int      // its columns
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

func usage(format string, args ...any) error {
	return &exitError{ExitUsage, fmt.Errorf(format, args...)}
}

func engine(err error) error { return &exitError{ExitEngine, err} }

// Main runs the command line and returns the exit code.
func Main(args []string, env Env) int {
	if len(args) > 1 && args[1] == "tool" { // a built-in tool in an action's exec root: no flags, no configuration
		return runTool(args[2:], env)
	}
	lateGC()
	var c commands
	parser, err := kong.New(&c,
		kong.Name("hexmage"),
		kong.Description("Builds, converts and runs models for Qualcomm's Hexagon NPUs from declarative pipelines. Nothing is done twice."),
		kong.Writers(env.Stdout, env.Stderr),
		kong.Exit(func(code int) { panic(exitCode(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 110}),
		kong.UsageOnError(),
	)
	if err != nil {
		fmt.Fprintln(env.Stderr, "hexmage:", err)
		return ExitEngine
	}
	return run(parser, &c, args[1:], env)
}

// exitCode is what kong's --help and --version want to end with.
type exitCode int

func run(parser *kong.Kong, c *commands, args []string, env Env) (code int) {
	asked := args
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
	kctx, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(env.Stderr, "hexmage: %v\nSee: hexmage --help\n", err)
		return ExitUsage
	}
	in := newInterrupts(func(text string) { fmt.Fprint(env.Stderr, "\n", text) })
	ctx, stop := in.watch(context.Background())
	defer stop()
	finish, err := profile(env)
	if err != nil {
		return exitWith(ctx, err, env)
	}
	app, err := newApp(c.Global, env)
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
			fmt.Fprintln(env.Stderr, "hexmage:", exit.err)
		}
		return exit.code
	case ctx.Err() != nil:
		fmt.Fprintln(env.Stderr, "hexmage: interrupted")
		return ExitInterrupted
	}
	fmt.Fprintln(env.Stderr, "hexmage:", err)
	return ExitEngine
}

// absolute returns path seen from dir.
func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
