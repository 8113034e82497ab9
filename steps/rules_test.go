package steps_test

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/qnn/facts"
	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
	"github.com/hexmage/hexmage/steps"
	"github.com/hexmage/hexmage/toolchains"
)

// table is the table of kinds, without rules.
func table() map[string]step.Kind { return steps.Workspace{}.Kinds() }

func out(kind, name string) addrs.Output {
	return addrs.Output{Instance: addrs.Instance{Step: addrs.Step{Kind: kind, Name: name}}, Name: "dir"}
}

// compatToolchain is a toolchain as steps see it.
func compatToolchain(name, version, source string) step.Toolchain {
	attrs := map[string]cty.Value{"version": cty.StringVal(version), "source": cty.StringVal(source), "build_id": cty.NullVal(cty.String), "tools_version": cty.NullVal(cty.String)}
	if name == "hexagon" {
		attrs["tools_version"] = cty.StringVal("19.0.04")
	}
	return step.Toolchain{Output: out(addrs.Toolchain, name), Attrs: cty.ObjectVal(attrs)}
}

func texts(ts ...string) cty.Value { return facts.List(ts) }

func TestSteps(t *testing.T) {
	c, diags := toolchains.Load(nil)
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
		"old/src/ops/Op.cpp":   "// get_interface_scale\nfloat f(const Tensor &t) { return t.get_interface_scale(); }\n",
		"big/config.json": `{"model_type": "qwen3", "num_hidden_layers": 40, "hidden_size": 5120, "num_attention_heads": 40,
			"num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 17408, "vocab_size": 151936}`,
		"big/tokenizer.json": "{}",
		"p/src/ops/Open.cpp": "float f(T &t) { /* never closed t.get_interface_scale()",
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
	kinds := steps.Workspace{Catalog: func() *toolchains.Catalog { return c }, Dir: workspace}.Kinds()
	folders := func(dir string) string { return dir + "/include " + dir + "/src " + dir + "/src/ops" }
	for name, x := range map[string]struct {
		kind       string
		args       map[string]cty.Value
		uses       []step.OutputRef
		outputs    []step.DeclaredOutput
		env        map[string]string
		toolchains []step.Toolchain
		target     cty.Value
		errors     string // ids of rules
		warnings   string
		looks      string // at files and folders of the workspace
	}{
		"nothing to look at":     {kind: "exec", args: map[string]cty.Value{"argv": texts("gcc", "-c", "a.c")}, toolchains: open},
		"make of something else": {kind: "exec", args: map[string]cty.Value{"argv": texts("make", "all")}, toolchains: open},
		"upstream's make":        {kind: "exec", args: map[string]cty.Value{"argv": texts("make", "-C", "ops", "htp_v79"), "inputs": texts("ops")}, toolchains: open, errors: "hexagon-tools-folder make-sdk-root", looks: "ops/Makefile"},
		"with an installed SDK":  {kind: "exec", args: map[string]cty.Value{"argv": texts("make", "-C", "ops", "htp_v79"), "inputs": texts("ops")}, env: map[string]string{"HEXAGON_SDK_ROOT_V79": "x"}, toolchains: mine, warnings: "hexagon-tools-other", looks: "ops/Makefile"},
		"given to make":          {kind: "exec", args: map[string]cty.Value{"argv": texts("make", "-C", "ops", "HEXAGON_SDK_ROOT_V79=x", "HEXAGON_TOOLS_VERSION_V79=y", "htp_v79"), "inputs": texts("ops")}, toolchains: open, looks: "ops/Makefile"},
		"set in the Makefile":    {kind: "exec", args: map[string]cty.Value{"argv": texts("make", "-C", "set", "htp_v79"), "inputs": texts("set/Makefile")}, toolchains: open, looks: "set/Makefile"},
		"a Makefile of ours": {kind: "exec", args: map[string]cty.Value{"argv": texts("make", "-C", makes.Path(), "htp_v79"), "inputs": texts("ops/Makefile")},
			uses: []step.OutputRef{step.OutputRefOf(cty.GetAttrPath("argv"), makes)}, toolchains: open},
		"a config, old SDK": {kind: "exec", args: map[string]cty.Value{"argv": texts("compile", "--aot_config", "cfg.json")}, toolchains: old, warnings: "signed-pd", looks: "cfg.json"},
		"a config, new SDK": {kind: "exec", args: map[string]cty.Value{"argv": texts("compile", "--aot_config=cfg.json")}, toolchains: open, warnings: "signed-pd-skel", looks: "cfg.json"},
		"other JSON":        {kind: "exec", args: map[string]cty.Value{"argv": texts("compile", "other.json", "huge.json", "none.json")}, toolchains: open, looks: "huge.json none.json other.json"},
		"a soc_id twice":    {kind: "exec", args: map[string]cty.Value{"argv": texts("sh", "-c", `a --soc_model 660 && b --soc_model=660 && echo '{"soc_model": 87}'`)}, toolchains: open, errors: "soc-id-in-command"},
		"a model too large": {kind: "quantize", args: map[string]cty.Value{"model": cty.StringVal("big"), "pymllm": cty.StringVal("/mllm")},
			toolchains: append(slices.Clip(open), compatToolchain("mllm_quantizer", "1", "pypi")), warnings: "context-size process-size", looks: "big big/config.json big/tokenizer.json"},
		"no target":          {kind: "oppackage", args: map[string]cty.Value{"source": cty.StringVal("o"), "targets": texts("htp_v75")}, looks: folders("o"), toolchains: open, target: cty.NullVal(cty.DynamicPseudoType)},
		"not for the target": {kind: "oppackage", args: map[string]cty.Value{"source": cty.StringVal("o"), "targets": texts("htp_v75", "htp_aarch64")}, looks: folders("o"), toolchains: open, warnings: "op-target"},
		"for more than the runtime": {kind: "oppackage", args: map[string]cty.Value{"source": cty.StringVal("o"), "targets": texts("htp_v79", "htp_v81")}, looks: folders("o"), warnings: "op-runtime",
			toolchains: []step.Toolchain{compatToolchain("qairt", "2.38.0.250901", "archive"), compatToolchain("hexagon", "6.4.0.2", "archive")}},
		"a source left open":    {kind: "oppackage", args: map[string]cty.Value{"targets": texts("htp_v79"), "source": cty.StringVal("p")}, toolchains: open, looks: folders("p") + " p/src/ops/Open.cpp"},
		"an older call":         {kind: "oppackage", args: map[string]cty.Value{"targets": texts("htp_v79"), "source": cty.StringVal("old")}, toolchains: open, errors: "op-renamed", looks: folders("old") + " old/src/ops/Op.cpp"},
		"no such source":        {kind: "oppackage", args: map[string]cty.Value{"targets": texts("htp_v79"), "source": cty.StringVal("none")}, toolchains: open, looks: folders("none")},
		"what it writes itself": {kind: "exec", args: map[string]cty.Value{"argv": texts("compile", "-o", "cfg.json")}, outputs: []step.DeclaredOutput{{Name: "o", Class: action.File, Path: "cfg.json"}}, toolchains: old},
		"another kind":          {kind: "git", args: map[string]cty.Value{"url": cty.StringVal("https://x/soc_model=660"), "commit": cty.StringVal(strings.Repeat("a", 40))}, toolchains: open},
	} {
		looked := map[string]bool{}
		r := step.Request{At: addrs.Instance{Step: addrs.Step{Kind: x.kind, Name: "it"}}, Args: x.args, Uses: x.uses, Outputs: x.outputs, Env: x.env, Target: target, Toolchains: map[string]step.Toolchain{},
			Open: func(name string) (fs.File, error) {
				looked[name] = true
				return os.Open(filepath.Join(workspace, name))
			}}
		if x.target != cty.NilVal {
			r.Target = x.target
		}
		for _, tc := range append(x.toolchains, compatToolchain("ndk", "r28b", "archive")) {
			r.Toolchains[tc.Output.Step.Name] = tc
		}
		planned, diags := kinds[x.kind].Plan(r)
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
		if (len(planned.Specs) == 0) != (x.errors != "") {
			t.Errorf("%s: %d actions, errors %q", name, len(planned.Specs), errors)
		}
		// Whatever was looked at is said, also with errors.
		if said := slices.Sorted(slices.Values(planned.Reads.Paths)); !slices.Equal(slices.Compact(said), slices.Sorted(maps.Keys(looked))) {
			t.Errorf("%s: looked at %v, and says %v", name, looked, said)
		}
		if got := slices.Sorted(maps.Keys(looked)); strings.Join(got, " ") != x.looks {
			t.Errorf("%s: looked at %q, want %q", name, got, x.looks)
		}
	}
}

// What does not fit the target is said of a toolchain beside what it says itself, also when it cannot be had.
func TestToolchainRules(t *testing.T) {
	w := fetchWorkspace(t)
	target, _ := w.Catalog().Target("SM8850", nil)
	for name, x := range map[string]struct {
		tool, version, profile string
		want                   []string
	}{
		"fits":            {"qairt", "2.42.0.251225", "device", nil},
		"does not":        {"qairt", "2.38.0.250901", "device", []string{"compat qairt-arch"}},
		"nor is it here":  {"qairt", "2.38.0.250901", "simulated", []string{"compat qairt-arch", "--profile device"}},
		"the default":     {"hexagon", "", "device", nil},
		"unknown release": {"qairt", "1.0", "device", []string{"no release"}},
		"unknown":         {"nothing", "", "device", []string{"not in the catalog"}},
	} {
		k := w.Kinds()[addrs.Toolchain]
		args := map[string]cty.Value{}
		if x.version != "" {
			args["version"] = cty.StringVal(x.version)
		}
		r := fetchRequest(k, addrs.Toolchain, x.tool, x.profile, args)
		r.Target = target
		_, diags := k.Plan(r)
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

// An installed copy is what it says of itself, not what its release came with.
func TestRulesOfAnInstalledCopy(t *testing.T) {
	w := fetchWorkspace(t)
	k := w.Kinds()[addrs.Toolchain]
	p, diags := k.Plan(fetchRequest(k, addrs.Toolchain, "hexagon", "simulated", nil))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	root := filepath.Join(perform(t, p)[""], "tree")
	sdktest.AsVendors(t, root)
	says := filepath.Join(root, "hexagon_sdk.json")
	b, err := os.ReadFile(says)
	if err == nil {
		err = os.WriteFile(says, bytes.ReplaceAll(b, []byte("19.0.04"), []byte("8.8.06")), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := fetchRequest(k, addrs.Toolchain, "hexagon", "device", map[string]cty.Value{"path": cty.StringVal(root)})
	r.Target, _ = w.Catalog().Target("SM8850", nil)
	if _, diags = k.Plan(r); len(diags) != 1 || !strings.Contains(diags[0].Detail, "with tools 8.8.06") {
		t.Errorf("%v", diags)
	}
}
