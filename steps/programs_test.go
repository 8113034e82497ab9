package steps_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/model/placement"
)

// TestHTPContextPlan: what htp_context asks for, and what it refuses before anything runs.
func TestHTPContextPlan(t *testing.T) {
	w := fetchWorkspace(t)
	k := w.Kinds()["htp_context"]
	target, diags := w.Catalog().Target("SM8750", nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	plan := func(release string, args map[string]cty.Value) (step.Planned, string) {
		all := map[string]cty.Value{"graphs": cty.StringVal("net.onnx")}
		for name, v := range args {
			all[name] = v
		}
		tools := map[string]step.Toolchain{}
		for _, name := range []string{"onnx", "htp_host", "gnu_runtime"} {
			tools[name] = compatToolchain(name, release, "pypi")
		}
		p, diags := k.Plan(step.Request{At: addrs.Instance{Step: addrs.Step{Kind: "htp_context", Name: "x"}}, Args: all, Target: target, Toolchains: tools})
		var said []string
		for _, d := range diags {
			said = append(said, d.Detail)
		}
		return p, strings.Join(said, "\n")
	}
	for name, x := range map[string]struct {
		release string
		args    map[string]cty.Value
		want    string
	}{
		"one":             {"2.7.0", map[string]cty.Value{"socs": texts("SM8750")}, "socs has only SM8750"},
		"twice":           {"2.7.0", map[string]cty.Value{"socs": texts("SM8750", "sm8750")}, "SM8750 appears twice"},
		"not the target":  {"2.7.0", map[string]cty.Value{"socs": texts("SM8550", "SM8650")}, "socs lacks the target SM8750"},
		"unknown":         {"2.7.0", map[string]cty.Value{"socs": texts("SM8750", "SM9999")}, `"SM9999" is not in the catalog`},
		"an old release":  {"2.4.0", map[string]cty.Value{"socs": texts("SM8750", "SM8550")}, "2.4.0 cannot write one file for several SoCs. Use 2.7.0 or newer"},
		"VTCM":            {"2.7.0", map[string]cty.Value{"vtcm_mb": cty.NumberIntVal(16)}, "SM8750 has 8 MB of VTCM"},
		"VTCM of another": {"2.7.0", map[string]cty.Value{"socs": texts("SM8750", "SM8350"), "vtcm_mb": cty.NumberIntVal(8)}, "SM8350 has 4 MB of VTCM"},
	} {
		if _, said := plan(x.release, x.args); !strings.Contains(said, x.want) {
			t.Errorf("%s: %q, want %q", name, said, x.want)
		}
	}

	p, said := plan("2.7.0", map[string]cty.Value{"socs": texts("SM8350", "SM8750"), "dlc": cty.True})
	if said != "" || len(p.Specs) != 3 {
		t.Fatalf("%q, %+v", said, p.Specs)
	}
	var got struct {
		Target map[string]any
		SoCs   []map[string]any
	}
	for _, in := range p.Specs[0].Inputs {
		if in.Path == "args.json" {
			if err := json.Unmarshal(in.Content.Data, &got); err != nil {
				t.Fatal(err)
			}
		}
	}
	one := map[string]any{"soc": "SM8750", "soc_model": 69., "arch": 79., "vtcm_mb": 8.}
	least := map[string]any{"soc": "SM8750", "soc_model": 69., "arch": 79., "vtcm_mb": 4.}
	other := map[string]any{"soc": "SM8350", "soc_model": 30., "arch": 68., "vtcm_mb": 4.}
	if d := cmp.Diff(one, got.Target) + cmp.Diff([]map[string]any{other, least}, got.SoCs); d != "" {
		t.Error(d)
	}
	p, _ = plan("2.7.0", nil)
	want := []action.Output{{Path: "dir", Tree: true}, {Path: "times.json", Varies: "the output contains measured times"}}
	if len(p.Specs) != 2 {
		t.Fatalf("%+v", p.Specs)
	}
	if d := cmp.Diff(want, p.Specs[0].Outputs); d != "" || p.Specs[0].Platform[action.PropertyAddresses] != action.AddressesFixed {
		t.Errorf("%v: %s", p.Specs[0].Platform, d)
	}
}

// TestHTPContextOptrace: schematics are an output of their own, since no two are alike.
func TestHTPContextOptrace(t *testing.T) {
	w := fetchWorkspace(t)
	target, diags := w.Catalog().Target("SM8750", nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	tools := map[string]step.Toolchain{}
	for _, name := range []string{"onnx", "htp_host", "gnu_runtime"} {
		tools[name] = compatToolchain(name, "2.4.0", "pypi")
	}
	p, diags := w.Kinds()["htp_context"].Plan(step.Request{At: addrs.Instance{Step: addrs.Step{Kind: "htp_context", Name: "x"}}, Target: target, Toolchains: tools,
		Args: map[string]cty.Value{"graphs": cty.StringVal("net.onnx"), "optrace": cty.True}})
	if diags.HasErrors() || len(p.Specs) != 2 {
		t.Fatal(diags)
	}
	want := []action.Output{{Path: "dir", Tree: true}, {Path: "times.json", Varies: "the output contains measured times"}, {Path: "schematics", Tree: true, Varies: "the output contains memory addresses of the compiler"}}
	if d := cmp.Diff(want, p.Specs[0].Outputs); d != "" || len(p.Outputs["schematic"].Parts) != 1 {
		t.Errorf("%+v, %s", p.Outputs["schematic"], d)
	}
}

// TestPythonScript: a script that is outside of the workspace, as that of a shipped module is, runs from where it is among the inputs,
// which is the same place on every machine.
func TestPythonScript(t *testing.T) {
	tools := out(addrs.Toolchain, "tools")
	p, diags := table()["python"].Plan(step.Request{Roots: []step.Root{{Dir: "/cache/modules", At: "external/x"}}, At: addrs.Instance{Step: addrs.Step{Kind: "python", Name: "x"}},
		Args: map[string]cty.Value{"environment": cty.StringVal("toolchains/tools"), "script": cty.StringVal("/cache/modules/x/example.py"), "checkpoint": cty.StringVal("./parts/")},
		Uses: []step.OutputRef{step.OutputRefOf(cty.GetAttrPath("environment"), tools)}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if d := cmp.Diff([]string{"toolchains/tools/bin/python3", "external/x/x/example.py"}, p.Specs[0].Args); d != "" {
		t.Error(d)
	}
	if !cmp.Equal(p.Specs[0].Inputs[len(p.Specs[0].Inputs)-1], action.Input{Path: "external/x/x/example.py", Host: &action.HostPath{Path: "/cache/modules/x/example.py"}}) {
		t.Errorf("%+v", p.Specs[0].Inputs)
	}
	if at := p.Specs[0].Platform[action.PropertyCheckpoint]; at != "parts" {
		t.Errorf("the checkpoint is %q", at)
	}
}

// TestHTPEmulatePlan: with profiling there is a profile, which no two runs have alike; without, the emulator is asked for nothing.
func TestHTPEmulatePlan(t *testing.T) {
	w := fetchWorkspace(t)
	for level, want := range map[string]string{"": "", "detailed": "the output contains measured times", "all": "refused"} {
		args := map[string]cty.Value{"context": cty.StringVal("ctx"), "inputs": cty.StringVal("samples")}
		if level != "" {
			args["profiling"] = cty.StringVal(level)
		}
		tools := map[string]step.Toolchain{}
		for _, name := range []string{"onnx", "htp_host", "gnu_runtime"} {
			tools[name] = compatToolchain(name, "2.7.0", "pypi")
		}
		p, diags := w.Kinds()["htp_emulate"].Plan(step.Request{At: addrs.Instance{Step: addrs.Step{Kind: "htp_emulate", Name: "x"}}, Args: args, Toolchains: tools})
		if want == "refused" {
			if !diags.HasErrors() || !strings.Contains(diags.Error(), "optrace") {
				t.Errorf("%s: %v", level, diags)
			}
			continue
		}
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		varies := ""
		for _, o := range p.Specs[0].Outputs {
			if o.Path == "profile" {
				varies = o.Varies
			}
		}
		told := ""
		for _, in := range p.Specs[0].Inputs {
			if in.Path == "args.json" {
				told = string(in.Content.Data)
			}
		}
		if varies != want || (len(p.Outputs["profile"].Parts) == 1) != (level != "") || strings.Contains(told, "profil") != (level != "") || !strings.Contains(told, `"program":"onnx_apply"`) {
			t.Errorf("%q: varies %q, %+v, %s", level, varies, p.Outputs["profile"], told)
		}
	}
}

// TestPlacementPlan: htp_context gives the report all facts about unsupported operations and about types.
func TestPlacementPlan(t *testing.T) {
	w := fetchWorkspace(t)
	target, diags := w.Catalog().Target("SM8750", nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	tools := map[string]step.Toolchain{}
	for _, name := range []string{"onnx", "htp_host", "gnu_runtime"} {
		tools[name] = compatToolchain(name, "2.7.0", "pypi")
	}
	p, diags := w.Kinds()["htp_context"].Plan(step.Request{At: addrs.Instance{Step: addrs.Step{Kind: "htp_context", Name: "x"}, Key: "a16w8", Keyed: true},
		Target: target, Toolchains: tools, Args: map[string]cty.Value{"graphs": cty.StringVal("net.onnx")}})
	if diags.HasErrors() || len(p.Specs) != 2 {
		t.Fatal(diags)
	}
	var got placement.Spec
	for _, in := range p.Specs[1].Inputs {
		if in.Path == "args.json" {
			if err := json.Unmarshal(in.Content.Data, &got); err != nil {
				t.Fatal(err)
			}
		}
	}
	known := w.Catalog().Facts
	if len(known.UnsupportedOps) < 10 || len(known.Precisions) < 5 || !cmp.Equal(got.UnsupportedOps, known.UnsupportedOps) ||
		!cmp.Equal(got.Precisions, known.Precisions) || got.Arch != "v79" || got.Dir != "dir" || got.Title != "x, a16w8" {
		t.Errorf("%+v", got)
	}
}

// TestComputes: actions that run ONNX Runtime's CPU kernels have the level of the processor, and two levels give two keys; other actions have none.
func TestComputes(t *testing.T) {
	w := fetchWorkspace(t)
	target, diags := w.Catalog().Target("SM8750", nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	tools := map[string]step.Toolchain{}
	for _, name := range []string{"onnx", "htp_host", "gnu_runtime", "aimet", "quark"} {
		tools[name] = compatToolchain(name, "2.7.0", "pypi")
	}
	made := out("toy_model", "tiny")
	model := map[string]cty.Value{"model": cty.StringVal(made.Path())}
	net, prompt := map[string]cty.Value{"graphs": cty.StringVal("net.onnx")}, map[string]cty.Value{"prompt": cty.StringVal("Who?")}
	script := map[string]cty.Value{"script": cty.StringVal("x.py")}
	plan := func(kind, level, environment string, args ...map[string]cty.Value) []action.Spec {
		r := step.Request{At: addrs.Instance{Step: addrs.Step{Kind: kind, Name: "x"}}, Target: target, Toolchains: tools, CPULevel: level, Args: map[string]cty.Value{}}
		for _, more := range args {
			maps.Copy(r.Args, more)
		}
		if v, ok := r.Args["model"]; ok && v.RawEquals(model["model"]) {
			r.Uses = []step.OutputRef{step.OutputRefOf(cty.GetAttrPath("model"), made)}
		}
		if environment != "" {
			r.Args["environment"] = cty.StringVal("toolchains/" + environment)
			r.Uses = []step.OutputRef{step.OutputRefOf(cty.GetAttrPath("environment"), out(addrs.Toolchain, environment))}
		}
		p, diags := w.Kinds()[kind].Plan(r)
		if diags.HasErrors() || len(p.Specs) == 0 {
			t.Fatalf("%s: %v", kind, diags)
		}
		return p.Specs
	}
	key := func(s action.Spec) digest.Digest {
		a := &action.Action{Command: action.Command{Args: s.Args, Env: s.Env, Platform: s.Platform}, InputRoot: digest.BLAKE3.Bytes(nil)}
		return a.Key(digest.BLAKE3)
	}
	for _, c := range []struct {
		kind, environment string
		args              []map[string]cty.Value
		has               bool
	}{
		{"onnx_run", "", []map[string]cty.Value{net, prompt}, true},
		{"onnx_quantize", "", []map[string]cty.Value{net}, true},
		{"onnx_quantize", "", []map[string]cty.Value{net, {"method": cty.StringVal("aimet")}}, true},
		{"onnx_quantize", "", []map[string]cty.Value{net, {"method": cty.StringVal("quark")}}, true},
		{"htp_context", "", []map[string]cty.Value{net}, true},
		{"htp_emulate", "", []map[string]cty.Value{{"context": cty.StringVal("dir")}, prompt}, true},
		{"python", "onnx", []map[string]cty.Value{script}, true},
		{"python", "tools", []map[string]cty.Value{script}, false},
		{"onnx_llm", "", []map[string]cty.Value{model}, false},
		{"hf_folder", "", []map[string]cty.Value{model}, false},
		{"accuracy", "", []map[string]cty.Value{{"reference": cty.StringVal("f"), "outputs": cty.MapVal(map[string]cty.Value{"a": cty.StringVal("a")})}}, false},
	} {
		one, other := plan(c.kind, "x86-64-v3", c.environment, c.args...), plan(c.kind, "x86-64-v4", c.environment, c.args...)
		for i, s := range one {
			if strings.HasSuffix(s.Name, "placement") {
				continue // it computes nothing
			}
			level, has := s.Platform[action.PropertyCPULevel]
			if has != c.has || has && level != "x86-64-v3" || (key(s) != key(other[i])) != c.has {
				t.Errorf("%s of %q, action %d: level %q, another level has another key: %v", c.kind, c.environment, i, level, key(s) != key(other[i]))
			}
		}
	}
}
