package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// globalFlags are flags of several commands, which may also precede the command. A flag without the tag `of` is for
// every command. The tag takes of a command names the others, by name or by the tag. A tag with a flag's name gives its
// help for that command.
type globalFlags struct {
	Dir       string            `short:"C" placeholder:"DIR" help:"Use DIR as the working directory."`
	JSON      bool              `name:"json" help:"Print JSON, one value per line."`
	Color     string            `enum:"auto,always,never" default:"auto" placeholder:"WHEN" help:"Color the output. WHEN is auto, always or never. Default: auto."`
	Profile   string            `of:"plan" placeholder:"NAME" help:"Use profile NAME, which chooses the steps and SDKs of a pipeline. Examples: simulated, device. Default: $HEXMAGE_PROFILE, else the pipeline's default profile."`
	SoC       []string          `of:"plan" name:"soc" sep:"," placeholder:"NAME" help:"Use this SoC instead of the pipeline's SoCs. Example: SM8650. +SM8650 adds the SoC to the pipeline's SoCs. May be repeated."`
	Toolchain []string          `of:"plan" placeholder:"NAME@VERSION" help:"Use this release of a toolchain instead of the pipeline's release. Example: qairt@2.42.0.251225. May be repeated."`
	Set       map[string]string `of:"plan" name:"var" placeholder:"NAME=VALUE" mapsep:"none" help:"Set a variable of the pipeline. Example: prompt=Hello. May be repeated."`
	Force     stepsFlag         `of:"force" placeholder:"STEP" help:"Ignore all cached results. --force=STEP ignores only the results of STEP, and may be repeated."`
	Offline   bool              `of:"net" help:"Never use the network."`
	Remote    string            `of:"net" placeholder:"NAME" help:"Share cached results through remote server NAME, which config.hcl or hexmage.hcl defines. --remote=off turns sharing off. Default: $HEXMAGE_REMOTE, else the only remote server in these files."`
	Sandbox   string            `of:"build" placeholder:"LEVEL" help:"Isolate the commands of steps. LEVEL is strict, staged or off: see docs/sandbox.md. Default: $HEXMAGE_SANDBOX, else the strictest level that the kernel supports."`
	Jobs      int               `of:"build" short:"j" placeholder:"N" help:"Run at most N actions at the same time. Default: the number of processors plus one."`
	Verbose   bool              `of:"build" short:"v" help:"Print every action, and the output of successful actions."`
}

// takes reports whether a command takes a flag.
func takes(command *kong.Node, f *kong.Flag) bool {
	of := f.Tag.Get("of")
	for n := command; n.Parent != nil; n = n.Parent {
		if all := strings.Split(n.Tag.Get("takes"), ","); slices.Contains(all, of) || slices.Contains(all, f.Name) {
			return true
		}
	}
	return of == ""
}

// checkFlags rejects flags that the selected command does not take.
func checkFlags(kctx *kong.Context) error {
	for _, p := range kctx.Path {
		if command := kctx.Selected(); p.Flag != nil && command != nil && !takes(command, p.Flag) {
			return fmt.Errorf("%s takes no flag --%s", command.Path(), p.Flag.Name)
		}
	}
	return nil
}

// help prints the help of a command with its flags.
func help(options kong.HelpOptions, kctx *kong.Context) error {
	command := kctx.Selected()
	if command == nil {
		command = kctx.Model.Node
	}
	for _, f := range kctx.Model.Flags {
		if f.Name == "help" {
			f.Help = "Print this help." // kong's text: Show context-sensitive help.
		}
		f.Hidden = !takes(command, f)
		for n := command; n.Parent != nil && f.Tag.Get("of") != ""; n = n.Parent {
			f.Help = cmp.Or(n.Tag.Get(f.Name), f.Help)
		}
	}
	return kong.DefaultHelpPrinter(options, kctx)
}

// runFlags are the arguments and flags of `hexmage run PIPELINE [STEP…]`.
type runFlags struct {
	Pipeline  string    `arg:"" optional:"" help:"Pipeline: the name of a file in pipelines/ (without .hcl) or of a folder in pipelines/. Default: list all pipelines."`
	Steps     []string  `arg:"" optional:"" help:"Run only these steps and their dependencies. Write a step as KIND.NAME, and a step of a module as module.MODULE.KIND.NAME. Default: all steps."`
	KeepGoing bool      `short:"k" help:"Continue with independent steps after a failure."`
	Out       string    `placeholder:"DIR" help:"Write outputs to DIR/<pipeline>. DIR may be a symlink. Default: out/, which must not be a symlink."`
	Verify    stepsFlag `placeholder:"STEP" help:"Run all actions again, and compare their outputs with the cached outputs. Cached results do not change. --verify=STEP runs only the actions of STEP again, and may be repeated."`
	Serial    string    `short:"s" placeholder:"SERIAL" help:"Use this device. SERIAL is a serial from 'hexmage device list', a name from devices.hcl, HOST:PORT, or ssh://USER@HOST for a Linux board. Default: the device that the pipeline names."`
	JUnit     string    `name:"junit" placeholder:"FILE" help:"Write the results of actions and checks to FILE as JUnit XML for CI services."`
	Trace     string    `placeholder:"FILE" help:"Write the start and duration of each action to FILE. Open FILE in ui.perfetto.dev or chrome://tracing."`
}

// stepsFlag is a repeatable flag such as --verify for all steps, or --verify=STEP.
type stepsFlag struct {
	On    bool
	Steps []string // none: all steps
}
