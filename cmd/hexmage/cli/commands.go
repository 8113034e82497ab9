package cli

// commands is the command line's grammar, for kong.
type commands struct {
	Global Global `embed:""`

	Run       runCmd       `cmd:"" help:"Build a pipeline: fetch, patch, compile, convert, run on the device."`
	Watch     watchCmd     `cmd:"" help:"Build a pipeline, and again after every save of a file that it reads."`
	Plan      planCmd      `cmd:"" help:"Print what a pipeline would run, and run nothing."`
	Explain   explainCmd   `cmd:"" help:"Say why a step will run: what differs from when it last ran."`
	Graph     graphCmd     `cmd:"" help:"Print a pipeline's graph of steps (dot, mermaid or json)."`
	Validate  validateCmd  `cmd:"" help:"Check pipeline files."`
	Fmt       fmtCmd       `cmd:"" help:"Rewrite pipeline files in the canonical format."`
	Lock      lockCmd      `cmd:"" help:"Record the digests of the toolchains that a pipeline fetches in hexmage.lock.hcl."`
	Patch     patchCmd     `cmd:"" help:"Patch op sources for an SDK: check, apply, diff, record, and list what will not compile."`
	Makefile  makefileCmd  `cmd:"" help:"Write a standalone Makefile for an op package, or compare another one with it."`
	IDE       ideCmd       `cmd:"" name:"ide" help:"Write what clangd and VS Code need to understand an op package."`
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
	JSON    bool              `name:"json" help:"Write events or results as JSON, one object a line."`
	Profile string            `placeholder:"NAME" help:"Profile of the pipeline, such as open or device. Default: HEXMAGE_PROFILE, else the pipeline's own default."`
	Set     map[string]string `name:"var" placeholder:"NAME=VALUE" mapsep:"none" help:"Set a variable of the pipeline. May be repeated."`
	Fresh   stepsFlag         `placeholder:"STEP" help:"Run every action, with =STEP those of that step, even if its result is known."`
	Offline bool              `help:"Never use the network."`
	Sandbox string            `placeholder:"LEVEL" help:"How far actions are kept from what they do not declare: strict, staged or off. Default: HEXMAGE_SANDBOX, else strict where the kernel can."`
	Jobs    int               `short:"j" placeholder:"N" help:"Run at most N actions at once. Default: one a processor."`
	Verbose bool              `short:"v" help:"Show every action."`
	Colour  string            `enum:"auto,always,never" default:"auto" help:"Colour the output: auto, always or never."`
}
