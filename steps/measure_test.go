package steps_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/runner/measure"
	"github.com/hexmage/hexmage/steps"
)

// planRun plans a run step whose body has the given lines beside argv, and push where they have none.
func planRun(t *testing.T, body string) (step.Planned, hcl.Diagnostics) {
	t.Helper()
	return planRunOf(t, table()["run"], body)
}

func planRunOf(t *testing.T, kind step.Kind, body string) (step.Planned, hcl.Diagnostics) {
	t.Helper()
	body = "argv = [\"./p\"]\n" + body
	if !strings.Contains(body, "push ") {
		body = "push = { a = \"a\" }\n" + body
	}
	f, diags := hclsyntax.ParseConfig([]byte(body), "p.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	args, diags := hcldec.Decode(f.Body, kind.Schema().Args, nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return kind.Plan(step.Request{
		At: addrs.Instance{Step: addrs.Step{Kind: "run", Name: "x"}}, Args: args.AsValueMap(), Target: cty.NullVal(cty.DynamicPseudoType), Profile: "device",
		Toolchains: map[string]step.Toolchain{"adb": {Output: addrs.Output{Instance: addrs.Instance{Step: addrs.Step{Kind: addrs.Toolchain, Name: "adb"}}, Name: "dir"}}},
	})
}

// What a step says about measuring reaches the tool.
func TestMeasureArguments(t *testing.T) {
	t.Parallel()
	p, diags := planRun(t, `
facts     = { prefill_tokens = 64 }
baselines = ["llm.npu-paper"]
tolerance = 0.1
previous  = "old.json"
metric "psnr" {
  pattern = "PSNR=([0-9.]+)"
  unit    = "dB"
}
baseline "ours" {
  source = "yesterday"
  row "decode_tokens_per_s" {
    value  = 30
    spread = 0.5
    when   = { prefill_tokens = 64 }
  }
}
limit "prefill_tokens_per_s" {
  min        = 300
  baseline   = "llm.npu-paper"
  regression = 0.05
}
limit "prefill_time_us" { baseline = "previous" }
`)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	m := p.Specs[1]
	if !slices.ContainsFunc(m.Inputs, func(in action.Input) bool {
		return in.Path == "previous.json" && in.Host != nil && in.Host.Path == "old.json"
	}) {
		t.Errorf("%+v", m.Inputs)
	}
	got := readSpec(t, m)
	if len(got.Baselines) != 2 || got.Baselines[0].Name != "llm.npu-paper" {
		t.Fatalf("baselines: %+v", got.Baselines)
	}
	got.Baselines = got.Baselines[1:]
	f := func(v float64) *float64 { return &v }
	want := measure.Spec{
		Title: "x", Profile: "device", Out: "metrics.json", Measured: "measured.json", Previous: "previous.json", Tolerance: 0.1,
		Patterns:  []measure.Pattern{{Name: "psnr", Pattern: "PSNR=([0-9.]+)", Unit: "dB"}},
		Baselines: []measure.Baseline{{Name: "ours", Source: "yesterday", Rows: []measure.BaselineRow{{Metric: "decode_tokens_per_s", Value: 30, Spread: 0.5, When: map[string]float64{"prefill_tokens": 64}}}}},
		Limits:    []measure.Limit{{Metric: "prefill_tokens_per_s", Min: f(300), Baseline: "llm.npu-paper", Regression: 0.05}, {Metric: "prefill_time_us", Baseline: "previous"}},
		Runs:      []measure.Run{{Repetition: 1, Stdout: "runs/stdout.txt", Phone: "runs/phone.json", Samples: "runs/samples.json", Facts: map[string]float64{"prefill_tokens": 64}}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// What the workspace's files say is for all its runs; a block of a step is in place of theirs of that name.
func TestMetricsOfTheWorkspace(t *testing.T) {
	t.Parallel()
	file := func(text string) map[string][]byte { return map[string][]byte{"metrics/ours.hcl": []byte(text)} }
	run := steps.Workspace{Metrics: file(`
metric "psnr" {
  pattern = "PSNR={number}"
  unit    = "dB"
}
metric "load" {
  pattern = "loaded in {time}"
  unit    = "ms"
}
baseline "ours" { source = "yesterday" }
`)}.Kinds()["run"]
	p, diags := planRunOf(t, run, "baselines = [\"ours\"]\nmetric \"psnr\" {\n pattern = \"psnr ([0-9.]+)\"\n unit = \"dB\"\n}")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	got := readSpec(t, p.Specs[1])
	want := []measure.Pattern{{Name: "psnr", Pattern: "psnr ([0-9.]+)", Unit: "dB"}, {Name: "load", Pattern: "loaded in {time}", Unit: "ms"}}
	if d := cmp.Diff(want, got.Patterns); d != "" || len(got.Baselines) != 1 {
		t.Errorf("%+v\n%s", got.Baselines, d)
	}
	bad := steps.Workspace{Metrics: file("metric \"x\" {\n  pattern = \"(\"\n  unit = \"ms\"\n}")}.Kinds()["run"]
	if _, diags := planRunOf(t, bad, ""); len(diags) != 1 || !strings.Contains(diags.Error(), "metrics/ours.hcl:1,1-11") {
		t.Errorf("%v", diags)
	}
}

func TestMeasureMistakes(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`baselines = ["paper"]`:                                   `"paper" is unknown. Use llm.npu-paper, llm.npu-reproduction`,
		"metric \"x\" {\n pattern = \"(\"\n unit = \"ms\"\n}":     "missing closing",
		"metric \"x\" {\n pattern = \"x\"\n unit = \"ms\"\n}":     "has no group",
		"metric \"X Y\" {\n pattern = \"(x)\"\n unit = \"ms\"\n}": "use lower-case letters",
		`limit "x" {}`:                        "Add min, max or baseline",
		`limit "x" { baseline = "previous" }`: `Add "previous" to baselines`,
		`tolerance = 5`:                       "tolerance is 5. Use a number from 0 to 1",
	} {
		if _, diags := planRun(t, body); !diags.HasErrors() || !strings.Contains(diags.Error(), want) {
			t.Errorf("%s: %v, want %q", body, diags, want)
		}
	}
}
