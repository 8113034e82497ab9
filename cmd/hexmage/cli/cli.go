// Package cli is the command line: flags, exit codes, and the one place where the engine and the domain are wired
// together.
//
// It alone reads the environment, the arguments and the working directory, and it alone decides what is printed
// where. It does not know how anything is done.
package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/alecthomas/kong"

	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/report"
	"github.com/hexmage/hexmage/toolchains/doctor"
)

// givenError says that what is wrong is what the command was given: no file has to change to make it right.
type givenError struct{ error }

func (e givenError) Unwrap() error { return e.error }

// Main runs the command line and returns the exit code.
func Main(args []string, env Env) int {
	if len(args) > 1 && args[1] == "tool" { // a built-in tool in an action's exec root: no flags, no configuration
		return runTool(args[2:], env)
	}
	env.Stdout, env.Stderr = newOutput(env.Stdout), newOutput(env.Stderr)
	return run(args[1:], env)
}

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
	if err != nil {
		var see string
		see, err = refused(err)
		fmt.Fprintf(env.Stderr, "hexmage: %s\nSee: %s --help\n", ansi.Visible(err.Error(), false), see)
		if slices.Contains(args, "--json") {
			report.JSON(env.Stdout, time.Now).Send(event.Error{Message: err.Error(), ExitCode: ExitUsage})
		}
		return ExitUsage
	}
	in := newInterrupts(func(text string) { fmt.Fprint(env.Stderr, "\n", text) })
	ctx, stop := in.watch(context.Background())
	defer stop()
	app, err := newApp(*global, env, in)
	if err == nil {
		kctx.BindTo(ctx, (*context.Context)(nil))
		err = kctx.Run(app)
	}
	return exitWith(ctx, err, env, global.JSON)
}

// commands is the command line's grammar, for kong, which shows what a command's Help returns below its one-line
// description; indented lines stay as they are.
type commands struct {
	Global      globalFlags `embed:""`
	ShowVersion versionFlag `name:"version" help:"Print the version, as hexmage version does."`

	Init       initCmd       `cmd:"" takes:"soc" help:"Write a first pipeline for your ops, model, SDK or phone."`
	Run        runCmd        `cmd:"" takes:"plan,fresh,net,build" help:"Build a pipeline: fetch, patch, compile, run on a device."`
	Watch      watchCmd      `cmd:"" takes:"plan,net,build" help:"Build a pipeline after each save of a file that it reads."`
	Plan       planCmd       `cmd:"" takes:"plan,fresh,net,jobs,verbose" help:"Print what a pipeline would run, and what is missing."`
	Explain    explainCmd    `cmd:"" takes:"plan,fresh,net" help:"Say why a step will run: what differs from its last run."`
	Runs       runsCmd       `cmd:"" help:"List recorded runs."`
	Compare    compareCmd    `cmd:"" help:"Compare two runs: inputs, tools, times, metrics, outputs."`
	Report     reportCmd     `cmd:"" help:"Write a run as one HTML page."`
	Show       showCmd       `cmd:"" takes:"plan,net" help:"Show a pipeline, module, kind, SoC, toolchain or error."`
	Graph      graphCmd      `cmd:"" takes:"plan" help:"Print the steps of a pipeline as a Mermaid graph."`
	Validate   validateCmd   `cmd:"" takes:"plan" help:"Check pipeline files."`
	Fmt        fmtCmd        `cmd:"" help:"Format pipeline files."`
	Lock       lockCmd       `cmd:"" takes:"plan,offline" help:"Pin toolchains in hexmage.lock.hcl."`
	Patch      patchCmd      `cmd:"" takes:"profile,net" help:"Patch op sources for an SDK: check, apply, diff."`
	Makefile   makefileCmd   `cmd:"" help:"Write a Makefile for an op package, or compare one."`
	IDE        ideCmd        `cmd:"" takes:"plan,net,build" name:"ide" help:"Write settings for clangd and VS Code."`
	LSP        lspCmd        `cmd:"" takes:"profile" name:"lsp" help:"Serve an editor by the Language Server Protocol."`
	Inspect    inspectCmd    `cmd:"" help:"Describe a library, context binary, model or SDK."`
	Toolchain  toolchainCmd  `cmd:"" takes:"profile,net" help:"List, fetch and verify toolchains."`
	Compat     compatCmd     `cmd:"" takes:"soc" help:"Print which SDK releases work together for a SoC."`
	Env        envCmd        `cmd:"" takes:"plan,net,build" help:"Print the SDKs' environment variables for a shell."`
	Device     deviceCmd     `cmd:"" help:"Use devices: list, push, pull, shell, log, connect."`
	Diagnose   diagnoseCmd   `cmd:"" help:"Find the failure in a log, its cause and its remedy."`
	Doctor     doctorCmd     `cmd:"" takes:"plan,net" help:"Print what this machine lacks, and how to get it."`
	Cache      cacheCmd      `cmd:"" help:"Count, clean up and verify the cache."`
	Completion completionCmd `cmd:"" help:"Print a completion script for bash, zsh or fish."`
	Complete   completeCmd   `cmd:"" hidden:""`
	Help       helpCmd       `cmd:"" help:"Print the help of a command."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
}

// helpCmd is `hexmage help [COMMAND…]`.
type helpCmd struct {
	Command []string `arg:"" optional:"" help:"Words of the command, such as device push; or the word environment."`
}

// Help has the examples of `hexmage help --help`.
func (*helpCmd) Help() string {
	return `Examples:

    hexmage help               all commands
    hexmage help device push   one of them, as hexmage device push --help
    hexmage help environment   the environment variables that hexmage reads`
}

// Run prints the command's help. A word that is no command is an error, as it is before --help.
func (c *helpCmd) Run(_ context.Context, a *app) error {
	if len(c.Command) == 1 && c.Command[0] == environmentTopic {
		printEnvironment(a.Env.Stdout)
		return nil
	}
	// which ends here, when it has printed it
	_, err := newParser(new(commands), a.Env).Parse(append(c.Command, "--help"))
	see, err := refused(err)
	return usageError("%w\nSee: %s --help", err, see)
}

// versionCmd is `hexmage version`.
type versionCmd struct{}

// Run prints what this binary is.
func (*versionCmd) Run(_ context.Context, a *app) error { return printVersion(a.Env.Stdout, a.JSON) }

// versionFlag is `hexmage --version`.
type versionFlag bool

// BeforeReset prints the version, for kong, before anything is asked for that a command wants.
func (versionFlag) BeforeReset(kctx *kong.Context) error {
	if err := printVersion(kctx.Stdout, slices.Contains(kctx.Args, "--json")); err != nil {
		return err
	}
	kctx.Exit(ExitOK)
	return nil
}

func printVersion(w io.Writer, asJSON bool) error {
	version, revision := binaryVersion(), ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = s.Value
			}
		}
	}
	if asJSON {
		return writeJSON(w, map[string]string{"version": version, "revision": revision, "go": runtime.Version(),
			"os": runtime.GOOS, "arch": runtime.GOARCH})
	}
	fmt.Fprintf(w, "hexmage %s %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if runtime.GOOS != "linux" {
		fmt.Fprintln(w, doctor.NotLinux)
	}
	return nil
}

func (a *app) printJSON(v any) error { return writeJSON(a.Env.Stdout, v) }

func writeJSON(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return engineError(err)
	}
	fmt.Fprintln(w, string(b))
	return nil
}
