package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/hexmage/hexmage/internal/event/eventtest"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/facts"
	"github.com/hexmage/hexmage/steps/failures"
	"github.com/hexmage/hexmage/toolchains"
)

const factsSchema = "../../../docs/facts.schema.json"

// shownFacts is what `hexmage show facts` prints in a workspace with those files.
func shownFacts(t *testing.T, files map[string]string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var stdout, stderr bytes.Buffer
	env := Env{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Dir: dir,
		Vars: []string{"HEXMAGE_CACHE=" + dir + "/cache", "HOME=" + dir}}
	if code := Main(append([]string{"hexmage", "show", "facts"}, args...), env); code != 0 {
		t.Fatalf("exit code %d\n%s", code, stderr.String())
	}
	return stdout.String()
}

// The file of facts is what docs/facts.schema.json says, and the schema says nothing else.
func TestFactsSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile(factsSchema)
	if err != nil {
		t.Fatal(err)
	}
	check := func(text string) error {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(v)
	}
	text := shownFacts(t, nil, "--json")
	if err := check(text); err != nil {
		t.Error(err)
	}
	for from, to := range map[string]string{
		factsFormat:                  "hexmage-facts/0",
		`"confidence":"documented"`:  `"confidence":"certain"`,
		`"known_from":{"arch":`:      `"known_by":{"arch":`,
		`"soc_model":69`:             `"soc_model":"69"`,
		`"rank":"cause"`:             `"rank":"guess"`,
		`"toolchain":"qairt","from"`: `"toolchain":"qairt","since"`,
	} {
		changed := strings.Replace(text, from, to, 1)
		if changed == text {
			t.Errorf("there is no %s", from)
		} else if check(changed) == nil {
			t.Errorf("%s in place of %s is taken", to, from)
		}
	}
	if err := check(shownFacts(t, map[string]string{"toolchains/ours.hcl": `
soc "SM9999" {
  arch      = "v81"
  soc_model = 999
}
compat "ours" {
  severity   = "note"
  confidence = "observed"
  source     = "tried"
  when       = target.soc_model == 999
  reason     = "it is ${target.soc}"
}`}, "--json")); err != nil {
		t.Errorf("with records of a workspace: %v", err)
	}

	eventtest.Schema(t, factsSchema, map[string]reflect.Type{
		"fact":           reflect.TypeFor[qnn.Fact](),
		"soc":            reflect.TypeFor[socFacts](),
		"other_socs":     reflect.TypeFor[otherFacts](),
		"arch":           reflect.TypeFor[archFacts](),
		"release":        reflect.TypeFor[releaseFacts](),
		"precision":      reflect.TypeFor[qnn.Precision](),
		"unsupported_op": reflect.TypeFor[qnn.UnsupportedOp](),
		"releases":       reflect.TypeFor[facts.Defect](),
		"rule":           reflect.TypeFor[ruleFacts](),
		"failure":        reflect.TypeFor[failureShown](),
	})
}

// Facts of the file lead to the line of the catalog that has them, with the same source. It has as many records as
// the tables.
func TestFactsAreTraced(t *testing.T) {
	var f factsFile
	if err := json.Unmarshal([]byte(shownFacts(t, nil, "--json")), &f); err != nil {
		t.Fatal(err)
	}
	named := func(what string, found bool) {
		if !found {
			t.Fatalf("no %s", what)
		}
	}
	soc := slices.IndexFunc(f.SoCs, func(s socFacts) bool { return s.Name == "SM8635" })
	release := slices.IndexFunc(f.Releases, func(r releaseFacts) bool { return r.Version == "2.43.0.260128" })
	defect := slices.IndexFunc(f.Defects, func(r ruleFacts) bool { return r.ID == "ort-qnn-llm" })
	failure := slices.IndexFunc(f.Failures, func(x failureShown) bool { return x.ID == "config-option-2" })
	named("SoC, release, defect or failure", min(soc, release, defect, failure) >= 0)
	for _, x := range []struct{ what, confidence, source, wantConfidence, file, value string }{
		{"SM8635 lacks fp16", f.SoCs[soc].Grounds["missing_features"].Confidence,
			f.SoCs[soc].Grounds["missing_features"].Source, qnn.Observed, "qnn/facts/socs.hcl", `missing_features = ["fp16"]`},
		{"the digest of QAIRT 2.43", f.Releases[release].Grounds["digest"].Confidence,
			f.Releases[release].Grounds["digest"].Source, qnn.Documented, "toolchains/qairt.hcl",
			f.Releases[release].SHA256},
		{"a defect of onnxruntime-qnn 2.5", f.Defects[defect].Confidence, f.Defects[defect].Source, qnn.Documented,
			"qnn/facts/compat.hcl", f.Defects[defect].Remedy},
		{"a failure", qnn.Observed, f.Failures[failure].Source, qnn.Observed, "runner/diagnose/dsp.hcl",
			"config-option-2"},
	} {
		text, err := os.ReadFile("../../../" + x.file)
		if err != nil {
			t.Fatal(err)
		}
		if x.confidence != x.wantConfidence || x.source == "" || !bytes.Contains(text, []byte(x.source)) ||
			x.value == "" || !bytes.Contains(text, []byte(x.value)) {
			t.Errorf("%s: %s: %q, which %s does not have with %s", x.what, x.confidence, x.source, x.file, x.value)
		}
	}

	c, diags := toolchains.Load(nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	cat, diags := failures.Load(nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	releases := 0
	for _, x := range c.Toolchains {
		releases += len(x.Releases)
	}
	if len(f.SoCs) != len(c.SoCs) || len(f.Archs) != len(c.Arches) || len(f.Releases) != releases ||
		len(f.Rules)+len(f.Defects) != len(c.Rules) || len(f.Failures) != len(cat.Entries) {
		t.Errorf("%d SoCs, %d archs, %d releases, %d rules, %d defects, %d failures", len(f.SoCs), len(f.Archs),
			len(f.Releases), len(f.Rules), len(f.Defects), len(f.Failures))
	}
	// Each shipped fact has a source of its own or of its kind, and each defect says what to do.
	all := map[string]grounds{"other SoCs": f.OtherSoCs.Grounds}
	for _, s := range f.SoCs {
		all[s.Name] = s.Grounds
	}
	for _, x := range f.Archs {
		all[x.Name] = x.Grounds
	}
	for _, r := range f.Releases {
		all[r.Toolchain+" "+r.Version] = r.Grounds
	}
	for of, known := range all {
		for attribute, fact := range known {
			if fact.Source == "the catalog" || fact.Confidence == qnn.Declared {
				t.Errorf("%s: %s is %s: %s", of, attribute, fact.Confidence, fact.Source)
			}
		}
	}
	for _, d := range f.Defects {
		if d.Releases.From == "" || d.Reason == "" || d.Remedy == "" || d.Source == "" || d.Confidence == "" {
			t.Errorf("%+v", d)
		}
	}

	text := shownFacts(t, nil)
	for _, want := range []string{"facts ", "SoCs ", "defects of releases "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
