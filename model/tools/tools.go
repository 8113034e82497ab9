// Package tools lists the model tools by name. Each reads and writes files at paths relative to the process's working directory, so an
// action runs one as a process in its own root.
//
// The package adds nothing of its own: what a tool does is said where its Run is.
package tools

import (
	"context"
	"io"

	"github.com/hexmage/hexmage/model/convert"
	"github.com/hexmage/hexmage/model/inspect"
	"github.com/hexmage/hexmage/standin/mllm/compiler"
	"github.com/hexmage/hexmage/standin/mllm/quantizer"
	"github.com/hexmage/hexmage/standin/mllm/qwen3"
)

// Tool is a program in the form of a function.
type Tool struct {
	Name    string
	Summary string
	// Version changes whenever the tool's output for the same input does. An action that runs the tool has it in its key.
	Version string
	// Run takes the arguments after the name and returns the exit code.
	Run func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int
}

// All lists the tools by name.
func All() []Tool {
	return []Tool{
		{"aot-config", "write the ahead-of-time compiler's config", compiler.ConfigVersion, compiler.RunConfig},
		{"convert", "convert safetensors to .mllm", convert.Version, convert.Run},
		{"inspect", "describe a model, an ELF file or a context binary", inspect.Version, inspect.Run},
		{"make-model", "write the small open model, seeded", qwen3.MakeVersion, qwen3.RunMake},
		{"mllm-qwen3-aot-sha-c", "compile a context for the open profile", compiler.Version, compiler.Run},
		{"quantize", "quantise the small open model to W4A16 LPBQ", quantizer.Version, quantizer.Run},
		{"reference", "run the quantised model on the host, exactly", qwen3.ReferenceVersion, qwen3.RunReference},
	}
}

// Lookup finds a tool by name.
func Lookup(name string) (Tool, bool) {
	for _, t := range All() {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}
