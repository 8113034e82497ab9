package steps

import (
	"context"
	"io"

	"github.com/hexmage/hexmage/model/convert"
	"github.com/hexmage/hexmage/model/inspect"
	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/oppackage/libcheck"
	"github.com/hexmage/hexmage/oppackage/opconfig"
	"github.com/hexmage/hexmage/patches"
	"github.com/hexmage/hexmage/runner/measure"
	"github.com/hexmage/hexmage/standin/kerneltest"
	"github.com/hexmage/hexmage/standin/mllm/compiler"
	"github.com/hexmage/hexmage/standin/mllm/quantizer"
	"github.com/hexmage/hexmage/standin/mllm/qwen3"
	"github.com/hexmage/hexmage/standin/phone"
	"github.com/hexmage/hexmage/toolchains/sources"
	"github.com/hexmage/hexmage/toolchains/sources/git"
)

// Tool is a program of ours in the form of a function. It reads and writes files at paths relative to the process's working
// directory, so that an action runs one as a process in its own root; it takes the arguments after its name and returns the exit code.
type Tool func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int

// Tools is the table of the built-in tools, by the name that follows `hexmage tool`.
func Tools() map[string]Tool {
	return map[string]Tool{
		"aot-config":           compiler.RunConfig,
		"convert":              convert.Run,
		"emulator-image":       phone.ImageTool,
		"inspect":              inspect.Run,
		"make-model":           qwen3.RunMake,
		"metrics":              measure.Metrics,
		"mllm-qwen3-aot-sha-c": compiler.Run,
		"quantize":             quantizer.Run,
		"reference":            qwen3.RunReference,
		git.Name:               git.Run,
		kerneltest.ToolName:    kerneltest.Tool,
		libcheck.ToolName:      libcheck.Run,
		opconfig.ToolName:      opconfig.Run,
		oppackage.ToolName:     oppackage.Run,
		patches.ToolName:       patches.Run,
		sources.Name:           sources.Run,
	}
}
