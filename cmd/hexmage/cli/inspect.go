package cli

import (
	"context"
	"errors"

	"github.com/hexmage/hexmage/model/inspect"
)

// inspectCmd is `hexmage inspect FILE…`.
type inspectCmd struct {
	Files []string `arg:"" help:"Libraries, op packages, context binaries, models, SDKs as folders or zip files, or folders with any of them."`
}

// Help has the examples of `hexmage inspect --help`.
func (*inspectCmd) Help() string {
	return `Says what files are by what is in them, not by their names. Nothing is run, loaded or unpacked.

Examples:

    hexmage inspect libQnnHtpV79Skel.so                    machine, Hexagon arch, QNN build id, what it needs
    hexmage inspect out/qwen3-aot-v79/context.bin          SDK, arch, SoC and graphs of a context binary
    hexmage inspect v2.41.0.251128.zip                     which SDK it is and for which arches, without unpacking it
    hexmage inspect out/qwen3-aot-v79/model.mllm           name, type, shape and size of each tensor
    hexmage inspect --json push/ | jq -r '.elf.qnn_build_ids[]?' | sort | uniq -c     one build id, or a mixed set?`
}

// Run describes each file. One that can't be described is an error of its own; the others are described all the same.
func (c *inspectCmd) Run(ctx context.Context, a *app) error {
	p := inspect.Printer{Out: a.Env.Stdout, Err: a.Env.Stderr, JSON: a.JSON, Dir: a.WorkDir}
	if d, err := a.domain(a.here()); err == nil { // files can be described without
		p.SoC, p.CompiledAs = d.catalogue().WithModel, d.catalogue().CompiledAs
	}
	switch err := p.Print(ctx, c.Files...); { // it has printed them
	case errors.Is(err, inspect.ErrUnsupported):
		return &exitError{Code: ExitUsage}
	case err != nil:
		return &exitError{Code: ExitFailed}
	}
	return nil
}
