// Package devrunner holds the sources of the open stand-in's device runner: a static, freestanding AArch64 program with the
// flags and the output of upstream's mllm-qwen3-aot-runner. It runs a context binary on the arithmetic of
// docs/design/0002-open-arithmetic.md and sends the norm layers to the device's DSP.
//
// It knows how the program is compiled. It does not know the Go reference that it must agree with, nor who runs it.
package runner

import (
	"embed"
	"io/fs"
)

//go:embed src
var embedded embed.FS

// Program is the runner's file name, upstream's.
const Program = "mllm-qwen3-aot-runner"

// Sources returns the files to compile, all in one flat folder.
func Sources() fs.FS {
	sources, err := fs.Sub(embedded, "src")
	if err != nil {
		panic(err) // the name is a constant
	}
	return sources
}

// Args returns the command line that compiles the program: clang is a clang++ of version 20 or newer with lld beside it, or an
// NDK's, out the program's path. It is to be run in a folder that holds Sources.
func Args(clang, out string) []string {
	args := []string{
		clang, "--target=aarch64-none-linux-android21", "-O2", "-std=c++17", "-Wall", "-Wextra", "-ffreestanding", "-fno-builtin", "-ffp-contract=off",
		"-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-fno-stack-protector", "-nostdlibinc", "-nostdlib", "-static", "-fuse-ld=lld", "-o", out,
	}
	names, err := fs.Glob(Sources(), "*.cc")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	return append(args, names...)
}
