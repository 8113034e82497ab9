// Package cdsp contains the sources of fastrpc_shell_3, the protection domain of the simulated DSP. Like the program of
// that name on a real DSP, this freestanding Hexagon program loads an op package's shared object and runs its ops.
// README.md describes its protocol on fd 0 and 1. The package does not know the program's users or the meaning of ops.
package cdsp

import (
	"embed"
	"io/fs"
)

//go:embed src
var embedded embed.FS

// Program is the name of the simulated DSP's program in a device's folder /dsp.
const Program = "fastrpc_shell_3"

// Wire is the name of the protocol's header. Sources contains this header, and the client includes it.
const Wire = "fastrpc_wire.h"

// Sources returns the source files, all in one folder.
func Sources() fs.FS {
	sources, err := fs.Sub(embedded, "src")
	if err != nil {
		panic(err) // the name is a constant
	}
	return sources
}

// Args returns the command line that compiles the program. Run it in a folder with Sources. The path clang must name
// clang 20 or newer, with lld in the same folder.
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
