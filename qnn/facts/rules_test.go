package facts_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/facts"
)

// releases stand for those of the shipped catalog.
const releases = `
toolchain "qairt" {
  page = "what is no fact is not looked at"
  release "2.44.0.260225" {
    arches = ["v68", "v69", "v73", "v75", "v79", "v81"]
    source "archive" {}
  }
}
`

func load(src string) (*facts.Set, hcl.Diagnostics) {
	s, _, diags := facts.Load([]facts.File{{Name: "releases.hcl", Content: []byte(releases)}, {Name: "ours.hcl", Content: []byte(src)}})
	return s, diags
}

// ask asks the rules with src on top about SM8750 and one QAIRT.
func ask(t *testing.T, src, at string, step map[string]cty.Value) ([]qnn.Finding, hcl.Diagnostics, *facts.Set) {
	t.Helper()
	s, diags := load(src)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	soc, err := s.FindSoC("SM8750")
	if err != nil {
		t.Fatal(err)
	}
	qairt := s.SDK("qairt")
	found, diags := s.Ask(facts.Subject{Target: soc.Target(), Toolchains: []qnn.Known{qairt.Known(qairt.Releases[0])}, Step: step}, at)
	return found, diags, s
}

func TestRulesOfAWorkspace(t *testing.T) {
	for name, x := range map[string]struct {
		src, about string
		step       map[string]cty.Value
		want       string // rules and severities of findings
		text       string
	}{
		"shipped only":             {about: "qairt", want: "qairt-system-abi:warning"},
		"another severity":         {src: "compat \"qairt-system-abi\" {\n severity = \"error\"\n}", about: "qairt", want: "qairt-system-abi:error", text: "libQnnSystem.so by mistake"},
		"off":                      {src: "compat \"qairt-system-abi\" {\n severity = \"off\"\n}", about: "qairt"},
		"another condition":        {src: "compat \"qairt-system-abi\" {\n when = qairt.version == \"\"\n}", about: "qairt"},
		"one of its own":           {src: "compat \"ours\" {\n when = target.soc_model == 69 && contains(soc.features, \"lpbq\")\n reason = \"no ${soc.marketing_name} with ${qairt.version}\"\n}", about: "qairt", want: "ours:error qairt-system-abi:warning", text: "no Snapdragon 8 Elite with 2.44.0.260225"},
		"about what is not known":  {src: "compat \"ours\" {\n when = hexagon.version == \"\"\n reason = \"x\"\n}", about: "", want: "qairt-system-abi:warning"},
		"for each":                 {src: "compat \"ours\" {\n each = step.arches\n when = each.value != \"v75\"\n reason = \"not ${each.value} of ${step.kind}\"\n severity = \"note\"\n}", about: "step", step: map[string]cty.Value{"kind": cty.StringVal("x"), "name": cty.StringVal("y"), "arches": facts.List([]string{"v73", "v75"})}, want: "ours:note", text: "not v73 of x"},
		"at a step not of a block": {src: "compat \"ours\" {\n when = qairt.version != \"\"\n reason = \"x\"\n}", about: "step"},
	} {
		step := x.step
		found, _, c := ask(t, x.src, x.about, step)
		var got []string
		for _, f := range found {
			if x.step == nil || f.Rule == "ours" { // of a made-up step the shipped rules want more
				got = append(got, f.Rule+":"+f.Severity)
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
			continue
		}
		if x.text != "" && !slices.ContainsFunc(found, func(f qnn.Finding) bool { return strings.Contains(f.Reason, x.text) }) {
			t.Errorf("%s: %+v does not say %q", name, found, x.text)
		}
		diags := c.Diagnostics(found, func(string) *hcl.Range { return nil })
		for _, d := range diags {
			if strings.Contains(d.Detail, "compat ours") && strings.Contains(x.want, "ours:note") {
				t.Errorf("%s: a note interrupts: %s", name, d.Detail)
			}
		}
	}
}

func TestBadRules(t *testing.T) {
	for name, x := range map[string]struct{ src, says string }{
		"severity":     {"compat \"x\" {\n severity = \"fatal\"\n when = true\n reason = \"x\"\n}", `invalid severity "fatal"`},
		"no reason":    {"compat \"x\" {\n when = true\n}", "missing reason or condition"},
		"no condition": {"compat \"x\" {\n reason = \"x\"\n}", "one of when, each and defect"},
		"code":         {"compat \"push-one-sdk\" {\n when = false\n}", "Set only severity"},
		"attribute":    {"compat \"x\" {\n because = \"x\"\n}", "because"},
	} {
		if _, diags := load(x.src); !diags.HasErrors() || !strings.Contains(diags.Error(), x.says) {
			t.Errorf("%s: %v; want %q", name, diags, x.says)
		}
	}
	// What is wrong with an expression is told where it is, when the rule is asked.
	for name, src := range map[string]string{
		"no attribute": "compat \"x\" {\n when = qairt.versoin == \"1\"\n reason = \"x\"\n}",
		"no function":  "compat \"x\" {\n when = newer(qairt.version)\n reason = \"x\"\n}",
		"no boolean":   "compat \"x\" {\n when = qairt.version\n reason = \"x\"\n}",
		"in a text":    "compat \"x\" {\n when = true\n reason = \"${qairt.nothing}\"\n}",
	} {
		if _, diags, _ := ask(t, src, "qairt", nil); !diags.HasErrors() || diags[0].Subject == nil || diags[0].Subject.Filename != "ours.hcl" {
			t.Errorf("%s: %v", name, diags)
		}
	}
}

// What is unknown is never a yes: a release that no record ties to a SoC, and one whose archs nobody has written down. The first release
// that a SoC needs is one of which a record says that it knows the SoC.
func TestUnknownIsDoubt(t *testing.T) {
	s, _, diags := facts.Load([]facts.File{{Name: "ours.hcl", Content: []byte(`
toolchain "qairt" {
  release "2.13.0.230725" {}
  release "2.25.0.240728" {}
  release "2.51.0.260929" {}
}
toolchain "hexagon" {
  release "9.9.0" {}
  release "6.4.0.2" { tools_version = "19.0.04" }
}
soc "OURS1" {
  arch      = "v73"
  soc_model = 990
}
soc "OURS2" {
  arch      = "v73"
  soc_model = 991
  min_sdk   = "2.13"
}
`)}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for name, want := range map[string]string{ // QAIRT, oldest first; then the first one
		"SM8250":  "no no no ",                     // no HTP
		"SM8735":  "maybe maybe yes 2.51.0.260929", // seen in 2.51 only
		"SM8635":  "maybe yes yes 2.25.0.240728",
		"SC7280X": "maybe yes yes 2.25.0.240728",
		"OURS1":   "maybe maybe maybe ",
		"OURS2":   "yes yes yes 2.13.0.230725",
	} {
		soc, err := s.FindSoC(name)
		if err != nil {
			t.Fatal(err)
		}
		m, diags := s.Matrix(soc)
		needs, ds := s.Needs(soc)
		if diags = append(diags, ds...); diags.HasErrors() {
			t.Fatal(diags)
		}
		var got []string
		for _, q := range slices.Backward(m.QAIRT) {
			switch {
			case !q.Works:
				got = append(got, "no")
			case q.Doubtful:
				got = append(got, "maybe")
			default:
				got = append(got, "yes")
			}
		}
		if got := strings.Join(append(got, needs.QAIRT), " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		for _, p := range m.Pairs {
			if p.Hexagon == "9.9.0" && !p.Doubtful {
				t.Errorf("%s: the archs of Hexagon SDK 9.9.0 are unknown, and with QAIRT %s it is %+v", name, p.QAIRT, p.Verdict)
			}
		}
	}
	// Of the shipped SoCs, each says from when on it is known to work; those without an HTP need nothing.
	for _, soc := range s.SoCs {
		if soc.From == "" && soc.MinSDK == "" && soc.SeenSDK == "" && s.HasHTP(soc.Arch) {
			t.Errorf("%s has neither min_sdk nor seen_sdk", soc.Name)
		}
	}
}

// Defects of releases are said of the release that has them and of no other, with symptom, cure and source.
func TestDefects(t *testing.T) {
	for _, x := range []struct{ toolchains, soc, want string }{
		{"qairt 2.22.6.240515", "SM8650", "qairt-quantizer"},
		{"qairt 2.23.0.240531", "SM8650", ""},
		{"qairt 2.24.0.240626", "SM8650", "qairt-implicit-bias"},
		{"qairt 2.27.7.241014", "SM8650", "qairt-implicit-bias"},
		{"qairt 2.28.0.241029", "SM8650", "qairt-layer-norm"},
		{"qairt 2.28.2.241116", "SM8650", ""},
		{"qairt 2.42.0.251225", "SM8550", "qairt-block-head"},
		{"qairt 2.42.0.251225", "SM8650", ""},
		{"qairt 2.43.0.260128", "SM8550", ""},
		{"qairt 2.44.0.260225", "SM8650", "qairt-system-abi"},
		{"qairt 2.45.40.260406", "SM8650", "qairt-windows-exit-code"},
		{"qairt 2.48.40.260702", "SC8380XP", "qairt-mapped-weights qairt-skel-symbol"},
		{"qairt 2.48.40.260702", "SM8650", "qairt-skel-symbol"},
		{"qairt 2.49.0.260730", "SM8650", "qairt-genie-slot qairt-skel-symbol"},
		{"qairt 2.50.40.260831", "SM8650", "qairt-genie-slot qairt-skel-symbol"},
		{"qairt 2.51.0.260929", "SM8650", "qairt-skel-symbol"},
		{"ort_qnn_android 2.5.0", "SM8650", "ort-qnn-llm"},
		{"ort_qnn_android 2.6.0", "SM8650", ""},
		{"ort_qnn_android 2.4.0", "SM8650", ""},
		{"ort_android 1.27.0, ort_qnn_android 2.3.0", "SM8650", "ort-qnn-plugin"},
		{"ort_android 1.26.0, ort_qnn_android 2.3.0", "SM8650", ""},
		{"ort_android 1.27.0, ort_qnn_android 2.4.0", "SM8650", ""},
		{"ndk r27d", "SM8650", "ndk-pages"},
	} {
		s, diags := load("")
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		soc, err := s.FindSoC(x.soc)
		if err != nil {
			t.Fatal(err)
		}
		about := facts.Subject{Target: soc.Target()}
		for _, one := range strings.Split(x.toolchains, ", ") {
			name, version, _ := strings.Cut(one, " ")
			about.Toolchains = append(about.Toolchains, qnn.Known{Name: name, Release: qnn.Release{Version: version, Arches: []string{soc.Arch}}})
		}
		found, diags := s.Ask(about, "")
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		var ids []string
		for _, f := range found {
			if f.Reason == "" || f.Remedy == "" || f.Source == "" {
				t.Errorf("%s: %+v", x.toolchains, f)
			}
			if !strings.HasPrefix(f.Rule, "soc-") && f.Rule != "qairt-soc" && f.Rule != "mllm-chipset" {
				ids = append(ids, f.Rule)
			}
		}
		slices.Sort(ids)
		if got := strings.Join(ids, " "); got != x.want {
			t.Errorf("%s for %s: %q, want %q", x.toolchains, x.soc, got, x.want)
		}
	}
}
