package opstep

import (
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

// Plan makes the one action.
func (Makefile) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	source, inputs := r.Place("source")
	dir := addrs.Output{Instance: r.At, Name: "dir"}.Path()
	args := []string{"--source", source, "--out", dir}
	if targets := r.Strings("targets"); len(targets) > 0 {
		if _, err := oppackage.Select(targets); err != nil {
			return step.Planned{}, hcl.Diagnostics{r.Errorf("Unknown target", "%v.", err)}
		}
		args = append(args, "--targets", strings.Join(targets, ","))
	}
	if name := r.String("package"); name != "" {
		if err := oppackage.ValidateName(name); err != nil {
			return step.Planned{}, hcl.Diagnostics{r.Errorf("Not the name of an op package", "%v.", err)}
		}
		args = append(args, "--package", name)
	}
	if hvx := r.String("hvx"); hvx != "" {
		args = append(args, "--hvx", hvx)
	}
	argv, platform := step.Tool(oppackage.ToolName, oppackage.ToolVersion, args...)
	return step.Planned{
		Specs: []action.Spec{{
			Description: "write the Makefile", Args: argv, Env: r.Env, Platform: platform,
			Inputs: inputs, Outputs: []action.Output{{Path: dir, Tree: true}},
		}},
		Outputs: map[string]action.Artifact{"dir": {Class: action.Tree, Parts: []action.Input{{Spec: &action.SpecOutput{Path: dir}}}}},
	}, nil
}
