package steps_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
)

// planOf plans a step of a kind, with environments of Python's by name, and gives what it says is wrong.
func planOf(t *testing.T, kind string, args map[string]cty.Value, environments ...string) (step.Planned, string) {
	t.Helper()
	tools := map[string]step.Toolchain{}
	for _, name := range environments {
		tools[name] = compatToolchain(name, "1", "python")
	}
	p, diags := fetchWorkspace(t).Kinds()[kind].Plan(step.Request{At: addrs.Instance{Step: addrs.Step{Kind: kind, Name: "x"}}, Args: args, Toolchains: tools})
	var said []string
	for _, d := range diags {
		said = append(said, d.Detail)
	}
	return p, strings.Join(said, "\n")
}

// told returns the arguments that an action gives its program.
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
	t.Fatalf("%s gives its program no arguments", s.Name)
	return ""
}

// arguments are what an action's program is told.
func arguments(t *testing.T, s action.Spec) map[string]any {
	t.Helper()
	var got map[string]any
	if err := json.Unmarshal([]byte(told(t, s)), &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// TestForeignQuantisers: what graphs are given is taken in the environment that knows tokens, and quantising happens in the quantiser's own, with nothing of the first.
func TestForeignQuantisers(t *testing.T) {
	for kind, environment := range map[string]string{"aimet_quantize": "aimet"} {
		p, said := planOf(t, kind, map[string]cty.Value{"graphs": cty.StringVal("net"), "samples": cty.NumberIntVal(3)}, "onnx", environment)
		if said != "" || len(p.Specs) != 2 {
			t.Fatalf("%s: %q, %d actions", kind, said, len(p.Specs))
		}
		for i, want := range []string{"onnx", environment} {
			s := p.Specs[i]
			if !strings.Contains(s.Args[0], want+"/bin/python3") && !strings.HasPrefix(s.Args[0], "toolchains/"+want) {
				t.Errorf("%s: action %d is %q", kind, i, s.Args)
			}
			has := func(name string) bool {
				return slices.ContainsFunc(s.Inputs, func(in action.Input) bool { return in.Path == "programs/"+name })
			}
			if i == 1 && (has("tokens.py") || has("calibrate.py") || !has("foreign.py")) {
				t.Errorf("%s has programs that are not its own: %+v", kind, s.Inputs)
			}
		}
		if got := arguments(t, p.Specs[0]); got["samples"] != 3. || got["calibration"] != "calibration.txt" {
			t.Errorf("%s: %v", kind, got)
		}
	}
}

// TestTwinsOfAccuracy: twins are compared with something.
func TestTwinsOfAccuracy(t *testing.T) {
	one := cty.MapVal(map[string]cty.Value{"a": cty.StringVal("a")})
	args := map[string]cty.Value{"reference": cty.StringVal("r"), "outputs": one, "twins": one}
	if _, said := planOf(t, "accuracy", args, "onnx"); !strings.Contains(said, "give both, or neither") {
		t.Error(said)
	}
	args["twin"] = cty.StringVal("f")
	if _, said := planOf(t, "accuracy", args, "onnx"); said != "" {
		t.Error(said)
	}
	args["on_cpu"] = cty.MapVal(map[string]cty.Value{"b": cty.StringVal("b")})
	if _, said := planOf(t, "accuracy", args, "onnx"); !strings.Contains(said, `on_cpu has "b", and outputs has not`) {
		t.Error(said)
	}
}
