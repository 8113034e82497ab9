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
	Dir       string            `short:"C" placeholder:"DIR" help:"Start in DIR instead of the working directory."`
	JSON      bool              `name:"json" help:"Print JSON, one value per line."`
	Color     string            `enum:"auto,always,never" default:"auto" placeholder:"WHEN" help:"Color the output: auto, always or never. Default: auto."`
	Profile   string            `of:"plan" placeholder:"NAME" help:"Use this profile, such as simulated or device. A profile chooses the steps and SDKs of a pipeline. Default: HEXMAGE_PROFILE, else the pipeline's default profile."`
	SoC       []string          `of:"plan" name:"soc" sep:"," placeholder:"NAME" help:"Build for this SoC, such as SM8650, instead of the pipeline's targets. +SM8650 builds for this SoC in addition to the targets. May be repeated."`
	Toolchain []string          `of:"plan" placeholder:"NAME@VERSION" help:"Use this release of a toolchain, such as qairt@2.42.0.251225, instead of the release that the pipeline uses. May be repeated."`
	Set       map[string]string `of:"plan" name:"var" placeholder:"NAME=VALUE" mapsep:"none" help:"Set a variable of the pipeline, such as prompt=Hello. May be repeated."`
	Force     stepsFlag         `of:"force" placeholder:"STEP" help:"Ignore all cached results. --force=STEP ignores only the results of that step, and may be repeated."`
	Offline   bool              `of:"net" help:"Never use the network."`
	Remote    string            `of:"net" placeholder:"NAME" help:"Share cached results through this remote server: a name in config.hcl or hexmage.hcl, or off. Default: HEXMAGE_REMOTE, else the only remote in these files."`
	Sandbox   string            `of:"build" placeholder:"LEVEL" help:"Isolate the commands of steps at this level: strict, staged or off (see docs/sandbox.md). Default: HEXMAGE_SANDBOX, else strict if the kernel supports it, else staged."`
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
	Steps     []string  `arg:"" optional:"" help:"Run only these steps and their dependencies. Write a step as KIND.NAME, or as module.NAME.KIND.NAME if it is in a module. Default: all steps."`
	KeepGoing bool      `short:"k" help:"Continue with independent steps after a failure."`
	Out       string    `placeholder:"DIR" help:"Write outputs to DIR/<pipeline>. Default: out/<pipeline>. DIR may be a symlink, but the default folder out must not be one."`
	Verify    stepsFlag `placeholder:"STEP" help:"Run all actions again, and compare the new outputs with the cached outputs. --verify=STEP runs only the actions of that step again, and may be repeated. Does not change cached results."`
	Serial    string    `short:"s" placeholder:"SERIAL" help:"Use this device instead of the device that the pipeline names: a serial from hexmage device list, HOST:PORT, or a name in devices.hcl."`
	JUnit     string    `name:"junit" placeholder:"FILE" help:"Write the results of actions and checks to FILE as JUnit XML, which CI services read."`
	Trace     string    `placeholder:"FILE" help:"Write the start and duration of each action to FILE, for ui.perfetto.dev or chrome://tracing."`
}

// stepsFlag is a repeatable flag such as --verify for all steps, or --verify=STEP.
type stepsFlag struct {
	On    bool
	Steps []string // none: all steps
}
