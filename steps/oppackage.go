package steps

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/oppackage"
)

// Package is the kind "oppackage".
type Package struct{}

// Schema returns the arguments and outputs.
func (Package) Schema() step.Schema {
	return step.Schema{
		Summary: "Build a QNN HTP op package: every source for every target, then a library for each target.",
		Args: withExtras(hcldec.ObjectSpec{
			"source":        &hcldec.AttrSpec{Name: "source", Type: cty.String, Required: true},
			"targets":       &hcldec.AttrSpec{Name: "targets", Type: cty.List(cty.String), Required: true},
			"package":       &hcldec.AttrSpec{Name: "package", Type: cty.String},
			"hvx":           &hcldec.AttrSpec{Name: "hvx", Type: cty.String},
			"tools_version": &hcldec.AttrSpec{Name: "tools_version", Type: cty.String},
			"host_cxx":      &hcldec.AttrSpec{Name: "host_cxx", Type: cty.String},
			"config":        &hcldec.AttrSpec{Name: "config", Type: cty.String},
			"provider":      &hcldec.AttrSpec{Name: "provider", Type: cty.String},
		}),
		ArgDocs: withExtraDocs(map[string]string{
			"source":        "Folder of the package (src/*.cpp, src/ops/*.cpp): an output of another step, or a folder of the workspace.",
			"targets":       "What to build for: htp_aarch64, htp_v79, …; each is also the name of an output, its library.",
			"package":       "Name of the package. Default: X of src/XInterface.cpp.",
			"hvx":           "HVX version that ops may use, such as v66, or compiler flags. Default: that of the target.",
			"tools_version": "Version of the Hexagon tools, a folder of the SDK's tools/HEXAGON_Tools. Default: toolchain.hexagon's.",
			"host_cxx":      "The host's C++ compiler, for htp_x86. Default: clang++.",
			"config":        "Path of the op config in the package; \"\" is none. Libraries are to have its ops; a package without src/*.cpp gets an interface made from it. Default: the one in config/, or the one there that says HTP.",
			"provider":      "The symbol by which backends know the library. Default: <package>InterfaceProvider.",
		}),
		Outputs: []step.OutputSpec{
			{Name: "dir", Class: action.Tree, Doc: "<target>/libQnn<package>.so for each target."},
			{Name: "device", Class: action.Tree, Doc: "As a phone wants them: libQnn<package>_CPU.so and _HTP.so in a folder for each Hexagon arch (v79/…), for a phone with that arch."},
			{Name: "report", Class: action.Tree, Doc: "<target>.txt and .json: symbols, sizes, imports, build ids of each library."},
			{Name: "compile_commands", Class: action.File, Doc: "compile_commands.json of all compilations, as seen from the exec root."},
		},
		OutputsFrom: "targets",
		Toolchains:  []string{"qairt", "hexagon", "ndk", "llvm"},
	}
}

// Plan checks what can be checked without the sources, and leaves the rest to Expand.
func (Package) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	b, diags := newBuild(r, r.Strings("targets"), "targets", oppackage.HVXFlags(r.String("hvx")))
	if diags.HasErrors() {
		return step.Planned{}, diags
	}
	b.provider = r.String("provider")
	b.config, b.configSet = r.String("config"), argSet(r, "config")
	specs, outs, err := b.specs(b.preview())
	if err != nil {
		return step.Planned{}, hcl.Diagnostics{r.Errorf("Op package cannot be planned", "%v.", err)}
	}
	return step.Planned{
		Specs: specs, Outputs: outs, Await: b.inputs, Expand: b.expand,
		Explain: func(spec string, output []byte) []string { return oppackage.Explain(spec, string(output)) },
	}, diags
}

// argSet says whether an argument is set, to "" perhaps.
func argSet(r step.Request, name string) bool {
	return !r.Args.IsNull() && r.Args.Type().HasAttribute(name) && !r.Args.GetAttr(name).IsNull()
}
