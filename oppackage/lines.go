package oppackage

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// DefaultHVX lets the compiler use the HVX instructions of the arch it builds for.
const DefaultHVX = "-mhvx"

// Package is an op package's source tree, of the shape src/*.cpp, src/ops/*.cpp, src/ops/<arch>_asm/*.S, include/.
type Package struct {
	Name  string   // "LLaMAPackage": names the library and the interface provider
	Dir   string   // slash path of the tree from where the compiler runs; "" when it runs there
	Build string   // slash path of the build folder; "" is "build"
	HVX   string   // "" is DefaultHVX
	Files []string // slash paths of the tree's files relative to Dir, in any order

	// Interface is the path, from where the compiler runs, of an interface source that is not among Files: one that is
	// made. "": there is none, or it is among Files.
	Interface string
	Extras    []Extra // flags of the package's own, beside the table's
}

// Roots says where the SDKs are, as slash paths without a slash at the end.
type Roots struct {
	QAIRT   string
	Hexagon string
	Tools   string // version of the Hexagon tools: the folder under <Hexagon>/tools/HEXAGON_Tools
	NDK     string
	HostCXX string // the host's compiler, for htp_x86; "" is "clang++"
}

// ExecRoots returns the roots as they are in the exec root of an action.
func ExecRoots(toolsVersion string) Roots {
	return Roots{QAIRT: "toolchains/qairt", Hexagon: "toolchains/hexagon", Tools: toolsVersion, NDK: "toolchains/ndk"}
}

// Compile is the line that makes one object.
type Compile struct {
	Args    []string
	Source  string // slash path from where the compiler runs, as are the others
	Object  string
	Depfile string // make rule that lists the headers, which the compiler writes beside the object

	flags []string // of Args, those that name no file of the line's
}

// ViaAssembly returns two lines in place of one: text makes, at text.Object, the instructions that the source is compiled to, for reading; object makes
// the object of them.
func (c Compile) ViaAssembly() (text, object Compile) {
	text, object = c, c
	text.Object, object.Depfile = strings.TrimSuffix(c.Object, ".o")+".s", ""
	object.Source = text.Object
	text.Args = slices.Concat(c.flags, []string{"-MMD", "-MP", "-MF", c.Depfile, "-S", c.Source, "-o", text.Object})
	object.Args = slices.Concat(c.flags, []string{"-c", object.Source, "-o", c.Object})
	return text, object
}

// Link is the line that makes the library.
type Link struct {
	Args    []string
	Objects []string
	Library string
}

var packageName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Validate says whether a library and a C++ name can be made from the package's name, and whether it has sources.
func (p Package) Validate() error {
	if err := ValidateName(p.Name); err != nil {
		return err
	}
	if err := checkSources(p.Files); err != nil {
		return fmt.Errorf("op package %s: %w", p.Name, err)
	}
	if s := sources(p.Files, ""); len(s.plain)+len(s.ops) == 0 {
		return fmt.Errorf("op package %s: no src/*.cpp and no src/ops/*.cpp; is this the folder of the package itself?", p.Name)
	}
	return p.validateExtras()
}

// ValidateName says whether a package may have the name.
func ValidateName(name string) error {
	if !packageName.MatchString(name) {
		return fmt.Errorf("op package name %q is not a C++ name", name)
	}
	return nil
}

// Library returns the file name of a package's library.
func Library(name string) string { return "libQnn" + name + ".so" }

// interfaceName is the path that an interface source has in a package: the one that FindName knows.
func (p Package) interfaceName() string { return "src/" + p.Name + "Interface.cpp" }

// Ops returns the sources of a package's ops, sorted.
func Ops(files []string) []string { return sources(files, "").ops }

// HasInterface says whether a package has sources beside its ops, one of which is its interface.
func HasInterface(files []string) bool { return len(sources(files, "").plain) > 0 }

// DeviceLibrary returns the file name that a library has on a phone, which loads one for its processor and one for its NPU.
func DeviceLibrary(name string, a Arch) string {
	if a.Family == "hexagon" {
		return "libQnn" + name + "_HTP.so"
	}
	return "libQnn" + name + "_CPU.so"
}

type sourceSet struct{ plain, ops, asm []string }

// sources picks what is compiled, each group sorted, as the Makefile's wildcards do.
func sources(files []string, asm string) sourceSet {
	var s sourceSet
	for _, f := range files {
		switch dir, ext := path.Dir(f), path.Ext(f); {
		case dir == "src" && ext == ".cpp":
			s.plain = append(s.plain, f)
		case dir == "src/ops" && ext == ".cpp":
			s.ops = append(s.ops, f)
		case asm != "" && dir == "src/ops/"+asm && ext == ".S":
			s.asm = append(s.asm, f)
		}
	}
	slices.Sort(s.plain)
	slices.Sort(s.ops)
	slices.Sort(s.asm)
	return s
}

// Headers returns what a source of the package may include: whole folders (include/ and the package's own include folders), and
// the headers that lie in none of them, under src/.
func (p Package) Headers() (folders, files []string) {
	candidates := []string{"include"}
	for _, e := range p.Extras {
		for _, i := range e.Includes {
			candidates = append(candidates, path.Clean(i))
		}
	}
	within := func(f, dir string) bool { return strings.HasPrefix(f, dir+"/") }
	has := func(dir string) bool {
		return slices.ContainsFunc(p.Files, func(f string) bool { return within(f, dir) })
	}
	slices.Sort(candidates)
	for _, dir := range candidates { // a folder comes before those in it
		if has(dir) && !slices.ContainsFunc(folders, func(outer string) bool { return within(dir+"/", outer) }) {
			folders = append(folders, dir)
		}
	}
	everything := slices.Contains(candidates, ".")
	for _, f := range p.Files {
		if slices.ContainsFunc(folders, func(dir string) bool { return within(f, dir) }) {
			continue
		}
		switch path.Ext(f) {
		case ".h", ".hh", ".hpp", ".hxx", ".inc", ".inl", ".def":
			if everything || within(f, "src") {
				files = append(files, f)
			}
		default:
			if everything {
				files = append(files, f)
			}
		}
	}
	slices.Sort(files)
	return folders, files
}

// Lines returns the lines that build a package for an arch: the interface first, then the ops, then assembly.
func Lines(a Arch, p Package, r Roots) ([]Compile, Link) {
	vars := r.vars(p)
	build := path.Join(cmp.Or(p.Build, "build"), a.Folder)
	cxx := expand(vars, a.CXX)
	flags := expand(vars, a.Common, a.Flags, p.ownFlags())
	opFlags := expand(vars, a.OpFlags)

	var compiles []Compile
	link := Link{Library: path.Join(build, Library(p.Name))}
	add := func(src string, more []string) {
		object := path.Join(build, strings.TrimPrefix(strings.TrimSuffix(src, path.Ext(src)), "src/")+".o")
		c := Compile{Source: path.Join(p.Dir, src), Object: object, Depfile: strings.TrimSuffix(object, ".o") + ".d"}
		if src == p.interfaceName() && p.Interface != "" {
			c.Source = p.Interface
		}
		c.flags = slices.Concat(cxx, flags, more, p.extraFlags(a.Target, src))
		c.Args = slices.Concat(c.flags, []string{"-MMD", "-MP", "-MF", c.Depfile, "-c", c.Source, "-o", c.Object})
		compiles = append(compiles, c)
		link.Objects = append(link.Objects, object)
	}
	s := sources(p.Files, a.Asm)
	if p.Interface != "" {
		s.plain = append(s.plain, p.interfaceName())
		slices.Sort(s.plain)
	}
	for _, f := range s.plain {
		add(f, nil)
	}
	for _, f := range slices.Concat(s.ops, s.asm) {
		add(f, opFlags)
	}
	link.Args = slices.Concat(cxx, expand(vars, a.LinkFlags), []string{"-o", link.Library}, link.Objects, expand(vars, a.Libs), p.linkFlags(a.Target))
	return compiles, link
}

// ownFlags are the flags that depend on where the package is.
func (p Package) ownFlags() []string {
	flags := []string{"-I" + path.Join(p.Dir, "include")}
	if p.Dir != "" && p.Dir != "." {
		flags = append(flags, "-ffile-prefix-map="+path.Clean(p.Dir)+"/=")
	}
	return flags
}

func (r Roots) vars(p Package) map[string]string {
	return map[string]string{
		"QNN_INCLUDE": path.Join(r.QAIRT, "include/QNN"), "QNN_TARGET_LIB": path.Join(r.QAIRT, "lib/aarch64-android"),
		"HEXAGON": r.Hexagon, "NDK": r.NDK,
		"TOOLS":    path.Join(r.Hexagon, "tools/HEXAGON_Tools", r.Tools, "Tools"),
		"HOST_CXX": cmp.Or(r.HostCXX, "clang++"), "HVX": cmp.Or(p.HVX, DefaultHVX), "PACKAGE_NAME": p.Name,
	}
}

var reference = lazyregexp.New(`\$\(([A-Z_]+)\)`)

// expand puts the variables' values in. A flag that is one reference alone, such as $(HVX), becomes as many as it has words.
func expand(vars map[string]string, lists ...[]string) []string {
	var out []string
	for _, list := range lists {
		for _, s := range list {
			full := reference.Get().ReplaceAllStringFunc(s, func(m string) string { return vars[m[2:len(m)-1]] })
			if reference.FindString(s) == s && s != "" {
				out = append(out, strings.Fields(full)...)
			} else {
				out = append(out, full)
			}
		}
	}
	return out
}

// CompileCommands returns a compile_commands.json for clangd and other tools: one entry for each line. dir is the folder
// the lines run in, as the reader of the file sees it.
func CompileCommands(dir string, lines []Compile) ([]byte, error) {
	type entry struct {
		Directory string   `json:"directory"`
		File      string   `json:"file"`
		Output    string   `json:"output"`
		Arguments []string `json:"arguments"`
	}
	entries := []entry{}
	for _, c := range lines {
		entries = append(entries, entry{Directory: dir, File: c.Source, Output: c.Object, Arguments: c.Args})
	}
	data, err := json.MarshalIndent(entries, "", "  ")
	return append(data, '\n'), err
}
