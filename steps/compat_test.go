package steps_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/qnn/facts"
	"github.com/hexmage/hexmage/steps"
	"github.com/hexmage/hexmage/toolchains"
)

// kind counts how often it is asked to plan, and plans what it is told.
type kind struct {
	planned *int
	out     step.Planned
	diags   hcl.Diagnostics
}

func (kind) Schema() step.Schema { return step.Schema{Summary: "a kind"} }
func (k kind) Plan(step.Request) (step.Planned, hcl.Diagnostics) {
	*k.planned++
	return k.out, k.diags
}

func out(kind, name string) addrs.Output {
	return addrs.Output{Instance: addrs.Instance{Step: addrs.Step{Kind: kind, Name: name}}, Name: "dir"}
}

// toolchain is a toolchain as steps see it.
func compatToolchain(name, version, source string) step.Toolchain {
	attrs := map[string]cty.Value{"version": cty.StringVal(version), "source": cty.StringVal(source), "build_id": cty.NullVal(cty.String), "tools_version": cty.NullVal(cty.String)}
	if name == "hexagon" {
		attrs["tools_version"] = cty.StringVal("19.0.04")
	}
	return step.Toolchain{Output: out(addrs.Toolchain, name), Attrs: cty.ObjectVal(attrs)}
}

func texts(ts ...string) cty.Value { return facts.List(ts) }

func TestSteps(t *testing.T) {
	c, diags := toolchains.Builtin()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	target, diags := c.Target("SM8750", nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	workspace := t.TempDir()
	for name, text := range map[string]string{
		"ops/Makefile":         "CXX := $(HEXAGON_SDK_ROOT_V79)/x\nHEXAGON_TOOLS_VERSION_V79 := 8.8.06 # as it was\n",
		"set/Makefile":         "export HEXAGON_SDK_ROOT_V79 ?= $(HEXAGON_SDK_ROOT)\nCXX := $(HEXAGON_SDK_ROOT_V79)/x\n",
		"cfg.json":             `{"target_machine": {"htp_arch": "V79", "htp_chipset": "SM8750", "htp_security_pd_session": "HtpSignedPd"}}`,
		"other.json":           `{"soc_model": 660}`,
		"huge.json":            strings.Repeat(" ", 2<<20),
		"src/src/ops/broken.c": "",
		"p/src/ops/Open.cpp":   "float f(T &t) { /* never closed t.get_interface_scale()",
	} {
		at := filepath.Join(workspace, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	open := []step.Toolchain{compatToolchain("qairt", "2.41.0.251128", "archive"), compatToolchain("hexagon", "6.4.0.2", "archive")}
	mine := []step.Toolchain{compatToolchain("qairt", "2.41.0.251128", "archive"), compatToolchain("hexagon", "6.4.0.2", "installed")}
	old := []step.Toolchain{compatToolchain("qairt", "2.31.0.250130", "archive")}
	makes := out("makefile", "llama")
	for name, x := range map[string]struct {
		kind       string
		args       map[string]cty.Value
		uses       []step.Use
		env        map[string]string
		toolchains []step.Toolchain
		target     cty.Value
		errors     string // ids of rules
		warnings   string
	}{
		"nothing to look at":     {kind: "exec", args: map[string]cty.Value{"argv": texts("gcc", "-c", "a.c")}, toolchains: open},
		"make of something else": {kind: "exec", args: map[string]cty.Value{"argv": texts("make", "all")}, toolchains: open},
		"upstream's make":        {kind: "exec", args: map[string]cty.Value{"argv": texts("make", "-C", "ops", "htp_v79"), "inputs": texts("ops")}, toolchains: open, errors: "hexagon-tools-folder make-sdk-root"},
		"with an installed SDK":  {kind: "exec", args: map[string]cty.Value{"argv": texts("make", "-C", "ops", "htp_v79"), "inputs": texts("ops")}, env: map[string]string{"HEXAGON_SDK_ROOT_V79": "x"}, toolchains: mine, warnings: "hexagon-tools-other"},
		"given to make":          {kind: "exec", args: map[string]cty.Value{"argv": texts("make", "-C", "ops", "HEXAGON_SDK_ROOT_V79=x", "HEXAGON_TOOLS_VERSION_V79=y", "htp_v79"), "inputs": texts("ops")}, toolchains: open},
		"set in the Makefile":    {kind: "exec", args: map[string]cty.Value{"argv": texts("make", "-C", "set", "htp_v79"), "inputs": texts("set/Makefile")}, toolchains: open},
		"a Makefile of ours": {kind: "exec", args: map[string]cty.Value{"argv": texts("make", "-C", makes.Path(), "htp_v79"), "inputs": texts("ops/Makefile")},
			uses: []step.Use{{Path: cty.GetAttrPath("argv"), Output: makes}}, toolchains: open},
		"a config, old SDK":         {kind: "exec", args: map[string]cty.Value{"argv": texts("compile", "--aot_config", "cfg.json")}, toolchains: old, errors: "signed-pd"},
		"a config, new SDK":         {kind: "exec", args: map[string]cty.Value{"argv": texts("compile", "--aot_config=cfg.json")}, toolchains: open, warnings: "signed-pd-skel"},
		"other JSON":                {kind: "exec", args: map[string]cty.Value{"argv": texts("compile", "other.json", "huge.json", "none.json")}, toolchains: open},
		"a soc_id twice":            {kind: "exec", args: map[string]cty.Value{"argv": texts("sh", "-c", `a --soc_model 660 && b --soc_model=660 && echo '{"soc_model": 87}'`)}, toolchains: open, errors: "soc-id-in-command"},
		"no target":                 {kind: "oppackage", args: map[string]cty.Value{"targets": texts("htp_v75")}, toolchains: open, target: cty.NullVal(cty.DynamicPseudoType)},
		"not for the target":        {kind: "oppackage", args: map[string]cty.Value{"targets": texts("htp_v75", "htp_aarch64")}, toolchains: open, warnings: "op-target"},
		"for more than the runtime": {kind: "oppackage", args: map[string]cty.Value{"targets": texts("htp_v79", "htp_v81")}, toolchains: open, warnings: "op-runtime"},
		"a source left open":        {kind: "oppackage", args: map[string]cty.Value{"targets": texts("htp_v79"), "source": cty.StringVal("p")}, toolchains: open},
		"no such source":            {kind: "oppackage", args: map[string]cty.Value{"targets": texts("htp_v79"), "source": cty.StringVal("none")}, toolchains: open},
		"another kind":              {kind: "fetch", args: map[string]cty.Value{"argv": texts("--soc_model 660")}, toolchains: open},
	} {
		planned := 0
		kinds := steps.Checked(map[string]step.Kind{x.kind: kind{planned: &planned}}, c, workspace)
		r := step.Request{At: addrs.Instance{Step: addrs.Step{Kind: x.kind, Name: "it"}}, Args: cty.ObjectVal(x.args), Uses: x.uses, Env: x.env, Target: target, Toolchains: map[string]step.Toolchain{}}
		if x.target != cty.NilVal {
			r.Target = x.target
		}
		for _, tc := range x.toolchains {
			r.Toolchains[tc.Output.Step.Name] = tc
		}
		_, diags := kinds[x.kind].Plan(r)
		var errors, warnings []string
		for _, d := range diags {
			_, id, _ := strings.Cut(d.Detail, "[compat ")
			id, _, _ = strings.Cut(strings.TrimSuffix(id, "]"), ";")
			if d.Severity == hcl.DiagError {
				errors = append(errors, id)
			} else {
				warnings = append(warnings, id)
			}
		}
		if strings.Join(errors, " ") != x.errors || strings.Join(warnings, " ") != x.warnings {
			t.Errorf("%s: errors %q, warnings %q; want %q, %q\n%v", name, errors, warnings, x.errors, x.warnings, diags)
		}
		if (planned == 0) != (x.errors != "") {
			t.Errorf("%s: planned %d times, errors %q", name, planned, errors)
		}
	}
}

// TestToolchain: what does not fit is said beside what the kind itself says, and of what an installed copy says of itself.
func TestToolchain(t *testing.T) {
	c, diags := toolchains.Builtin()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	target, _ := c.Target("SM8850", nil)
	none := 0
	missing := hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Toolchain not available", Detail: "no copy."}}
	for name, x := range map[string]struct {
		tool, version string
		inner         kind
		want          []string
	}{
		"fits":             {"qairt", "2.42.0.251225", kind{planned: &none}, nil},
		"does not":         {"qairt", "2.41.0.251128", kind{planned: &none}, []string{"compat qairt-arch"}},
		"nor is it here":   {"qairt", "2.41.0.251128", kind{planned: &none, diags: missing}, []string{"compat qairt-arch", "no copy"}},
		"the default":      {"hexagon", "", kind{planned: &none}, nil},
		"unknown release":  {"qairt", "1.0", kind{planned: &none, diags: missing}, []string{"no copy"}},
		"unknown":          {"nothing", "", kind{planned: &none}, nil},
		"an installed one": {"hexagon", "6.4.0.2", kind{planned: &none, out: step.Planned{Attrs: map[string]cty.Value{"version": cty.StringVal("6.4.0.2"), "tools_version": cty.StringVal("8.8.06"), "source": cty.StringVal("installed")}}}, []string{"has tools 8.8.06"}},
	} {
		k := steps.CheckedToolchain(x.inner, c)
		args := map[string]cty.Value{"version": cty.NullVal(cty.String)}
		if x.version != "" {
			args["version"] = cty.StringVal(x.version)
		}
		_, diags := k.Plan(step.Request{At: addrs.Instance{Step: addrs.Step{Kind: addrs.Toolchain, Name: x.tool}}, Args: cty.ObjectVal(args), Target: target})
		if len(diags) != len(x.want) {
			t.Errorf("%s: %v", name, diags)
			continue
		}
		for i, want := range x.want {
			if !strings.Contains(diags[i].Detail, want) {
				t.Errorf("%s: %s does not say %q", name, diags[i].Detail, want)
			}
		}
	}
}
