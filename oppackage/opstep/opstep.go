// Package opstep has the kinds of steps that build QNN op packages: "oppackage" with an action for every source and
// target, and "makefile" for people who build with make.
//
// The lines they run are oppackage's; the kinds say which files each line reads, so that one edited op is one compilation
// for each target. They read no files themselves.
package opstep

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/oppackage"
)

// Package is the kind "oppackage".
type Package struct{}

// Schema returns the arguments and outputs.
func (Package) Schema() step.Schema {
	return step.Schema{
		Summary: "Build a QNN HTP op package: every source for every target, then a library for each target.",
		Args: hcldec.ObjectSpec{
			"source":        &hcldec.AttrSpec{Name: "source", Type: cty.String, Required: true},
			"targets":       &hcldec.AttrSpec{Name: "targets", Type: cty.List(cty.String), Required: true},
			"package":       &hcldec.AttrSpec{Name: "package", Type: cty.String},
			"hvx":           &hcldec.AttrSpec{Name: "hvx", Type: cty.String},
			"tools_version": &hcldec.AttrSpec{Name: "tools_version", Type: cty.String},
			"host_cxx":      &hcldec.AttrSpec{Name: "host_cxx", Type: cty.String},
		},
		ArgDocs: map[string]string{
			"source":        "Folder of the package (src/*.cpp, src/ops/*.cpp): an output of another step, or a folder of the workspace.",
			"targets":       "What to build for: htp_aarch64, htp_v79, …; each is also the name of an output, its library.",
			"package":       "Name of the package. Default: X of src/XInterface.cpp.",
			"hvx":           "HVX version that ops may use, such as v66, or compiler flags. Default: that of the target.",
			"tools_version": "Version of the Hexagon tools, a folder of the SDK's tools/HEXAGON_Tools. Default: toolchain.hexagon's.",
			"host_cxx":      "The host's C++ compiler, for htp_x86. Default: clang++.",
		},
		Outputs: []step.OutputSpec{
			{Name: "dir", Class: action.Tree, Doc: "<target>/libQnn<package>.so for each target."},
			{Name: "compile_commands", Class: action.File, Doc: "compile_commands.json of all compilations, as seen from the exec root."},
		},
		OutputsFrom: "targets",
		Toolchains:  []string{"qairt", "hexagon", "ndk", "llvm"},
	}
}

// build is what is known of an op package before its sources are there.
type build struct {
	at         addrs.Instance
	arches     []oppackage.Arch
	name       string // "" is to be found
	hvx        string
	source     string         // path in the exec root
	inputs     []action.Input // that hold the source
	roots      oppackage.Roots
	toolchains map[string][]action.Input // by target
	env        map[string]string
}

// Plan checks what can be checked without the sources, and leaves the rest to Expand.
func (Package) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	b := build{at: r.At, name: r.String("package"), hvx: oppackage.HVXFlags(r.String("hvx")), env: r.Env, toolchains: map[string][]action.Input{}}
	var err error
	if b.arches, err = oppackage.Select(r.Strings("targets")); err != nil {
		return step.Planned{}, hcl.Diagnostics{r.ArgErrorf("targets", "Unknown target", "%v.", err)}
	}
	if b.name != "" {
		if err := oppackage.ValidateName(b.name); err != nil {
			return step.Planned{}, hcl.Diagnostics{r.ArgErrorf("package", "Not the name of an op package", "%v.", err)}
		}
	}
	if err := oppackage.CheckHVX(r.String("hvx")); err != nil {
		return step.Planned{}, hcl.Diagnostics{r.ArgErrorf("hvx", "Unknown HVX version", "%v.", err)}
	}
	b.source, b.inputs = r.Place("source")
	if len(b.inputs) == 0 {
		return step.Planned{}, hcl.Diagnostics{r.ArgErrorf("source", "No sources", "source of %s is empty.", r.At)}
	}
	if diags := undeclared(r, b.arches); diags.HasErrors() {
		return step.Planned{}, diags
	}
	version, diags := tools(r, b.arches)
	if diags.HasErrors() {
		return step.Planned{}, diags
	}
	for _, a := range b.arches {
		b.toolchains[a.Target] = toolchainInputs(r, a)
	}
	b.roots = oppackage.ExecRoots(version)
	b.roots.HostCXX = r.String("host_cxx")

	name := b.name
	if name == "" {
		name = "*"
	}
	specs, outs, err := b.specs(oppackage.Package{Name: name, Files: []string{"src/*.cpp", "src/ops/*.cpp"}})
	if err != nil {
		return step.Planned{}, hcl.Diagnostics{r.Errorf("Op package cannot be planned", "%v.", err)}
	}
	return step.Planned{
		Specs: specs, Outputs: outs, Await: b.inputs,
		Expand:  func(l step.Listing) ([]action.Spec, map[string]action.Artifact, error) { return b.expand(l) },
		Explain: func(_ string, output []byte) []string { return oppackage.Diagnose(string(output)) },
	}, diags
}

// tools returns the version of the Hexagon tools, and what is wrong with it for the arches.
func tools(r step.Request, arches []oppackage.Arch) (string, hcl.Diagnostics) {
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

// expand makes the specs from the listing of the source.
func (b build) expand(l step.Listing) ([]action.Spec, map[string]action.Artifact, error) {
	files := listed(b.source, l)
	name, err := oppackage.FindName(b.name, files)
	if err != nil {
		return nil, nil, err
	}
	p := oppackage.Package{Name: name, Files: files}
	if err := p.Validate(); err != nil {
		return nil, nil, err
	}
	return b.specs(p)
}

func (b build) specs(p oppackage.Package) ([]action.Spec, map[string]action.Artifact, error) {
	p.Dir, p.Build, p.HVX = b.source, path.Join(b.at.Dir(), "build"), b.hvx
	headers := oppackage.Headers(p.Files)
	var specs []action.Spec
	var all []oppackage.Compile
	dir := action.Artifact{Class: action.Tree}
	outs := map[string]action.Artifact{}
	for _, a := range b.arches {
		compiles, link := oppackage.Lines(a, p, b.roots)
		all = append(all, compiles...)
		linkSpec := action.Spec{
			Name: a.Target + "/" + oppackage.Library(p.Name), Description: "link " + oppackage.Library(p.Name) + " for " + a.Target,
			Args: link.Args, Env: b.environ(), Inputs: b.toolchains[a.Target], Outputs: []action.Output{{Path: link.Library}},
		}
		linkSpec.Inputs = append([]action.Input(nil), linkSpec.Inputs...)
		for _, c := range compiles {
			rel := strings.TrimPrefix(c.Source, b.source+"/")
			name := a.Target + "/" + strings.TrimPrefix(c.Object, path.Join(p.Build, a.Folder)+"/")
			spec := action.Spec{
				Name: name, Description: "compile " + rel + " for " + a.Target,
				Args: c.Args, Env: b.environ(), Outputs: []action.Output{{Path: c.Object}},
			}
			for _, f := range append([]string{rel}, headers...) {
				in, err := b.file(f)
				if err != nil {
					return nil, nil, err
				}
				spec.Inputs = append(spec.Inputs, in)
			}
			spec.Inputs = append(spec.Inputs, b.toolchains[a.Target]...)
			specs = append(specs, spec)
			linkSpec.Inputs = append(linkSpec.Inputs, action.Input{Path: c.Object, Spec: &action.SpecOutput{Spec: name, Path: c.Object}})
		}
		specs = append(specs, linkSpec)
		made := &action.SpecOutput{Spec: linkSpec.Name, Path: link.Library}
		outs[a.Target] = action.Artifact{Class: action.File, Parts: []action.Input{{Spec: made}}}
		dir.Parts = append(dir.Parts, action.Input{Path: a.Target + "/" + oppackage.Library(p.Name), Spec: made})
	}
	commands, err := oppackage.CompileCommands(".", all)
	if err != nil {
		return nil, nil, fmt.Errorf("compile_commands.json: %w", err)
	}
	outs["dir"] = dir
	outs["compile_commands"] = action.Artifact{Class: action.File, Parts: []action.Input{{Content: &action.Content{Data: commands}}}}
	return specs, outs, nil
}

// file returns the input that is one file of the source.
func (b build) file(rel string) (action.Input, error) {
	return from(b.inputs, path.Join(b.source, rel))
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
func listed(source string, l step.Listing) []string {
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
func (b build) environ() map[string]string {
	env := map[string]string{"LC_ALL": "C"}
	for k, v := range b.env {
		env[k] = v
	}
	return env
}
