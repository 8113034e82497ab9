// Package runner holds the sources of the simulation's device runner: a static, freestanding AArch64 program with the
// flags and the output of mllm's mllm-qwen3-aot-runner. It runs a context binary on the arithmetic of
// docs/design/0002-simulated-arithmetic.md and sends the norm layers to the device's DSP.
//
// It does not know how the program is compiled, the Go reference that it must agree with, nor who runs it.
package runner

import (
	"embed"
	"io/fs"
)

//go:embed src
var embedded embed.FS

// Program is the runner's file name, mllm's.
const Program = "mllm-qwen3-aot-runner"

// Sources returns the files to compile, all in one flat folder; cdsp.Wire belongs to them.
func Sources() fs.FS {
	sources, err := fs.Sub(embedded, "src")
	if err != nil {
		panic(err) // the name is a constant
	}
	return sources
}
