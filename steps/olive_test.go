package steps_test

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
)

const oliveRecipe = `{"input_model": {"type": "ONNXModel", "model_path": "elsewhere.onnx"}, "data_configs": [{"name": "seen", "type": "RawDataContainer"}], "passes": {
"z": {"type": "OnnxPeepholeOptimizer"}, "a": {"type": "OnnxStaticQuantization", "data_config": "seen"}, "cb": {"type": "EPContextBinaryGenerator"}}}`

// planOlive plans a step olive of a workspace with one recipe, and gives what is wrong.
func planOlive(t *testing.T, recipe string, args map[string]cty.Value) (step.Planned, string) {
	t.Helper()
	all := map[string]cty.Value{"recipe": cty.StringVal("recipe.json"), "model": cty.StringVal("models/net.onnx")}
	for name, v := range args {
		all[name] = v
	}
	files := fstest.MapFS{"recipe.json": {Data: []byte(recipe)}}
	p, diags := table()["olive"].Plan(step.Request{At: addrs.Instance{Step: addrs.Step{Kind: "olive", Name: "x"}}, Args: all,
		Open: func(name string) (fs.File, error) { return files.Open(name) }, Toolchains: map[string]step.Toolchain{"olive": compatToolchain("olive", "0.13.0", "python")}})
	var said []string
	for _, d := range diags {
		said = append(said, d.Detail)
	}
	return p, strings.Join(said, "\n")
}

// TestOlivePlan: an action for each pass in the recipe's order, which takes what the one before it left and nothing else of the recipe, so that another pass changed is not its change.
func TestOlivePlan(t *testing.T) {
	samples := map[string]cty.Value{"data": cty.MapVal(map[string]cty.Value{"seen": cty.StringVal("raw")})}
	p, said := planOlive(t, oliveRecipe, samples)
	if said != "" {
		t.Fatal(said)
	}
	var order []string
	takes := map[string][]string{}
	for _, s := range p.Specs {
		order = append(order, s.Name)
		for _, in := range s.Inputs {
			switch {
			case in.Spec != nil:
				takes[s.Name] = append(takes[s.Name], "from "+in.Spec.Spec)
			case in.Host != nil:
				takes[s.Name] = append(takes[s.Name], in.Host.Path)
			}
		}
		if s.Name != "table" && (s.Env["OLIVE_DISABLE_TELEMETRY"] != "1" || s.Env["CI"] != "1" || s.Env["HF_HUB_OFFLINE"] != "1") {
			t.Errorf("%s: %v", s.Name, s.Env)
		}
	}
	if d := cmp.Diff([]string{"z", "a", "table"}, order); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string][]string{"z": {"models/net.onnx"}, "a": {"from z", "raw"}, "table": {"from z", "from a"}}, takes); d != "" {
		t.Error(d)
	}
	if out := p.Outputs["dir"]; len(out.Parts) != 1 || out.Parts[0].Spec.Spec != "a" {
		t.Errorf("%+v", out)
	}

	changed, said := planOlive(t, strings.Replace(oliveRecipe, `"data_config": "seen"`, `"data_config": "seen", "per_channel": true`, 1), samples)
	if said != "" {
		t.Fatal(said)
	}
	for i, s := range changed.Specs[:2] {
		if same := told(t, s) == told(t, p.Specs[i]); same != (s.Name == "z") {
			t.Errorf("%s: the same is %v", s.Name, same)
		}
	}
}

// told is what an action's program is told.
func told(t *testing.T, s action.Spec) string {
	t.Helper()
	for _, in := range s.Inputs {
		if in.Path == "args.json" {
			if !json.Valid(in.Content.Data) {
				t.Errorf("%s", in.Content.Data)
			}
			return string(in.Content.Data)
		}
	}
	t.Fatalf("%s is told nothing", s.Name)
	return ""
}

// TestOliveRefuses: before anything runs, with the recipe, the pass and what to do.
func TestOliveRefuses(t *testing.T) {
	for name, x := range map[string]struct {
		recipe string
		args   map[string]cty.Value
		want   []string
	}{
		"no samples":      {oliveRecipe, nil, []string{"recipe.json: pass a (OnnxStaticQuantization)", "data_config seen", "no pass reaches the network", "data = { seen ="}},
		"samples for not": {oliveRecipe, map[string]cty.Value{"data": cty.MapVal(map[string]cty.Value{"seen": cty.StringVal("raw"), "sene": cty.StringVal("raw")})}, []string{"no pass takes a data_config sene"}},
		"a GPU":           {strings.Replace(oliveRecipe, "OnnxPeepholeOptimizer", "GptqModel", 1), nil, []string{"recipe.json:\npass z (GptqModel): it wants a CUDA GPU"}},
		"no recipe":       {oliveRecipe, map[string]cty.Value{"recipe": cty.StringVal("none.json")}, []string{"none.json cannot be read"}},
	} {
		_, said := planOlive(t, x.recipe, x.args)
		for _, w := range x.want {
			if !strings.Contains(said, w) {
				t.Errorf("%s: %q\nwant %q", name, said, w)
			}
		}
	}
}
