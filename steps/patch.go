package steps

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/patches"
)

// Patch is the kind "patch".
type Patch struct{}

// include is where a QAIRT SDK has its headers.
const include = "include/QNN"

// Schema returns the arguments and outputs.
func (Patch) Schema() step.Schema {
	return step.Schema{
		Summary: "Patch and rename in other people's sources so that they build with the SDK.",
		Args: hcldec.ObjectSpec{
			"source": &hcldec.AttrSpec{Name: "source", Type: cty.String, Required: true},
			"series": &hcldec.AttrSpec{Name: "series", Type: cty.String, Required: true},
			"sdk":    &hcldec.AttrSpec{Name: "sdk", Type: cty.DynamicPseudoType},
		},
		ArgDocs: map[string]string{
			"source": "Folder of the sources: an output of another step, or a folder of the workspace. It is copied, not changed.",
			"series": "Name of a patch series that comes with hexmage (mllm), or a folder of the workspace (with a / in its path).",
			"sdk":    "The QAIRT toolchain whose headers say what is needed. Default: toolchain.qairt.",
		},
		Outputs: []step.OutputSpec{
			{Name: "dir", Class: action.Tree, Doc: "The patched copy."},
			{Name: "report", Class: action.File, Doc: "What was done, in JSON: each patch, each rename and edit with its places."},
		},
		Toolchains: []string{"qairt"},
	}
}

// Plan makes the one action.
func (Patch) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	sdk, diag := sdkOf(r)
	if diag != nil {
		return step.Planned{}, hcl.Diagnostics{diag}
	}
	source, inputs := r.Place("source")
	headers := path.Join(sdk.Path(), include)
	inputs = append(inputs, action.Input{Path: headers, Artifact: &sdk, Sub: include})
	series, seriesInputs, err := seriesOf(r)
	if err != nil {
		return step.Planned{}, hcl.Diagnostics{r.ArgErrorf("series", "Unknown patch series", "%v.", err)}
	}
	inputs = append(inputs, seriesInputs...)

	dir := addrs.Output{Instance: r.At, Name: "dir"}.Path()
	report := addrs.Output{Instance: r.At, Name: "report"}.Path()
	args, platform := step.FlagTool(patches.ToolName, patches.ToolVersion,
		"--source", source, "--sdk-include", headers, "--series", series, "--out", dir, "--report", report)
	return step.Planned{
		Specs: []action.Spec{{
			Description: "patch " + source, Args: args, Env: r.Env, Platform: platform, Inputs: step.Unique(inputs),
			Outputs: []action.Output{{Path: dir, Tree: true}, {Path: report}},
		}},
		Outputs: map[string]action.Artifact{
			"dir":    {Class: action.Tree, Parts: []action.Input{{Spec: &action.SpecOutput{Path: dir}}}},
			"report": {Class: action.File, Parts: []action.Input{{Spec: &action.SpecOutput{Path: report}}}},
		},
	}, nil
}

// sdkOf returns the toolchain whose headers are probed.
func sdkOf(r step.Request) (addrs.Output, *hcl.Diagnostic) {
	for _, o := range r.Used("sdk") {
		if o.Kind == addrs.Toolchain {
			return o, nil
		}
	}
	if r.Args.Type().HasAttribute("sdk") && !r.Args.GetAttr("sdk").IsNull() {
		return addrs.Output{}, r.Errorf("Not a toolchain", "sdk of %s is to be a toolchain, such as toolchain.qairt.", r.At)
	}
	t, diag := r.Toolchain("qairt")
	return t.Output, diag
}

// seriesOf returns the series as the tool's argument, and its files as inputs: so the rules are part of the action's key,
// also those that come with hexmage.
func seriesOf(r step.Request) (string, []action.Input, error) {
	name := r.String("series")
	if strings.Contains(name, "/") {
		at, inputs := r.Place("series")
		return path.Base(at) + "=" + at, inputs, nil
	}
	fsys, err := patches.Shipped(name)
	if err != nil {
		return "", nil, err
	}
	at := "in/series/" + name
	var inputs []action.Input
	err = fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, p)
		inputs = append(inputs, action.Input{Path: path.Join(at, p), Content: &action.Content{Data: data}})
		return err
	})
	if err != nil {
		return "", nil, fmt.Errorf("patch series %s: %w", name, err)
	}
	return name + "=" + at, inputs, nil
}
