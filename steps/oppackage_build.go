package steps

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/oppackage/opconfig"
)

// opBuild holds the part of an op package build that is known before the sources are.
type opBuild struct {
	p          *step.Plan
	source     step.Path
	arches     []oppackage.Arch
	name       string // "": search for it
	hvx        string
	config     *string // path in the package; nil: search for it, "": none
	provider   string  // "": the package's default
	extras     []oppackage.Extra
	more       []action.Input // outputs that extras refer to
	roots      oppackage.Roots
	toolchains map[string][]action.Input // by target
	variant    string                    // name of a second build of the package
}

// newBuild returns the state that all kinds of builds share. argument is the argument that holds the targets.
func newBuild(p *step.Plan, all oppackage.Targets, s opSource, targets []string, argument, tools, hvx string) opBuild {
	b := opBuild{p: p, source: s.Source, name: s.Package, hvx: oppackage.HVXFlags(hvx),
		toolchains: map[string][]action.Input{}}
	if err := all.CheckHVX(hvx); err != nil {
		p.Fail("hvx", "Unknown HVX version", "%v.", err)
	}
	var err error
	if b.arches, err = all.Select(targets); err != nil {
		p.Fail(argument, "Unknown target", "%v.", err)
	}
	s.validate(p)
	b.extras, b.more = s.extras(p, all)
	needed := map[string]bool{"hexagon": true} // its paths are part of every command line
	for _, a := range b.arches {
		for _, name := range a.Needs {
			needed[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(needed)) {
		p.Toolchain(name)
	}
	if p.Failed() {
		return b
	}
	b.roots = oppackage.ExecRoots(hexagonTools(p, tools, b.arches))
	for _, a := range b.arches {
		for _, name := range append(slices.Clone(a.Needs), "llvm") { // the simulated compilers call llvm
			if t, ok := p.Toolchains[name]; ok {
				b.toolchains[a.Target] = append(b.toolchains[a.Target], t.Input())
			}
		}
	}
	return b
}

// hexagonTools returns the version of the Hexagon tools: the requested one, or the SDK's.
func hexagonTools(p *step.Plan, version string, arches []oppackage.Arch) string {
	version = cmp.Or(version, knownOf(p.Toolchains["hexagon"]).ToolsVersion)
	if version == "" || strings.ContainsAny(version, "/\\") {
		p.Fail("", "Unknown Hexagon tools version", "toolchain.hexagon has no known tools version. Set tools_version "+
			"to the name of a folder in the SDK's tools/HEXAGON_Tools, such as 19.0.04.")
		return ""
	}
	for _, a := range arches {
		if err := a.CheckTools(version); err != nil {
			p.Fail("", "Hexagon tools too old", "%v.", err)
		}
	}
	return version
}

// await plans the step again by then, when the files of the package are known.
func (b opBuild) await(then func(opBuild, oppackage.Package) error) {
	b.p.Await([]action.Input{b.source.Input()}, func(p *step.Plan, l action.Listing) error {
		b := b
		b.p = p
		pkg, err := b.find(l)
		if err != nil {
			return err
		}
		return then(b, pkg)
	})
}

// preview returns a placeholder for the package until its files are known.
func (b opBuild) preview() oppackage.Package {
	return oppackage.Package{Name: cmp.Or(b.name, "*"), Files: []string{"src/*.cpp", "src/ops/*.cpp"}}
}

// find returns the package for the source's files. A package without src/*.cpp gets a generated interface.
func (b *opBuild) find(l action.Listing) (oppackage.Package, error) {
	files := listed(b.source, l)
	if b.config == nil {
		config, err := opconfig.File(files)
		if err != nil {
			return oppackage.Package{}, err
		}
		b.config = &config
	}
	if *b.config != "" && !slices.Contains(files, *b.config) {
		return oppackage.Package{}, fmt.Errorf("config: file %s is not in the package; choose a file in the package",
			*b.config)
	}
	name, err := oppackage.FindName(b.name, files)
	if err != nil {
		return oppackage.Package{}, err
	}
	pkg := oppackage.Package{Name: name, Files: files, Extras: b.extras}
	if !oppackage.HasInterface(files) {
		pkg.Interface = path.Join(b.p.At.Dir(), "interface", name+"Interface.cpp")
	}
	return pkg, pkg.Validate()
}

// listed returns the files below the source, relative to it, sorted.
func listed(source step.Path, l action.Listing) []string {
	var files []string
	for at, names := range l {
		for _, n := range names {
			if rel, ok := strings.CutPrefix(path.Join(at, n), source.InRoot()+"/"); ok {
				files = append(files, rel)
			}
		}
	}
	slices.Sort(files)
	return files
}

// place sets the package's paths in the exec root.
func (b opBuild) place(pkg oppackage.Package) oppackage.Package {
	pkg.Dir, pkg.Build, pkg.HVX = b.source.InRoot(), path.Join(b.p.At.Dir(), "build"), b.hvx
	return pkg
}

// interfaceName names the action that writes the interface source.
const interfaceName = "interface"

// makeInterface plans the interface for the ops of the config, or without a config for the ops that the sources
// register.
func (b opBuild) makeInterface(pkg oppackage.Package) action.Input {
	s := opconfig.Spec{Package: pkg.Name, Out: pkg.Interface}
	var inputs []action.Input
	if *b.config != "" {
		inputs = append(inputs, b.source.Below(*b.config))
		s.Config = inputs[0].Path
	} else {
		for _, f := range oppackage.Ops(pkg.Files) {
			in := b.source.Below(f)
			s.Sources, inputs = append(s.Sources, in.Path), append(inputs, in)
		}
	}
	a := step.Tool(b.p, interfaceName, "write the interface of "+pkg.Name, opconfig.Tool, s)
	return a.In(inputs...).SetEnv(b.p.Env).Out(pkg.Interface)
}

// compile plans the compilation of each source for an arch. It returns the command lines, and the objects at their
// paths.
func (b opBuild) compile(a oppackage.Arch, pkg oppackage.Package) ([]oppackage.Compile, []action.Input) {
	compiles, _ := oppackage.Lines(a, pkg, b.roots)
	var objects []action.Input
	for _, c := range compiles {
		objects = append(objects, b.compilation(a, pkg, c))
	}
	return compiles, objects
}

// compilation plans one compilation and returns its output at its path.
func (b opBuild) compilation(a oppackage.Arch, pkg oppackage.Package, c oppackage.Compile) action.Input {
	rel := strings.TrimPrefix(c.Source, pkg.Dir+"/")
	act := b.p.Action(b.made(a, pkg, c), "compile "+rel+" for "+a.Target, c.Args...)
	b.compiler(act)
	// The depfile lists the headers. If a header changes, only the sources that include it compile again.
	act.Depfile = c.Depfile
	if c.Source == pkg.Interface {
		act.Description = "compile the interface for " + a.Target
	}
	b.reads(act.In(b.sourceOf(pkg, c)), a, pkg)
	return act.Out(c.Object).As(c.Object)
}

// made returns the name of the action that writes an object.
func (b opBuild) made(a oppackage.Arch, pkg oppackage.Package, c oppackage.Compile) string {
	return path.Join(a.Target, b.variant, strings.TrimPrefix(c.Object, path.Join(pkg.Build, a.Folder)+"/"))
}

// sourceOf returns the source of a compilation: a file of the package, or the generated interface.
func (b opBuild) sourceOf(pkg oppackage.Package, c oppackage.Compile) action.Input {
	if c.Source == pkg.Interface {
		return action.Input{Path: c.Source, Spec: &action.SpecOutput{Spec: interfaceName, Path: c.Source}}
	}
	return b.source.Below(strings.TrimPrefix(c.Source, pkg.Dir+"/"))
}

// reads adds the inputs of a compilation besides its source: headers, the SDKs, and the outputs that flags refer to.
func (b opBuild) reads(act *step.Action, a oppackage.Arch, pkg oppackage.Package) {
	folders, headers := pkg.Headers()
	for _, f := range slices.Concat(folders, headers) {
		act.In(b.source.Below(f))
	}
	act.In(b.toolchains[a.Target]...).In(b.more...)
}

// link plans the linking of an arch's objects and returns the library.
func (b opBuild) link(a oppackage.Arch, pkg oppackage.Package, objects []action.Input) action.Input {
	_, link := oppackage.Lines(a, pkg, b.roots)
	lib := oppackage.Library(pkg.Name)
	act := b.p.Action(path.Join(a.Target, b.variant, lib), "link "+lib+" for "+a.Target, link.Args...)
	b.compiler(act)
	return act.In(b.toolchains[a.Target]...).In(b.more...).In(objects...).Out(link.Library)
}

// compiler sets the environment of compilers: the step's, and English messages, which the diagnoses need.
func (b opBuild) compiler(a *step.Action) {
	a.SetEnv(map[string]string{"LC_ALL": "C"}).SetEnv(b.p.Env)
}
