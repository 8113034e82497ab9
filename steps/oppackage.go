package steps

import (
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/oppackage/libcheck"
	"github.com/hexmage/hexmage/oppackage/opconfig"
	"github.com/hexmage/hexmage/patches"
)

// OpPackage holds the arguments of an oppackage step.
type OpPackage struct {
	opSource
	Targets  []string `arg:"targets,required"`
	HVX      string   `arg:"hvx"`
	Tools    string   `arg:"tools_version"`
	HostCXX  string   `arg:"host_cxx"`
	Config   *string  `arg:"config"` // "": no config
	Provider string   `arg:"provider"`
}

func opPackageSchema() step.Schema {
	return step.Schema{
		Summary: "Builds a QNN HTP op package: every source for every target, then one library per target.",
		ArgDocs: withOpDocs(map[string]string{
			"source": "Folder of the package (src/*.cpp, src/ops/*.cpp): an output of another step, or a " +
				"folder of the workspace.",
			"targets": "Targets to build for: htp_aarch64, htp_v79, …. Each target is also the name of an " +
				"output, its library.",
			"hvx": "HVX version that ops may use, such as v66, or compiler flags. Default: the version of " +
				"the target.",
			"tools_version": "Version of the Hexagon tools, a folder in the SDK's tools/HEXAGON_Tools. Default: the " +
				"version of toolchain.hexagon.",
			"host_cxx": "The host's C++ compiler, for htp_x86. Default: clang++.",
			"config": "Path of the op config in the package; \"\" for none. The step checks that libraries " +
				"have its ops. A package without src/*.cpp gets an interface for these ops, or without a config for " +
				"the ops that src/ops/*.cpp register. Default: the only config in config/, or the one there with HTP " +
				"in its name.",
			"provider": "Symbol through which backends find the library. Default: <package>InterfaceProvider.",
		}),
		Outputs: []step.OutputSpec{
			step.Tree("dir", "<target>/libQnn<package>.so for each target."),
			step.Tree("device", "Libraries in a phone's layout: libQnn<package>_CPU.so, and _HTP.so in a folder per "+
				"Hexagon arch (v79/…)."),
			step.Tree("report", "<target>.txt and .json: symbols, sizes, imports and build ids of each library."),
			step.File("compile_commands", "compile_commands.json of all compilations, with paths relative to the "+
				"exec root."),
		},
		OutputsFrom: "targets",
		Toolchains:  []string{"qairt", "hexagon", "ndk", "llvm"},
		Example: `step "oppackage" "llama" {
  source  = step.patch.ops.outputs.dir
  package = "LLaMAPackage"
  targets = ["htp_aarch64", "htp_v79"]
}`,
	}
}

// Plan plans the actions when the sources are known. Before that, it checks the arguments that need no sources.
func (o OpPackage) Plan(p *step.Plan, all oppackage.Targets) {
	b := newBuild(p, all, o.opSource, o.Targets, "targets", o.Tools, o.HVX)
	if p.Failed() {
		return
	}
	b.roots.HostCXX, b.provider, b.config = o.HostCXX, o.Provider, o.Config
	if err := b.libraries(b.preview()); err != nil {
		p.Fail("", "Invalid op package", "%v.", err)
	}
	b.await(opBuild.libraries)
	p.Explain(explainBuild)
}

// libraries plans the libraries of all targets, and their reports.
func (b opBuild) libraries(pkg oppackage.Package) error {
	pkg = b.place(pkg)
	var all []oppackage.Compile
	var dir, device, report []action.Input
	if pkg.Interface != "" {
		b.makeInterface(pkg)
	} else {
		report = b.checkInterface(pkg)
	}
	var hexagon []oppackage.Arch
	for _, a := range b.arches {
		if a.Family == "hexagon" {
			hexagon = append(hexagon, a)
		}
	}
	for _, a := range b.arches {
		compiles, objects := b.compile(a, pkg)
		all = append(all, compiles...)
		lib := b.link(a, pkg, objects)
		b.p.File(a.Target, lib)
		dir = append(dir, lib.As(a.Target+"/"+oppackage.Library(pkg.Name)))
		in := hexagon // the folders of a phone for the library
		if a.Family == "hexagon" {
			in = []oppackage.Arch{a}
		}
		if a.Family == "hexagon" || a.Family == "android" {
			for _, h := range in {
				device = append(device, lib.As(h.Version+"/"+oppackage.DeviceLibrary(pkg.Name, a)))
			}
		}
		report = append(report, b.check(a, pkg, lib)...)
	}
	commands, err := oppackage.CompileCommands(".", all)
	if err != nil {
		return fmt.Errorf("compile_commands.json: %w", err)
	}
	b.p.Tree("dir", dir...)
	b.p.Tree("device", device...)
	b.p.Tree("report", report...)
	b.p.File("compile_commands", action.Input{Content: &action.Content{Data: commands}})
	return nil
}

// checkInterface plans a check that the package's own interface lists all ops, which no compiler or linker reports. It
// returns the list of ops, empty for a package without an interface or ops.
func (b opBuild) checkInterface(pkg oppackage.Package) (list []action.Input) {
	s := opconfig.ListedSpec{Out: path.Join(b.p.At.Dir(), "report", "ops.txt")}
	var inputs []action.Input
	for _, f := range pkg.Files {
		to := map[string]*[]string{"src": &s.Interface, "src/ops": &s.Ops}[path.Dir(f)]
		if to == nil || path.Ext(f) != ".cpp" {
			continue
		}
		in := b.source.Below(f)
		*to, inputs = append(*to, in.Path), append(inputs, in)
	}
	if len(s.Interface) == 0 || len(s.Ops) == 0 {
		return nil
	}
	listed := step.Tool(b.p, "listed", "check that the interface lists all ops", opconfig.ListedTool, s).In(inputs...)
	return append(list, listed.SetEnv(b.p.Env).Out(s.Out).As("ops.txt"))
}

// check plans a check that backends can load the linked library, and its report.
func (b opBuild) check(a oppackage.Arch, pkg oppackage.Package, lib action.Input) []action.Input {
	lib.Path = lib.Spec.Path
	s := libcheck.Spec{Library: lib.Path, Arch: a, Package: pkg.Name, Provider: b.provider,
		Header: path.Join(b.roots.QAIRT, "include/QNN/QnnSdkBuildId.h"),
		Out:    path.Join(b.p.At.Dir(), "report", a.Target)}
	inputs := append([]action.Input{lib}, b.toolchains[a.Target]...)
	if b.config != nil && *b.config != "" {
		config := b.source.Below(*b.config)
		s.Config, inputs = config.Path, append(inputs, config)
	}
	check := step.Tool(b.p, a.Target+"/check", "check "+oppackage.Library(pkg.Name)+" for "+a.Target, libcheck.Tool, s)
	check.In(inputs...).SetEnv(b.p.Env)
	var report []action.Input
	for _, ext := range []string{".json", ".txt"} {
		report = append(report, check.Out(s.Out+ext).As(a.Target+ext))
	}
	return report
}

// opSource holds the arguments that all kinds about an op package share: the sources, and flags for them.
type opSource struct {
	Source step.Path `arg:"source,required"`
	opFlags
}

// opFlags holds the extra flags.
type opFlags struct {
	Package   string            `arg:"package"`
	Includes  []string          `arg:"includes"`
	Defines   []string          `arg:"defines"`
	Flags     []string          `arg:"flags"`
	LinkFlags []string          `arg:"link_flags"`
	Extra     []oppackage.Extra `block:"extra"`
}

func withOpDocs(docs map[string]string) map[string]string {
	maps.Copy(docs, map[string]string{
		"package": "Name of the package. Default: X of src/XInterface.cpp. For a package without src/*.cpp: the " +
			"PackageName of its op config; required without one.",
		"includes":   "More folders with headers: in the package (relative to it), or outputs of steps and toolchains.",
		"defines":    "More macros, NAME or NAME=VALUE.",
		"flags":      "More flags of the compiler, after all others.",
		"link_flags": "More flags of the linker, after the objects.",
		"extra":      "Flags for some targets and some sources: paths in the package, which may contain * and ?.",
	})
	return docs
}

// validate reports invalid arguments.
func (s opSource) validate(p *step.Plan) {
	if !s.Source.IsSet() {
		p.Fail("source", "No sources", "source of %s is empty. Name the folder of the package.", p.At)
	}
	if s.Package != "" {
		if err := oppackage.ValidateName(s.Package); err != nil {
			p.Fail("package", "Invalid op package name", "%v.", err)
		}
	}
}

// extras returns the flags, and the outputs that they refer to.
func (s opSource) extras(p *step.Plan, all oppackage.Targets) (out []oppackage.Extra, inputs []action.Input) {
	var rooted []string
	for _, name := range []string{"includes", "defines", "flags", "link_flags", "extra"} {
		for _, o := range p.Used(name) {
			if !slices.Contains(rooted, o.Path()) {
				rooted = append(rooted, o.Path())
				inputs = append(inputs, action.Input{Path: o.Path(), Artifact: &o, Shared: o.Kind == addrs.Toolchain})
			}
		}
	}
	own := oppackage.Extra{Includes: s.Includes, Defines: s.Defines, Flags: s.Flags, LinkFlags: s.LinkFlags}
	argument := "flags"
	for _, e := range append([]oppackage.Extra{own}, s.Extra...) {
		if len(e.Includes)+len(e.Defines)+len(e.Flags)+len(e.LinkFlags) > 0 {
			e.Rooted = rooted
			err := e.Validate()
			if err == nil && len(e.Targets) > 0 {
				_, err = all.Select(e.Targets)
			}
			if err != nil {
				p.Fail(argument, "Invalid op package flags", "%v.", err)
			}
			out = append(out, e)
		}
		argument = "extra"
	}
	return out, inputs
}

// explainBuild returns hints for a failed build of an op package: known mistakes in packages, and renamed names.
func explainBuild(spec string, output []byte) []string {
	return oppackage.Explain(spec, string(output), func(output string) (hints []string) {
		for _, h := range patches.Diagnose(output) {
			hints = append(hints, h.String())
		}
		return hints
	})
}
