package opstep

import (
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

// Makefile is the kind "makefile".
type Makefile struct{}

// Schema returns the arguments and outputs.
func (Makefile) Schema() step.Schema {
	return step.Schema{
		Summary: "Write a standalone Makefile for an op package, beside a copy of its sources.",
		Args: hcldec.ObjectSpec{
			"source":  &hcldec.AttrSpec{Name: "source", Type: cty.String, Required: true},
			"targets": &hcldec.AttrSpec{Name: "targets", Type: cty.List(cty.String)},
			"package": &hcldec.AttrSpec{Name: "package", Type: cty.String},
			"hvx":     &hcldec.AttrSpec{Name: "hvx", Type: cty.String},
		},
		ArgDocs: map[string]string{
			"source":  "Folder of the package: an output of another step, or a folder of the workspace.",
			"targets": "Targets of the Makefile. Default: all that are known.",
			"package": "Name of the package. Default: X of src/XInterface.cpp.",
			"hvx":     "The Makefile's default of its variable HVX: an HVX version, such as v66, or compiler flags.",
		},
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
	env    map[string]string
}

// Plan leaves the rest to Expand. The action reads no file: of the source only names matter, so an edited op writes no
// Makefile again.
func (Makefile) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	m := maker{at: r.At, name: r.String("package"), env: r.Env}
	if err := oppackage.CheckHVX(r.String("hvx")); err != nil {
		return step.Planned{}, hcl.Diagnostics{r.ArgErrorf("hvx", "Unknown HVX version", "%v.", err)}
	}
	m.source, m.inputs = r.Place("source")
	if len(m.inputs) == 0 {
		return step.Planned{}, hcl.Diagnostics{r.ArgErrorf("source", "No sources", "source of %s is empty.", r.At)}
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
func (m maker) expand(l step.Listing) ([]action.Spec, map[string]action.Artifact, error) {
	files := listed(m.source, l)
	name, err := oppackage.FindName(m.name, files)
	if err != nil {
		return nil, nil, err
	}
	return m.specs(name, files)
}

const makefileName = "Makefile"

// specs makes the action, and the output: the source with the Makefile put in.
func (m maker) specs(name string, files []string) ([]action.Spec, map[string]action.Artifact, error) {
	at := addrs.Output{Instance: m.at, Name: "dir"}.Path()
	argv, platform := step.Tool(oppackage.ToolName, oppackage.ToolVersion, append([]string{"--package", name, "--out", at}, m.args...)...)
	made := path.Join(at, makefileName)
	spec := action.Spec{
		Description: "write the Makefile", Args: argv, Env: m.env, Platform: platform, Outputs: []action.Output{{Path: made}},
	}
	parts, err := m.sources(files)
	if err != nil {
		return nil, nil, err
	}
	parts = append(parts, action.Input{Path: makefileName, Spec: &action.SpecOutput{Path: made}})
	return []action.Spec{spec}, map[string]action.Artifact{"dir": {Class: action.Tree, Parts: parts}}, nil
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
