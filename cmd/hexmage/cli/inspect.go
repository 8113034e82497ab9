package cli

import (
	"context"
	"errors"

	"github.com/hexmage/hexmage/model/inspect"
)

// inspectCmd is `hexmage inspect FILE…`.
type inspectCmd struct {
	Files []string `arg:"" help:"Inspect these files and folders: libraries, op packages, context binaries, models, and SDKs as zips or folders."`
}

// Help returns the examples of `hexmage inspect --help`.
func (*inspectCmd) Help() string {
	return `Recognizes files by their content, not by their names. Does not run, load or unpack files.

Examples:

    hexmage inspect libQnnHtpV79Skel.so             machine, Hexagon arch, QNN build id, dependencies
    hexmage inspect out/qwen3-aot-v79/context.bin   SDK, arch, SoC and graphs of a context binary

    hexmage inspect v2.41.0.251128.zip              release and archs of an SDK
    hexmage inspect out/qwen3-aot-v79/model.mllm    name, type, shape and size of each tensor

    hexmage inspect --json push/ | jq -r '.elf.qnn_build_ids[]?' | sort | uniq -c   count the QNN build ids in a folder`
}

// Run describes each file. After an error in a file, it continues with the next file.
func (c *inspectCmd) Run(ctx context.Context, a *app) error {
	p := inspect.Printer{Out: a.Env.Stdout, Err: a.Env.Stderr, JSON: a.JSON, Dir: a.WorkDir}
	if d, err := a.domain(); err == nil { // files can be described without the domain
		p.SoC, p.CompiledAs = d.catalog.WithModel, d.catalog.CompiledAs
	}
	switch err := p.Print(ctx, c.Files...); { // Print has printed the errors
	case errors.Is(err, inspect.ErrUnsupported):
		return &exitError{Code: ExitUsage}
	case err != nil:
		return &exitError{Code: ExitFailed}
	}
	return nil
}
