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

// DefaultHVX is the compiler flag that enables the HVX instructions of the target's arch.
const DefaultHVX = "-mhvx"

// Package is an op package's source tree: src/*.cpp, src/ops/*.cpp, src/ops/<arch>_asm/*.S, include/.
type Package struct {
	Name  string   // "LLaMAPackage": part of the names of the library and the interface provider
	Dir   string   // slash path of the tree from the compiler's working directory; may be ""
	Build string   // slash path of the build folder; "" for "build"
	HVX   string   // "" for DefaultHVX
	Files []string // slash paths of the tree's files relative to Dir, in any order

	// Interface is the path of a generated interface source, from the compiler's working directory. It is "" if the
	// source is among Files or missing.
	Interface string
	Extras    []Extra // the package's own flags, after the table's
}

// Roots holds the SDKs' root folders as slash paths, without a trailing slash.
type Roots struct {
	QAIRT   string
	Hexagon string
	Tools   string // Hexagon tools version, the name of a folder in <Hexagon>/tools/HEXAGON_Tools
	NDK     string
	HostCXX string // host compiler for htp_x86; "" for "clang++"
}

// ExecRoots returns the SDKs' root folders in an action's exec root.
func ExecRoots(toolsVersion string) Roots {
	return Roots{QAIRT: "toolchains/qairt", Hexagon: "toolchains/hexagon", Tools: toolsVersion, NDK: "toolchains/ndk"}
}

// Compile is the command line that compiles one object.
type Compile struct {
	Args    []string
	Source  string // paths are relative to the compiler's working directory
	Object  string
	Depfile string // make rule that lists the source's headers; the compiler writes it beside the object

	flags []string // subset of Args without file names
}

// ViaAssembly splits the command line into two. The first produces readable assembly, and the second assembles the
// object.
func (c Compile) ViaAssembly() (text, object Compile) {
	text, object = c, c
	text.Object, object.Depfile = strings.TrimSuffix(c.Object, ".o")+".s", ""
	object.Source = text.Object
	text.Args = slices.Concat(c.flags, []string{"-MMD", "-MP", "-MF", c.Depfile, "-S", c.Source, "-o", text.Object})
	object.Args = slices.Concat(c.flags, []string{"-c", object.Source, "-o", c.Object})
	return text, object
}

// Link is the command line that links the library.
type Link struct {
	Args    []string
	Objects []string
	Library string
}

var packageName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Validate rejects invalid packages, for example without sources.
func (p Package) Validate() error {
	if err := ValidateName(p.Name); err != nil {
		return err
	}
	if err := checkSources(p.Files); err != nil {
		return fmt.Errorf("op package %s: %w", p.Name, err)
	}
	if s := sources(p.Files, ""); len(s.plain)+len(s.ops) == 0 {
		return fmt.Errorf("op package %s: no file matches src/*.cpp or src/ops/*.cpp: choose the "+
			"folder that contains src", p.Name)
	}
	return p.validateExtras()
}

// ValidateName rejects invalid package names.
func ValidateName(name string) error {
	if !packageName.MatchString(name) {
		return fmt.Errorf("op package name %q: invalid C++ identifier: use letters, digits and _", name)
	}
	return nil
}

// Library returns the file name of a package's library.
func Library(name string) string { return "libQnn" + name + ".so" }

// interfaceName is the path of an interface source in a package, which FindName reads.
func (p Package) interfaceName() string { return "src/" + p.Name + "Interface.cpp" }

// Ops returns the source files of a package's ops, sorted.
func Ops(files []string) []string { return sources(files, "").ops }

// HasInterface reports whether a package contains a source that is not an op, such as the package's interface.
func HasInterface(files []string) bool { return len(sources(files, "").plain) > 0 }

// DeviceLibrary returns a library's file name on a phone. A phone loads one library for its CPU and one for its NPU.
func DeviceLibrary(name string, a Arch) string {
	if a.Family == "hexagon" {
		return "libQnn" + name + "_HTP.so"
	}
	return "libQnn" + name + "_CPU.so"
}

type sourceSet struct{ plain, ops, asm []string }

// sources returns the compiled files, each group sorted like the Makefile's wildcards.
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

// Headers returns the headers that the package's sources may include: whole folders, and single files under src/. The
// folders are include/ and the include folders of the extras.
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
	for _, dir := range candidates { // a folder precedes its subfolders
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

// Lines returns the command lines that build a package for an arch. The interface is first, then the ops, then
// assembly.
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

// ownFlags returns the flags that depend on the package's location.
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

// expand replaces references to variables. A flag that is only a reference, such as $(HVX), becomes one flag for
// each word.
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

// CompileCommands returns a compile_commands.json for tools such as clangd, with one entry per line. The command lines
// start in the working directory dir.
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
