// Package linux holds what the simulated phone has for programs of arm64 Linux, such as Qualcomm's own QNN runtime: the sources of libcdsprpc.so, which
// that runtime loads to reach the DSP, and of qnn-load, which loads a QNN library and takes the first steps of every program that uses one.
//
// It knows how they are compiled and which libraries of the distribution they need. It has nothing of Qualcomm's, and does not know who runs it.
package linux

import (
	"embed"
	"io/fs"
	"path"
)

//go:embed src
var embedded embed.FS

// The files that are compiled.
const (
	Library = "libcdsprpc.so"
	Program = "qnn-load"
)

// Folder is where a phone has the distribution's libraries.
const Folder = "lib/aarch64-linux-gnu"

// Loader is where programs name the first library, and what it is a link to.
const (
	Loader   = "lib/ld-linux-aarch64.so.1"
	LoaderTo = "aarch64-linux-gnu/ld-linux-aarch64.so.1"
)

// Libraries are those of the toolchain linux_arm64 that a phone gets, by their names in Folder.
func Libraries() map[string]string {
	libs := map[string]string{}
	for _, name := range []string{"ld-linux-aarch64.so.1", "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1"} {
		libs[name] = path.Join("lib/aarch64-linux-gnu", name)
	}
	for _, name := range []string{"libstdc++.so.6", "libatomic.so.1"} {
		libs[name] = path.Join("usr/lib/aarch64-linux-gnu", name)
	}
	return libs
}

// Sources returns the files to compile, all in one flat folder; cdsp.Wire belongs to them.
func Sources() fs.FS {
	sources, err := fs.Sub(embedded, "src")
	if err != nil {
		panic(err) // the name is a constant
	}
	return sources
}

// LibraryArgs returns the command line that compiles libcdsprpc.so, in a folder that holds Sources: clang is a clang of version 20 or newer with lld
// beside it, root the tree of the toolchain linux_arm64, out the file's path.
func LibraryArgs(clang, root, out string) []string {
	return args(clang, root, out, "cdsprpc.c", "-shared", "-Wl,-soname,"+Library)
}

// ProgramArgs is the same for qnn-load.
func ProgramArgs(clang, root, out string) []string {
	return args(clang, root, out, "load.c", "-pie", "-Wl,--dynamic-linker=/"+Loader)
}

func args(clang, root, out, source string, more ...string) []string {
	// No header of a C library is there; what is used of it is declared in libc.h.
	a := []string{clang, "--target=aarch64-linux-gnu", "-O2", "-std=c17", "-Wall", "-Wextra", "-ffreestanding", "-fno-builtin", "-fno-stack-protector", "-fPIC",
		"-nostdlibinc", "-nostdlib", "-fuse-ld=lld", "-Wl,-z,now"}
	return append(append(a, more...), "-o", out, source, path.Join(root, "lib/aarch64-linux-gnu/libc.so.6"))
}
