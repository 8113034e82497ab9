package steps

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/oppackage"
	"github.com/hexmage/hexmage/oppackage/libcheck"
	"github.com/hexmage/hexmage/oppackage/opconfig"
)

// build is what is known of an op package before its sources are there.
type build struct {
	at         addrs.Instance
	arches     []oppackage.Arch
	name       string // "" is to be found
	hvx        string
	config     string // path in the package; "" is to be found, or none if it is set to that
	configSet  bool
	provider   string         // "" is the package's
	source     string         // path in the exec root
	inputs     []action.Input // that hold the source
	extras     []oppackage.Extra
	more       []action.Input // that extras refer to
	roots      oppackage.Roots
	toolchains map[string][]action.Input // by target
	env        map[string]string
}

// newBuild takes from a request what all kinds that build have. argument is what the targets come from.
func newBuild(r step.Request, targets []string, argument, hvx string) (*build, hcl.Diagnostics) {
	b := &build{at: r.At, name: r.String("package"), hvx: hvx, env: r.Env, toolchains: map[string][]action.Input{}}
	var err error
	if b.arches, err = oppackage.Select(targets); err != nil {
		return nil, hcl.Diagnostics{r.ArgErrorf(argument, "Unknown target", "%v.", err)}
	}
	if b.name != "" {
		if err := oppackage.ValidateName(b.name); err != nil {
			return nil, hcl.Diagnostics{r.ArgErrorf("package", "Not the name of an op package", "%v.", err)}
		}
	}
	if err := oppackage.CheckHVX(r.String("hvx")); err != nil {
		return nil, hcl.Diagnostics{r.ArgErrorf("hvx", "Unknown HVX version", "%v.", err)}
	}
	b.source, b.inputs = r.Place("source")
	if len(b.inputs) == 0 {
		return nil, hcl.Diagnostics{r.ArgErrorf("source", "No sources", "source of %s is empty.", r.At)}
	}
	var diags hcl.Diagnostics
	if b.extras, b.more, diags = extras(r); diags.HasErrors() {
		return nil, diags
	}
	if diags := undeclared(r, b.arches); diags.HasErrors() {
		return nil, diags
	}
	version, diags := hexagonTools(r, b.arches)
	if diags.HasErrors() {
		return nil, diags
	}
	for _, a := range b.arches {
		b.toolchains[a.Target] = toolchainInputs(r, a)
	}
	b.roots = oppackage.ExecRoots(version)
	b.roots.HostCXX = r.String("host_cxx")
	return b, diags
}

// preview stands for the package until its files are known.
func (b *build) preview() oppackage.Package {
	name := b.name
	if name == "" {
		name = "*"
	}
	return oppackage.Package{Name: name, Files: []string{"src/*.cpp", "src/ops/*.cpp"}}
}

// find makes the package from the listing of the source. The interface of one that has no src/*.cpp is made.
func (b *build) find(l action.Listing) (oppackage.Package, error) {
	files := listed(b.source, l)
	if b.config == "" && !b.configSet {
		var err error
		if b.config, err = opconfig.File(files); err != nil {
			return oppackage.Package{}, err
		}
	}
	if b.config != "" && !slices.Contains(files, b.config) {
		return oppackage.Package{}, fmt.Errorf("the package has no %s, which config names", b.config)
	}
	name, err := oppackage.FindName(b.name, files)
	if err != nil {
		return oppackage.Package{}, err
	}
	p := oppackage.Package{Name: name, Files: files, Extras: b.extras}
	if b.config != "" && !oppackage.HasInterface(files) {
		p.Interface = path.Join(b.at.Dir(), "interface", name+"Interface.cpp")
	}
	return p, p.Validate()
}

// expand makes the specs from the listing of the source.
func (b *build) expand(l action.Listing) ([]action.Spec, map[string]action.Artifact, error) {
	p, err := b.find(l)
	if err != nil {
		return nil, nil, err
	}
	return b.specs(p)
}

func (b *build) specs(p oppackage.Package) ([]action.Spec, map[string]action.Artifact, error) {
	p = b.place(p)
	var specs []action.Spec
	if p.Interface != "" {
		made, err := b.interfaceSpec(p)
		if err != nil {
			return nil, nil, err
		}
		specs = append(specs, made)
	}
	var all []oppackage.Compile
	dir, device, report := action.Artifact{Class: action.Tree}, action.Artifact{Class: action.Tree}, action.Artifact{Class: action.Tree}
	outs := map[string]action.Artifact{}
	cpu := slices.ContainsFunc(b.arches, func(a oppackage.Arch) bool { return a.Family == "android" })
	for _, a := range b.arches {
		made, compiles, err := b.arch(a, p)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, compiles...)
		link := made[len(made)-1]
		check, err := b.check(a, p, link)
		if err != nil {
			return nil, nil, err
		}
		specs = append(append(specs, made...), check)
		lib := &action.SpecOutput{Spec: link.Name, Path: link.Outputs[0].Path}
		outs[a.Target] = action.Artifact{Class: action.File, Parts: []action.Input{{Spec: lib}}}
		dir.Parts = append(dir.Parts, action.Input{Path: a.Target + "/" + oppackage.Library(p.Name), Spec: lib})
		if a.Family == "hexagon" {
			device.Parts = append(device.Parts, action.Input{Path: a.Version + "/" + oppackage.DeviceLibrary(p.Name, a), Spec: lib})
		}
		for _, ext := range []string{".json", ".txt"} {
			report.Parts = append(report.Parts, action.Input{Path: a.Target + ext, Spec: &action.SpecOutput{Spec: check.Name, Path: b.reportPath(a) + ext}})
		}
		if a.Family == "android" && cpu {
			for _, h := range b.arches {
				if h.Family == "hexagon" {
					device.Parts = append(device.Parts, action.Input{Path: h.Version + "/" + oppackage.DeviceLibrary(p.Name, a), Spec: lib})
				}
			}
		}
	}
	commands, err := oppackage.CompileCommands(".", all)
	if err != nil {
		return nil, nil, fmt.Errorf("compile_commands.json: %w", err)
	}
	outs["dir"], outs["device"], outs["report"] = dir, device, report
	outs["compile_commands"] = action.Artifact{Class: action.File, Parts: []action.Input{{Content: &action.Content{Data: commands}}}}
	return specs, outs, nil
}

// place says where the package is in the exec root.
func (b *build) place(p oppackage.Package) oppackage.Package {
	p.Dir, p.Build, p.HVX = b.source, path.Join(b.at.Dir(), "build"), b.hvx
	return p
}

// arch returns the specs that compile for an arch, and last the one that links.
func (b *build) arch(a oppackage.Arch, p oppackage.Package) ([]action.Spec, []oppackage.Compile, error) {
	folders, headers := p.Headers()
	var specs []action.Spec
	compiles, link := oppackage.Lines(a, p, b.roots)
	linkSpec := action.Spec{
		Name: a.Target + "/" + oppackage.Library(p.Name), Description: "link " + oppackage.Library(p.Name) + " for " + a.Target,
		Args: link.Args, Env: b.environ(), Outputs: []action.Output{{Path: link.Library}},
	}
	linkSpec.Inputs = slices.Concat(b.toolchains[a.Target], b.more)
	for _, c := range compiles {
		rel := strings.TrimPrefix(c.Source, b.source+"/")
		name := a.Target + "/" + strings.TrimPrefix(c.Object, path.Join(p.Build, a.Folder)+"/")
		spec := action.Spec{
			Name: name, Description: "compile " + rel + " for " + a.Target,
			Args: c.Args, Env: b.environ(), Outputs: []action.Output{{Path: c.Object}},
		}
		var read []string
		if c.Source == p.Interface {
			spec.Description = "compile the interface for " + a.Target
			spec.Inputs = append(spec.Inputs, action.Input{Path: c.Source, Spec: &action.SpecOutput{Spec: interfaceName, Path: c.Source}})
		} else {
			read = append(read, rel)
		}
		// The compiler says which headers it read: a change of one compiles those sources again that include it.
		spec.Depfile = c.Depfile
		read = slices.Concat(read, folders, headers)
		for _, f := range read {
			in, err := b.file(f)
			if err != nil {
				return nil, nil, err
			}
			spec.Inputs = append(spec.Inputs, in)
		}
		spec.Inputs = append(append(spec.Inputs, b.toolchains[a.Target]...), b.more...)
		specs = append(specs, spec)
		linkSpec.Inputs = append(linkSpec.Inputs, action.Input{Path: c.Object, Spec: &action.SpecOutput{Spec: name, Path: c.Object}})
	}
	return append(specs, linkSpec), compiles, nil
}

// interfaceName names the spec that makes the interface source.
const interfaceName = "interface"

// interfaceSpec makes the interface from the op config.
func (b *build) interfaceSpec(p oppackage.Package) (action.Spec, error) {
	in, err := b.file(b.config)
	if err != nil {
		return action.Spec{}, err
	}
	argv, platform := step.FlagTool(opconfig.ToolName, opconfig.ToolVersion, "--package", p.Name, "--config", in.Path, "--out", p.Interface)
	return action.Spec{
		Name: interfaceName, Description: "write the interface of " + p.Name, Args: argv, Env: b.env, Platform: platform,
		Inputs: []action.Input{in}, Outputs: []action.Output{{Path: p.Interface}},
	}, nil
}

func (b *build) reportPath(a oppackage.Arch) string {
	return path.Join(b.at.Dir(), "report", a.Target)
}

// check makes sure that what was linked is what backends load, and reports on it.
func (b *build) check(a oppackage.Arch, p oppackage.Package, link action.Spec) (action.Spec, error) {
	lib := link.Outputs[0].Path
	out := b.reportPath(a)
	header := path.Join(b.roots.QAIRT, "include/QNN/QnnSdkBuildId.h")
	args := []string{"--library", lib, "--target", a.Target, "--package", p.Name, "--build-id", header, "--out", out}
	spec := action.Spec{
		Name: a.Target + "/check", Description: "check " + oppackage.Library(p.Name) + " for " + a.Target, Env: b.env,
		Inputs:  append([]action.Input{{Path: lib, Spec: &action.SpecOutput{Spec: link.Name, Path: lib}}}, b.toolchains[a.Target]...),
		Outputs: []action.Output{{Path: out + ".json"}, {Path: out + ".txt"}},
	}
	if b.provider != "" {
		args = append(args, "--provider", b.provider)
	}
	if b.config != "" {
		in, err := b.file(b.config)
		if err != nil {
			return action.Spec{}, err
		}
		spec.Inputs = append(spec.Inputs, in)
		args = append(args, "--config", in.Path)
	}
	spec.Args, spec.Platform = step.FlagTool(libcheck.ToolName, libcheck.ToolVersion, args...)
	return spec, nil
}

// file returns the input that is one file of the source.
func (b *build) file(rel string) (action.Input, error) {
	return from(b.inputs, path.Join(b.source, rel))
}

// hexagonTools returns the version of the Hexagon tools, and what is wrong with it for the arches.
func hexagonTools(r step.Request, arches []oppackage.Arch) (string, hcl.Diagnostics) {
	version := r.String("tools_version")
	hexagon, diag := r.Toolchain("hexagon")
	if diag != nil {
		return "", hcl.Diagnostics{diag}
	}
	if a := hexagon.Attrs; version == "" && a != cty.NilVal && !a.IsNull() && a.Type().IsObjectType() && a.Type().HasAttribute("tools_version") {
		if v := a.GetAttr("tools_version"); v.IsKnown() && !v.IsNull() && v.Type() == cty.String {
			version = v.AsString()
		}
	}
	if version == "" || strings.ContainsAny(version, "/\\") {
		return "", hcl.Diagnostics{r.Errorf("Version of the Hexagon tools not known",
			"The release of toolchain.hexagon does not say which tools it has. Set tools_version to the name of the folder in its tools/HEXAGON_Tools, such as 19.0.04.")}
	}
	var diags hcl.Diagnostics
	for _, a := range arches {
		if err := a.CheckTools(version); err != nil {
			diags = append(diags, r.Errorf("Hexagon tools too old", "%v.", err))
		}
	}
	return version, diags
}

// undeclared says which toolchains that the arches need are missing, each once.
func undeclared(r step.Request, arches []oppackage.Arch) hcl.Diagnostics {
	var diags hcl.Diagnostics
	said := map[string]bool{}
	for _, name := range needs(arches) {
		if _, diag := r.Toolchain(name); diag != nil && !said[name] {
			said[name] = true
			diags = append(diags, diag)
		}
	}
	return diags
}

// needs are the toolchains of the arches. The layout of the Hexagon SDK is part of every line, so all need that one.
func needs(arches []oppackage.Arch) []string {
	names := []string{"hexagon"}
	for _, a := range arches {
		names = append(names, a.Needs...)
	}
	return names
}

// toolchainInputs are the toolchains that a line for the arch needs. What stands behind the compilers of the open stand-in
// (llvm) comes along where the pipeline declares it.
func toolchainInputs(r step.Request, a oppackage.Arch) []action.Input {
	var in []action.Input
	for _, name := range a.Needs {
		in = append(in, r.Toolchains[name].Input())
	}
	if t, ok := r.Toolchains["llvm"]; ok {
		in = append(in, t.Input())
	}
	return in
}

// from returns the input that is the file or folder at a path of the exec root, from whatever holds it.
func from(inputs []action.Input, at string) (action.Input, error) {
	for _, in := range inputs {
		sub, ok := strings.CutPrefix(at+"/", in.Path+"/")
		sub = strings.TrimSuffix(sub, "/")
		switch {
		case !ok:
		case in.Host != nil:
			return action.Input{Path: at, Host: &action.HostPath{Path: path.Join(in.Host.Path, sub)}}, nil
		default:
			return action.Input{Path: at, Artifact: in.Artifact, Sub: sub}, nil
		}
	}
	return action.Input{}, fmt.Errorf("%s is in no input of the step", at)
}

// listed returns the files below source, relative to it, sorted.
func listed(source string, l action.Listing) []string {
	var files []string
	for at, names := range l {
		for _, n := range names {
			if rel, ok := strings.CutPrefix(path.Join(at, n), source+"/"); ok {
				files = append(files, rel)
			}
		}
	}
	slices.Sort(files)
	return files
}

// environ is what compilers get: English messages, which the diagnoses know, beside what the step says.
func (b *build) environ() map[string]string {
	env := map[string]string{"LC_ALL": "C"}
	for k, v := range b.env {
		env[k] = v
	}
	return env
}
