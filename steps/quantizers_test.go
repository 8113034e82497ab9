package steps_test

import (
	"encoding/json"
	"maps"
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

// TestQuantizeMethods: a quantizer with an environment of its own gets samples that the environment onnx collects, and none of its programs. An
// argument that the method ignores is rejected.
func TestQuantizeMethods(t *testing.T) {
	args := func(method string, more map[string]cty.Value) map[string]cty.Value {
		all := map[string]cty.Value{"graphs": cty.StringVal("net"), "samples": cty.NumberIntVal(3), "method": cty.StringVal(method)}
		maps.Copy(all, more)
		return all
	}
	for _, method := range []string{"aimet", "quark"} {
		p, said := planOf(t, "onnx_quantize", args(method, nil), "onnx", method)
		if said != "" || len(p.Specs) != 2 {
			t.Fatalf("%s: %q, %d actions", method, said, len(p.Specs))
		}
		for i, want := range []string{"onnx", method} {
			s := p.Specs[i]
			if !strings.HasPrefix(s.Args[0], "toolchains/"+want) {
				t.Errorf("%s: action %d is %q", method, i, s.Args)
			}
			has := func(name string) bool {
				return slices.ContainsFunc(s.Inputs, func(in action.Input) bool { return in.Path == "programs/"+name })
			}
			if i == 1 && (has("tokens.py") || has("calibrate.py") || !has("foreign.py")) {
				t.Errorf("%s has programs that are not its own: %+v", method, s.Inputs)
			}
		}
		if got := arguments(t, p.Specs[0]); got["samples"] != 3. || got["calibration"] != "calibration.txt" {
			t.Errorf("%s: %v", method, got)
		}
		if has := len(p.Outputs["encodings"].Parts) == 1; has != (method == "aimet") {
			t.Errorf("%s: encodings: %v", method, p.Outputs)
		}
	}
	for method, more := range map[string]map[string]cty.Value{
		"a16w4":       {"aimet_config": cty.StringVal("default")},
		"a16w8":       {"high_precision_layers": cty.TupleVal([]cty.Value{cty.StringVal("0")})},
		"aimet":       {"symmetric": cty.True},
		"lpbq":        {"activation_bits": cty.NumberIntVal(8)},
		"mobilequant": {"block_size": cty.NumberIntVal(64)},
		"ort":         {"kv": cty.StringVal("uint8")},
		"quark":       {"ranges": cty.StringVal("tf_enhanced")},
	} {
		if _, said := planOf(t, "onnx_quantize", args(method, more), "onnx", "aimet", "quark"); !strings.Contains(said, "method \""+method+"\" ignores ") {
			t.Errorf("%s: %q", method, said)
		}
	}
	for method, want := range map[string]any{"lpbq": 32., "a16w8": nil} {
		if p, said := planOf(t, "onnx_quantize", args(method, nil), "onnx"); said != "" || arguments(t, p.Specs[0])["block_size"] != want {
			t.Errorf("%s: %q, %v", method, said, p.Specs)
		}
	}
}

// TestTruncatedOutputs: outputs of truncated models need a reference.
func TestTruncatedOutputs(t *testing.T) {
	one := cty.MapVal(map[string]cty.Value{"a": cty.StringVal("a")})
	args := map[string]cty.Value{"reference": cty.StringVal("r"), "outputs": one, "truncated_outputs": one}
	if _, said := planOf(t, "accuracy", args, "onnx"); !strings.Contains(said, "Set both or neither") {
		t.Error(said)
	}
	args["truncated_reference"] = cty.StringVal("f")
	if _, said := planOf(t, "accuracy", args, "onnx"); said != "" {
		t.Error(said)
	}
	args["cpu_outputs"] = cty.MapVal(map[string]cty.Value{"b": cty.StringVal("b")})
	if _, said := planOf(t, "accuracy", args, "onnx"); !strings.Contains(said, `cpu_outputs: "b" is missing from outputs`) {
		t.Error(said)
	}
}
