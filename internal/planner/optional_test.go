package planner_test

import (
	"os"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"
	"golang.org/x/tools/txtar"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/config"
	"github.com/hexmage/hexmage/internal/planner"
	"github.com/hexmage/hexmage/internal/step"
)

// sometimes has output a, and output b if the step says both = true.
type sometimes struct{}

func (sometimes) Schema() step.Schema {
	return step.Schema{
		Args: hcldec.ObjectSpec{"both": &hcldec.AttrSpec{Name: "both", Type: cty.Bool},
			"later": &hcldec.AttrSpec{Name: "later", Type: cty.Bool}},
		Outputs: []step.OutputSpec{{Name: "a"}, {Name: "b", Optional: true}},
	}
}

func (sometimes) Plan(r step.Request) (step.Planned, hcl.Diagnostics) {
	file := action.Artifact{Parts: []action.Input{{Spec: &action.SpecOutput{Path: "f"}}}}
	p := step.Planned{Specs: []action.Spec{{Args: []string{"make"}, Outputs: []action.Output{{Path: "f"}}}},
		Outputs: map[string]action.Artifact{"a": file}}
	if v := r.Args["both"]; v != cty.NilVal && v.True() {
		p.Outputs["b"] = file
	}
	if v := r.Args["later"]; v != cty.NilVal && v.True() { // what it planned so far is a preview
		p.Expand = func(action.Listing) ([]action.Spec, map[string]action.Artifact, error) {
			return p.Specs, p.Outputs, nil
		}
	}
	return p, nil
}

// TestOptionalOutput: an optional output that a step does not plan is null.
func TestOptionalOutput(t *testing.T) {
	a := txtar.Parse([]byte(`-- pipelines/p.hcl --
step "sometimes" "one" {}
step "sometimes" "two" { both = true }
step "sometimes" "three" { later = true }
output "one" { value = step.sometimes.one.outputs.b == null ? step.sometimes.one.outputs.a : "never" }
output "two" { value = step.sometimes.two.outputs.b }
output "three" { value = step.sometimes.three.outputs.b == null ? step.sometimes.three.outputs.a : "never" }
`))
	o := unpack(t, a)
	o.Kinds["sometimes"] = sometimes{}
	var diags hcl.Diagnostics
	o.Config, diags = config.Load(os.DirFS(o.Workspace), "p", nil)
	p, _, ds := planner.Plan(o)
	if diags = append(diags, ds...); diags.HasErrors() {
		t.Fatal(diags)
	}
	got := map[string]string{}
	for _, out := range p.Outputs {
		if out.Artifact.Artifact != nil {
			got[out.Name] = out.Artifact.Artifact.Name
		}
	}
	if got["one"] != "a" || got["two"] != "b" || got["three"] != "a" {
		t.Errorf("outputs %v, want one and three from a, and two from b", got)
	}
}
