// Package cli is the command line: it defines flags and exit codes, and connects engine and domain.
//
// Only this package reads the environment, the arguments and the working directory, and decides where output goes. It
// does not know how other packages work.
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

// givenError marks an error of the command line: the user fixes it without changing a file.
type givenError struct{ error }

func (e givenError) Unwrap() error { return e.error }

// Main runs the command line and returns the exit code.
func Main(args []string, env Env) int {
	if len(args) > 1 && args[1] == "tool" { // built-in tool in an action's exec root: no flags, no configuration
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
				code = ExitUsage // hexmage without arguments shows help
			}
		default:
			panic(r)
		}
	}()
	if len(args) == 0 {
		args = []string{"--help"} // help for users without a command in mind
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
	in := newInterrupts(func(text string) { fmt.Fprint(env.Stderr, text) })
	ctx, stop := in.watch(context.Background())
	defer stop()
	app, err := newApp(*global, env, in)
	if err == nil {
		kctx.BindTo(ctx, (*context.Context)(nil))
		err = kctx.Run(app)
	}
	return exitWith(ctx, err, env, global.JSON)
}

// commands is kong's grammar of the command line. kong shows the text of a command's Help below its one-line
// description, and keeps indented lines.
type commands struct {
	Global      globalFlags `embed:""`
	ShowVersion versionFlag `name:"version" help:"Print the version of hexmage."`

	Init     initCmd     `cmd:"" group:"build" takes:"soc" soc:"Build for this SoC. Example: SM8650. Default: SM8750." help:"Write a first pipeline for your op, model or phone."`
	Run      runCmd      `cmd:"" group:"build" takes:"plan,force,net,build" help:"Build a pipeline: fetch, patch, compile, run on a device."`
	Watch    watchCmd    `cmd:"" group:"build" takes:"plan,net,build" help:"Rebuild a pipeline after each change to its files."`
	Plan     planCmd     `cmd:"" group:"build" takes:"plan,force,net,jobs,verbose" jobs:"Estimate the duration of a run with N actions at the same time. Default: the number of processors plus one." verbose:"Also print commands, inputs and outputs." help:"Print which steps will run, and what this machine lacks."`
	Validate validateCmd `cmd:"" group:"build" takes:"plan" profile:"Check only profile NAME, which chooses the steps and SDKs of a pipeline. Examples: simulated, device. Default: $HEXMAGE_PROFILE, else all profiles." help:"Check pipeline files for errors."`
	Fmt      fmtCmd      `cmd:"" group:"build" help:"Format pipeline files."`
	Graph    graphCmd    `cmd:"" group:"build" takes:"plan" help:"Print the steps of a pipeline as a Mermaid graph."`
	Show     showCmd     `cmd:"" group:"build" takes:"plan,net" help:"Describe a pipeline, module, kind of step, SoC, toolchain or error."`

	Explain  explainCmd  `cmd:"" group:"runs" takes:"plan,force,net" help:"Print why a step will run, and which inputs changed."`
	Runs     runsCmd     `cmd:"" group:"runs" help:"List recent runs."`
	Compare  compareCmd  `cmd:"" group:"runs" help:"Compare two runs: inputs, tools, times, metrics, outputs."`
	Report   reportCmd   `cmd:"" group:"runs" help:"Write an HTML report of a run."`
	Diagnose diagnoseCmd `cmd:"" group:"runs" help:"Find the failure in a log, and print its cause and remedy."`

	Lock      lockCmd      `cmd:"" group:"sdk" takes:"plan,offline" help:"Pin the digests of toolchains in hexmage.lock.hcl."`
	Toolchain toolchainCmd `cmd:"" group:"sdk" takes:"profile,net" profile:"Use the toolchains of profile NAME. Examples: simulated (simulated SDKs), device (real SDKs). Default: $HEXMAGE_PROFILE, else simulated." help:"List, fetch and verify toolchains."`
	Compat    compatCmd    `cmd:"" group:"sdk" takes:"soc" soc:"Print the releases for this SoC. Example: SM8750. Default: all SoCs." help:"Print which SDK releases work together for a SoC."`
	Env       envCmd       `cmd:"" group:"sdk" takes:"plan,net,build" help:"Print shell commands that set the environment variables of SDKs."`
	Doctor    doctorCmd    `cmd:"" group:"sdk" takes:"plan,net" profile:"Check only profile NAME, which chooses the steps and SDKs of a pipeline. Examples: simulated, device. Default: $HEXMAGE_PROFILE, else all profiles." help:"List what this machine lacks to run pipelines, and how to get it."`

	Patch    patchCmd    `cmd:"" group:"src" takes:"profile,net" profile:"Use the toolchains of profile NAME. Examples: simulated (simulated SDKs), device (real SDKs). Default: $HEXMAGE_PROFILE, else simulated." help:"Adapt the sources of an op package to an SDK: check, apply, diff."`
	Makefile makefileCmd `cmd:"" group:"src" help:"Write or compare a Makefile for an op package."`
	Inspect  inspectCmd  `cmd:"" group:"src" help:"Print the content of a library, context binary, model or SDK."`
	IDE      ideCmd      `cmd:"" group:"src" takes:"plan,net,build" name:"ide" help:"Write clangd and VS Code settings for an op package."`
	LSP      lspCmd      `cmd:"" group:"src" takes:"profile" name:"lsp" help:"Run a language server for pipeline files in your editor."`

	Device deviceCmd `cmd:"" group:"dev" help:"Use phones and boards: list, push, pull, shell, log, connect."`

	Cache      cacheCmd      `cmd:"" group:"self" help:"Measure, clean up and verify the cache."`
	Completion completionCmd `cmd:"" group:"self" help:"Print a completion script for bash, zsh or fish."`
	Help       helpCmd       `cmd:"" group:"self" help:"Print the help of a command."`
	Version    versionCmd    `cmd:"" group:"self" help:"Print the version of hexmage."`
	Complete   completeCmd   `cmd:"" hidden:""`
}

// helpCmd is `hexmage help [COMMAND…]`.
type helpCmd struct {
	Command []string `arg:"" optional:"" help:"Print the help of this command, such as \"device push\". The word environment lists environment variables. Default: list all commands."`
}

// Help returns the examples of `hexmage help --help`.
func (*helpCmd) Help() string {
	return `Examples:

    hexmage help               all commands
    hexmage help device push   one command, like hexmage device push --help
    hexmage help environment   the environment variables that hexmage reads`
}

// Run prints a command's help. An unknown command is an error.
func (c *helpCmd) Run(_ context.Context, a *app) error {
	if len(c.Command) == 1 && c.Command[0] == environmentTopic {
		printEnvironment(a.Env.Stdout)
		return nil
	}
	// prints the help and exits
	_, err := newParser(new(commands), a.Env).Parse(append(c.Command, "--help"))
	see, err := refused(err)
	return usageError("%w\nSee: %s --help", err, see)
}

// versionCmd is `hexmage version`.
type versionCmd struct{}

// Help returns the examples of `hexmage version --help`.
func (*versionCmd) Help() string {
	return `Examples:

    hexmage version          the versions of hexmage and Go, and the system
    hexmage version --json   the same facts, and the source revision, as JSON`
}

// Run prints the version.
func (*versionCmd) Run(_ context.Context, a *app) error { return printVersion(a.Env.Stdout, a.JSON) }

// versionFlag is `hexmage --version`.
type versionFlag bool

// BeforeReset prints the version before kong checks for missing arguments.
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

func writeJSON(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return engineError(err)
	}
	fmt.Fprintln(w, string(b))
	return nil
}
