// Package editor writes the files that editors need for an op package: a compilation database and settings that
// point to it.
//
// It returns the text of files without I/O. In a .clangd file, it changes only its own fragment. It does not know
// which editor is installed.
package editor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/oppackage"
)

// Folder is the subfolder for the compilation database in a package's folder.
const Folder = ".hexmage"

// Order sorts archs for editors, which use the first entry for a file. The newest Hexagon arch is first, so that
// editors show the HVX branch of an op.
func Order(arches []oppackage.Arch) []oppackage.Arch {
	out := slices.Clone(arches)
	rank := map[string]int{"hexagon": 0, "android": 1, "host": 2}
	slices.SortStableFunc(out, func(a, b oppackage.Arch) int {
		if rank[a.Family] != rank[b.Family] {
			return rank[a.Family] - rank[b.Family]
		}
		return strings.Compare(b.Version, a.Version)
	})
	return out
}

// Commands returns the compilation database of a package. Source names are relative to dir, the package's folder. The
// roots are absolute. The command lines include settings that are built into the SDKs' compilers, but not into clangd.
func Commands(dir string, arches []oppackage.Arch, p oppackage.Package, r oppackage.Roots) ([]byte, error) {
	p.Dir = ""
	var all []oppackage.Compile
	for _, a := range arches {
		compiles, _ := oppackage.Lines(a, p, r)
		for _, c := range compiles {
			if path.Ext(c.Source) == ".S" {
				continue
			}
			c.Args = slices.Insert(slices.DeleteFunc(slices.Clone(c.Args), func(w string) bool { return w == "-mhmx" }), 1, builtin(a, r)...)
			all = append(all, c)
		}
	}
	return oppackage.CompileCommands(dir, all)
}

// builtin returns flags for the built-in settings of a target's compiler.
func builtin(a oppackage.Arch, r oppackage.Roots) []string {
	switch a.Family {
	case "hexagon":
		include := path.Join(r.Hexagon, "tools/HEXAGON_Tools", r.Tools, "Tools/target/hexagon/include")
		return []string{"--target=hexagon-unknown-elf", "-nostdlibinc", "-nostdinc++", "-isystem", include + "/c++/v1", "-isystem", include}
	case "android":
		include := path.Join(r.NDK, "toolchains/llvm/prebuilt/linux-x86_64/sysroot/usr/include")
		return []string{"-nostdinc++", "-isystem", include + "/c++/v1", "-isystem", include}
	}
	return nil
}

// Markers of hexmage's part of a .clangd file.
const (
	begin = "# hexmage ide: begin (generated, do not edit)"
	end   = "# hexmage ide: end"
)

const fragment = begin + `
If:
  PathMatch: (src|include)/.*
CompileFlags:
  CompilationDatabase: ` + Folder + `
` + end + "\n"

// Clangd returns a .clangd file that points to the compilation database. It preserves the user's settings from the
// existing file old.
func Clangd(old []byte) ([]byte, error) {
	b, e := bytes.Index(old, []byte(begin)), bytes.Index(old, []byte(end))
	switch {
	case (b < 0) != (e < 0) || e < b:
		return nil, fmt.Errorf("unmatched marker: the lines %q and %q must both appear, in this order: restore the "+
			"missing line, or remove both", begin, end)
	case b >= 0:
		rest := bytes.TrimPrefix(old[e+len(end):], []byte("\n"))
		return slices.Concat(old[:b], []byte(fragment), rest), nil
	case len(bytes.TrimSpace(old)) == 0:
		return []byte(fragment), nil
	}
	return slices.Concat(bytes.TrimRight(old, "\n"), []byte("\n---\n"), []byte(fragment)), nil
}

// Settings returns a settings.json that points VS Code to the compilation database. The parameter folder is the op
// package's path, relative to VS Code's workspace folder.
func Settings(folder string) ([]byte, error) {
	at := "${workspaceFolder}/" + path.Join(folder, Folder)
	text, err := json.MarshalIndent(map[string]any{"C_Cpp.default.compileCommands": at + "/compile_commands.json",
		"clangd.arguments": []string{"--compile-commands-dir=" + at}}, "", "  ")
	return append(text, '\n'), err
}
