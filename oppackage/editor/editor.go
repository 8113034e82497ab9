// Package editor has what editors need to understand an op package: a compilation database, and settings that lead to it.
//
// It returns the text of files and does no I/O. In a .clangd it changes only its own fragment. It does not know which
// editor is installed.
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

// Folder is the folder, in that of the package, that holds the compilation database.
const Folder = ".hexmage"

// Order puts arches as editors want them, who take the first entry of a file: Hexagon first, the newest before the others,
// so that the HVX branch of an op is what one sees.
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

// Commands returns the compilation database of a package for arches: dir is the package's folder, from which the sources
// are named; the roots are absolute. The lines say to clangd what the SDKs' compilers know by themselves.
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

// builtin is what the compiler of a target does without being told.
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

// The lines between which a .clangd file is ours.
const (
	begin = "# hexmage ide: begin; what is between these lines is written anew"
	end   = "# hexmage ide: end"
)

const fragment = begin + `
If:
  PathMatch: (src|include)/.*
CompileFlags:
  CompilationDatabase: ` + Folder + `
` + end + "\n"

// Clangd returns a .clangd file with the part that leads to the compilation database: a fragment of its own, which adds to
// those of the user.
func Clangd(old []byte) ([]byte, error) {
	b, e := bytes.Index(old, []byte(begin)), bytes.Index(old, []byte(end))
	switch {
	case (b < 0) != (e < 0) || e < b:
		return nil, fmt.Errorf("only one of the lines %q and %q is in it: put the other back, or take both out", begin, end)
	case b >= 0:
		rest := bytes.TrimPrefix(old[e+len(end):], []byte("\n"))
		return slices.Concat(old[:b], []byte(fragment), rest), nil
	case len(bytes.TrimSpace(old)) == 0:
		return []byte(fragment), nil
	}
	return slices.Concat(bytes.TrimRight(old, "\n"), []byte("\n---\n"), []byte(fragment)), nil
}

// Settings returns a settings.json that points VS Code to the compilation database. folder is the op package's path
// below the folder that VS Code opens.
func Settings(folder string) ([]byte, error) {
	at := "${workspaceFolder}/" + path.Join(folder, Folder)
	text, err := json.MarshalIndent(map[string]any{"C_Cpp.default.compileCommands": at + "/compile_commands.json",
		"clangd.arguments": []string{"--compile-commands-dir=" + at}}, "", "  ")
	return append(text, '\n'), err
}
