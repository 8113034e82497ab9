// Package linux contains the simulated phone's parts for arm64 Linux programs, such as Qualcomm's QNN runtime. Library
// libcdsprpc.so connects that runtime to the DSP. Program qnn-load loads a QNN library and makes its first calls. The
// package contains sources of both and no code from Qualcomm. It does not know its users.
package linux

import (
	"embed"
	"io/fs"
	"path"
)

//go:embed src
var embedded embed.FS

// Names of the compiled files.
const (
	Library = "libcdsprpc.so"
	Program = "qnn-load"
)

// Folder is the folder for Linux libraries on the phone.
const Folder = "lib/aarch64-linux-gnu"

// Loader is the dynamic loader's path in programs. It is a link to LoaderTo.
const (
	Loader   = "lib/ld-linux-aarch64.so.1"
	LoaderTo = "aarch64-linux-gnu/ld-linux-aarch64.so.1"
)

// Libraries maps the names of libraries in Folder to their paths in toolchain linux_arm64.
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

// Sources returns the source files, all in one folder. Add cdsp.Wire to this folder.
func Sources() fs.FS {
	sources, err := fs.Sub(embedded, "src")
	if err != nil {
		panic(err) // the name is a constant
	}
	return sources
}

// LibraryArgs returns the command line that compiles libcdsprpc.so. Run it in a folder with Sources. The path clang
// must name clang 20 or newer, with lld in the same folder. The path root is the tree of toolchain linux_arm64.
func LibraryArgs(clang, root, out string) []string {
	return args(clang, root, out, "cdsprpc.c", "-shared", "-Wl,-soname,"+Library)
}

// ProgramArgs is like LibraryArgs, but compiles qnn-load.
func ProgramArgs(clang, root, out string) []string {
	return args(clang, root, out, "load.c", "-pie", "-Wl,--dynamic-linker=/"+Loader)
}

func args(clang, root, out, source string, more ...string) []string {
	// libc.h has the needed declarations, because the headers of a C library are missing.
	a := []string{clang, "--target=aarch64-linux-gnu", "-O2", "-std=c17", "-Wall", "-Wextra", "-ffreestanding", "-fno-builtin", "-fno-stack-protector", "-fPIC",
		"-nostdlibinc", "-nostdlib", "-fuse-ld=lld", "-Wl,-z,now"}
	return append(append(a, more...), "-o", out, source, path.Join(root, "lib/aarch64-linux-gnu/libc.so.6"))
}
