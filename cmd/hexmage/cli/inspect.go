package cli

import (
	"context"

	"github.com/hexmage/hexmage/model/inspect"
)

// inspectCmd is `hexmage inspect FILE…`.
type inspectCmd struct {
	Diff  bool     `help:"Compare two files of one format, such as ONNX models before and after an edit. Exit code 0: the same; 1: they differ; 2: they cannot be compared."`
	Files []string `arg:"" help:"Libraries, op packages, context binaries, models, catalogs, SDKs as folders or zip files, or folders with any of them."`
}

// Help has the examples of `hexmage inspect --help`.
func (*inspectCmd) Help() string {
	return `Says what files are by what is in them, not by their names. Nothing is run, loaded or unpacked.

Examples:

    hexmage inspect libQnnHtpV79Skel.so                    machine, Hexagon arch, QNN build id, what it needs
    hexmage inspect out/qwen3-aot-v79/context.bin          SDK, arch, SoC and graphs of a context binary
    hexmage inspect v2.41.0.251128.zip                     which SDK it is and for which arches, without unpacking it
    hexmage inspect out/qwen3-aot-v79/model.mllm           name, type, shape and size of each tensor
    hexmage inspect --diff before.onnx after.onnx          nodes, weights, inputs and outputs that were added, removed, changed
    hexmage inspect --json push/ | jq -r '.elf.qnn_build_ids[]?' | sort | uniq -c     one build id, or a mixed set?`
}

// Run describes each file. One that can't be described is an error of its own; the others are described all the same.
func (c *inspectCmd) Run(ctx context.Context, a *app) error {
	p := inspect.Printer{Out: a.Env.Stdout, Err: a.Env.Stderr, JSON: a.JSON, Dir: a.WorkDir}
	if c.Diff {
		return c.diff(p)
	}
	if d, err := a.domain(a.here()); err == nil { // files can be described without
		p.SoC, p.CompiledAs = d.catalogue().WithModel, d.catalogue().CompiledAs
	}
	if !p.Print(ctx, c.Files...) {
		return &exitError{Code: ExitFailed}
	}
	return nil
}

// diff compares two files. Exit codes are those of diff(1).
func (c *inspectCmd) diff(p inspect.Printer) error {
	if len(c.Files) != 2 {
		return usageError("inspect --diff compares two files, and was given %d: hexmage inspect --diff A B",
			len(c.Files))
	}
	differ, err := p.Difference(c.Files[0], c.Files[1])
	switch {
	case err != nil:
		return usageError("inspect --diff: %w", err)
	case differ:
		return &exitError{Code: ExitFailed}
	}
	return nil
}
