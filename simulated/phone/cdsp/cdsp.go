// Package cdsp holds the sources of fastrpc_shell_3, the protection domain of the simulated DSP: a static, freestanding
// Hexagon program that loads an op package's shared object, as the shell of that name does on a real DSP, and runs its ops.
// README.md tells the protocol it speaks on fd 0 and 1.
//
// It knows how the program is compiled. It does not know who runs it, nor what the ops mean.
package cdsp

import (
	"embed"
	"io/fs"
)

//go:embed src
var embedded embed.FS

// Program is the file name under which a device's /dsp folder holds the compiled program.
const Program = "fastrpc_shell_3"

// Wire is the header of the protocol among Sources: the program at the other end is compiled with it too.
const Wire = "fastrpc_wire.h"

// Sources returns the files to compile, all in one flat folder.
func Sources() fs.FS {
	sources, err := fs.Sub(embedded, "src")
	if err != nil {
		panic(err) // the name is a constant
	}
	return sources
}

// Args returns the command line that compiles the program: clang is a clang of version 20 or newer with lld beside it, out the
// program's path. It is to be run in a folder that holds Sources.
func Args(clang, out string) []string {
	args := []string{
		clang, "--target=hexagon-unknown-none-elf", "-mv67", "-G0", "-O2", "-std=c17", "-Wall", "-Wextra",
		"-ffreestanding", "-fno-builtin", "-ffp-contract=off", "-nostdlibinc", "-nostdlib", "-static", "-fuse-ld=lld", "-o", out,
	}
	names, err := fs.Glob(Sources(), "*.c")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	return append(args, names...)
}
