// Package editor has what editors need to understand an op package: a compilation database, and settings that lead to it.
//
// It works on the text of files and changes of them only what is its own. It reads and writes none.
package editor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

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

// Setting is a setting of VS Code.
type Setting struct {
	Name  string
	Value any
}

// Settings are those that lead VS Code to the compilation database in a folder below the one it opens, "" if that is it.
func Settings(folder string) []Setting {
	at := "${workspaceFolder}/" + path.Join(folder, Folder)
	return []Setting{
		{"C_Cpp.default.compileCommands", at + "/compile_commands.json"},
		{"clangd.arguments", []any{"--compile-commands-dir=" + at}},
	}
}

// ErrNoSettings says that a file is none that VS Code reads: neither JSON nor JSON with comments.
var ErrNoSettings = errors.New("it is no object of JSON, with comments or without")

// VSCode returns a settings.json with the settings put in, and the names of those that the user has set otherwise: they stay
// as they are, unless force says not. All else of the file, comments and commas too many included, stays to the byte.
func VSCode(old []byte, settings []Setting, force bool) (out []byte, kept []string, err error) {
	if len(bytes.TrimSpace(old)) == 0 {
		old = []byte("{\n}\n")
	}
	whole, err := hujson.Parse(old)
	if err != nil {
		return nil, nil, fmt.Errorf("%w (%w)", ErrNoSettings, err)
	}
	object, ok := whole.Value.(*hujson.Object)
	if !ok {
		return nil, nil, ErrNoSettings
	}
	indent := indentOf(object)
	changed := false
	for _, s := range settings {
		want, err := json.MarshalIndent(s.Value, indent, "  ")
		if err != nil {
			return nil, nil, err
		}
		value := hujson.Value{BeforeExtra: []byte(" "), Value: hujson.Literal(want)} // packed as it is
		is := member(object, s.Name)
		switch {
		case is != nil && same(is.Value, want):
			continue
		case is != nil && !force:
			kept = append(kept, s.Name)
			continue
		case is != nil:
			is.Value.Value = value.Value // with the comments around it
		default:
			add(object, hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(s.Name)}, Value: value}, indent)
		}
		changed = true
	}
	if !changed {
		return old, kept, nil
	}
	return whole.Pack(), kept, nil
}

// member returns the one of that name; of several the last, which VS Code takes.
func member(object *hujson.Object, name string) *hujson.ObjectMember {
	for i := range slices.Backward(object.Members) {
		if literal, ok := object.Members[i].Name.Value.(hujson.Literal); ok && literal.String() == name {
			return &object.Members[i]
		}
	}
	return nil
}

// same tells whether a value is the wanted one, however it is laid out.
func same(is hujson.Value, want []byte) bool {
	is = is.Clone()
	is.Minimize()
	var compact bytes.Buffer
	return json.Compact(&compact, want) == nil && bytes.Equal(bytes.TrimSpace(is.Pack()), compact.Bytes())
}

// add puts a member behind all others, on a line of its own, and behind what comments follow the last.
func add(object *hujson.Object, m hujson.ObjectMember, indent string) {
	m.Name.BeforeExtra = slices.Concat(bytes.TrimRight(object.AfterExtra, " \t\r\n"), []byte("\n"+indent))
	object.Members = append(object.Members, m)
	object.AfterExtra = []byte("\n")
}

// indentOf is what the object's members begin their lines with.
func indentOf(object *hujson.Object) string {
	if len(object.Members) > 0 {
		before := string(object.Members[0].Name.BeforeExtra)
		if i := strings.LastIndex(before, "\n"); i >= 0 && strings.TrimLeft(before[i+1:], " \t") == "" {
			return before[i+1:]
		}
	}
	return "  "
}
