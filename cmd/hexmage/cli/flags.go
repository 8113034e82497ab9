package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// globalFlags are the flags that several commands take, and that may stand before the command. A flag without the tag
// `of` is for every command; the tag takes of a command in commands names the others, by name or by the tag.
type globalFlags struct {
	Dir     string            `short:"C" placeholder:"DIR" help:"Start in DIR instead of the working directory."`
	JSON    bool              `name:"json" help:"Write events or results as JSON: one object, or list of them, a line."`
	Colour  string            `enum:"auto,always,never" default:"auto" help:"Colour the output: auto, always or never."`
	Profile string            `of:"plan" placeholder:"NAME" help:"Profile of the pipeline, such as simulated or device. Default: HEXMAGE_PROFILE, else the pipeline's own default."`
	SoC     []string          `of:"plan" name:"soc" sep:"," placeholder:"NAME" help:"Build for this SoC, such as SM8650, instead of the pipeline's targets; with +NAME, for it too. May be repeated."`
	With    []string          `of:"plan" placeholder:"NAME@VERSION" help:"Another release of a toolchain than the pipeline names, such as qairt@2.42.0.251225: to see what an upgrade would run again, and to try it. May be repeated."`
	Set     map[string]string `of:"plan" name:"var" placeholder:"NAME=VALUE" mapsep:"none" help:"Set a variable of the pipeline. May be repeated."`
	Fresh   stepsFlag         `of:"fresh" placeholder:"STEP" help:"Run every action, with =STEP those of that step, even if its result is known."`
	Offline bool              `of:"net" help:"Never use the network."`
	Remote  string            `of:"net" placeholder:"NAME" help:"Share results by this remote of config.hcl or hexmage.hcl; off: by none. Default: HEXMAGE_REMOTE, else the only one."`
	Sandbox string            `of:"build" placeholder:"LEVEL" help:"How far actions are kept from what they do not declare: strict, staged or off. Default: HEXMAGE_SANDBOX, else strict where the kernel can."`
	Jobs    int               `of:"build" short:"j" placeholder:"N" help:"Run at most N actions at once. Default: one a processor."`
	Verbose bool              `of:"build" short:"v" help:"Show every action."`
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

// checkFlags refuses flags that the selected command does not take.
func checkFlags(kctx *kong.Context) error {
	for _, p := range kctx.Path {
		if command := kctx.Selected(); p.Flag != nil && command != nil && !takes(command, p.Flag) {
			return fmt.Errorf("%s takes no flag --%s", command.Path(), p.Flag.Name)
		}
	}
	return nil
}

// help prints the help of a command, with the flags that it takes.
func help(options kong.HelpOptions, kctx *kong.Context) error {
	command := kctx.Selected()
	if command == nil {
		command = kctx.Model.Node
	}
	for _, f := range kctx.Model.Flags {
		f.Hidden = !takes(command, f)
	}
	return kong.DefaultHelpPrinter(options, kctx)
}

// runFlags are the arguments and flags of `hexmage run PIPELINE [STEP…]`.
type runFlags struct {
	Pipeline  string    `arg:"" optional:"" help:"A pipeline: a file in pipelines/ without .hcl, or a folder there. Default: list them."`
	Steps     []string  `arg:"" optional:"" help:"Only these steps (KIND.NAME, module.NAME.KIND.NAME) and what they need."`
	KeepGoing bool      `short:"k" help:"After a failure, go on with what does not need it."`
	Out       string    `placeholder:"DIR" help:"Outputs go to DIR/PIPELINE. Default: out. DIR may be a link; none is followed below it, and none to the default."`
	Verify    stepsFlag `placeholder:"STEP" help:"Run every action (with =STEP those of that step) once more than needed, and compare the outputs bit by bit. The cache stays as it is."`
	Serial    string    `short:"s" placeholder:"SERIAL" help:"Run on this device, whatever the pipeline says: a serial, an address such as 192.168.1.7:5555, or a name of devices.hcl."`
	JUnit     string    `name:"junit" placeholder:"FILE" help:"Write what became of each action and check in JUnit's XML, for CI services."`
	Trace     string    `placeholder:"FILE" help:"Write down when what ran, for ui.perfetto.dev or chrome://tracing."`
}

// stepsFlag is a flag such as --verify, for all steps, or --verify=STEP, which may be repeated.
type stepsFlag struct {
	On    bool
	Steps []string // of the flag; none: all steps
}

// everything tells of every step that the flag means it, if it names none; nil if it means none or some.
func (f stepsFlag) everything() func(step string) bool {
	if !f.On || len(f.Steps) > 0 {
		return nil
	}
	return func(string) bool { return true }
}
