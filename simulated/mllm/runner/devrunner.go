// Package runner has the sources of the simulated device runner: a static, freestanding AArch64 program with the flags
// and output of mllm's mllm-qwen3-aot-runner. It computes a context binary according to
// simulated/mllm/toymodel/README.md, and sends the norm layers to the device's DSP. The package does not know
// the program's compiler, its Go reference or its users.
package runner

import (
	"embed"
	"io/fs"
)

//go:embed src
var embedded embed.FS

// Program is the file name of the simulated runner, and of mllm's runner.
const Program = "mllm-qwen3-aot-runner"

// Sources returns the source files, all in one folder. Add cdsp.Wire to this folder.
func Sources() fs.FS {
	sources, err := fs.Sub(embedded, "src")
	if err != nil {
		panic(err) // the name is a constant
	}
	return sources
}
