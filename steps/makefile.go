package steps

import (
	"encoding/json"
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
	"github.com/hexmage/hexmage/oppackage/opconfig"
)

// Makefile is the kind "makefile".
type Makefile struct{}

// Schema returns the arguments and outputs.
func (Makefile) Schema() step.Schema {
	return step.Schema{
		Summary: "Write a standalone Makefile for an op package, beside a copy of its sources.",
		Args: withExtras(hcldec.ObjectSpec{
			"source":  &hcldec.AttrSpec{Name: "source", Type: cty.String, Required: true},
			"targets": &hcldec.AttrSpec{Name: "targets", Type: cty.List(cty.String)},
			"package": &hcldec.AttrSpec{Name: "package", Type: cty.String},
			"hvx":     &hcldec.AttrSpec{Name: "hvx", Type: cty.String},
			"config":  &hcldec.AttrSpec{Name: "config", Type: cty.String},
		}),
		ArgDocs: withExtraDocs(map[string]string{
			"source":  "Folder of the package: an output of another step, or a folder of the workspace.",
			"targets": "Targets of the Makefile. Default: all that are known.",
			"package": "Name of the package. Default: X of src/XInterface.cpp.",
			"hvx":     "The Makefile's default of its variable HVX: an HVX version, such as v66, or compiler flags.",
			"config":  "Path of the op config in the package, for the interface of one without src/*.cpp. Default: the one in config/, or the one there that says HTP.",
		}),
		Outputs: []step.OutputSpec{{Name: "dir", Class: action.Tree, Doc: "The package's files with the Makefile; make works in it."}},
	}
}

// maker is a step of the kind, planned as far as it can be without the source.
type maker struct {
	at     addrs.Instance
	name   string // "" is to be found
	source string // path in the exec root
	inputs []action.Input
	args   []string // what the tool is told beside the name and the place
	config string   // path in the package; "" is to be found
	extras []oppackage.Extra
	env    map[string]string
}

// Plan leaves the rest to Expand. The action reads no file: of the source only names matter, so an edited op writes no
// Makefile again.
func (Makefile) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	m := maker{at: r.At, name: r.String("package"), config: r.String("config"), env: r.Env}
	if err := oppackage.CheckHVX(r.String("hvx")); err != nil {
		return step.Planned{}, hcl.Diagnostics{r.ArgErrorf("hvx", "Unknown HVX version", "%v.", err)}
	}
	m.source, m.inputs = r.Place("source")
	if len(m.inputs) == 0 {
		return step.Planned{}, hcl.Diagnostics{r.ArgErrorf("source", "No sources", "source of %s is empty.", r.At)}
	}
	var diags hcl.Diagnostics
	if m.extras, _, diags = extras(r); diags.HasErrors() {
		return step.Planned{}, diags
	}
	if targets := r.Strings("targets"); len(targets) > 0 {
		if _, err := oppackage.Select(targets); err != nil {
			return step.Planned{}, hcl.Diagnostics{r.ArgErrorf("targets", "Unknown target", "%v.", err)}
		}
		m.args = append(m.args, "--targets", strings.Join(targets, ","))
	}
	if m.name != "" {
		if err := oppackage.ValidateName(m.name); err != nil {
			return step.Planned{}, hcl.Diagnostics{r.ArgErrorf("package", "Not the name of an op package", "%v.", err)}
		}
	}
	if hvx := r.String("hvx"); hvx != "" {
		m.args = append(m.args, "--hvx", hvx)
	}
	name := m.name
	if name == "" {
		name = "*"
	}
	specs, outs, err := m.specs(name, nil)
	if err != nil {
		return step.Planned{}, hcl.Diagnostics{r.Errorf("Makefile cannot be planned", "%v.", err)}
	}
	return step.Planned{Specs: specs, Outputs: outs, Await: m.inputs, Expand: m.expand}, nil
}

// expand makes the action from the listing of the source.
func (m maker) expand(l action.Listing) ([]action.Spec, map[string]action.Artifact, error) {
	files := listed(m.source, l)
	if m.config == "" {
		var err error
		if m.config, err = opconfig.File(files); err != nil {
			return nil, nil, err
		}
	}
	name, err := oppackage.FindName(m.name, files)
	if err != nil {
		return nil, nil, err
	}
	return m.specs(name, files)
}

const makefileName = "Makefile"

// specs makes the actions, and the output: the source with the Makefile put in.
func (m maker) specs(name string, files []string) ([]action.Spec, map[string]action.Artifact, error) {
	at := addrs.Output{Instance: m.at, Name: "dir"}.Path()
	args := append([]string{"--package", name, "--out", at}, m.args...)
	if len(m.extras) > 0 {
		exact, err := json.Marshal(oppackage.Package{Name: name, Files: files, Extras: m.extras}.Exact())
		if err != nil {
			return nil, nil, err
		}
		args = append(args, "--extras", string(exact))
	}
	argv, platform := step.FlagTool(oppackage.ToolName, oppackage.ToolVersion, args...)
	made := path.Join(at, makefileName)
	spec := action.Spec{
		Name: makefileName, Description: "write the Makefile", Args: argv, Env: m.env, Platform: platform, Outputs: []action.Output{{Path: made}},
	}
	parts, err := m.sources(files)
	if err != nil {
		return nil, nil, err
	}
	parts = append(parts, action.Input{Path: makefileName, Spec: &action.SpecOutput{Spec: spec.Name, Path: made}})
	specs := []action.Spec{spec}
	if m.config != "" && files != nil && !oppackage.HasInterface(files) {
		source := "src/" + name + "Interface.cpp"
		b := &build{at: m.at, config: m.config, source: m.source, inputs: m.inputs, env: m.env}
		p := oppackage.Package{Name: name, Interface: path.Join(at, source)}
		written, err := b.interfaceSpec(p)
		if err != nil {
			return nil, nil, err
		}
		specs = append(specs, written)
		parts = append(parts, action.Input{Path: source, Spec: &action.SpecOutput{Spec: written.Name, Path: p.Interface}})
	}
	return specs, map[string]action.Artifact{"dir": {Class: action.Tree, Parts: parts}}, nil
}

// sources returns the whole source, or all in it but the package's own Makefile, in the place of which ours goes.
func (m maker) sources(files []string) ([]action.Input, error) {
	rels := []string{""}
	if slices.Contains(files, makefileName) {
		rels = nil
		for _, f := range files {
			if top, _, _ := strings.Cut(f, "/"); top != makefileName && !slices.Contains(rels, top) {
				rels = append(rels, top)
			}
		}
	}
	var parts []action.Input
	for _, rel := range rels {
		in, err := from(m.inputs, path.Join(m.source, rel))
		if err != nil {
			return nil, err
		}
		in.Path = rel
		parts = append(parts, in)
	}
	return parts, nil
}
