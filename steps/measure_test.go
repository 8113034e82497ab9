package steps_test

import (
	"fmt"
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

// The shipped tables hold what the paper and its reproduction measured, with units and sources; the reproduction's times and speeds agree.
func TestBaselines(t *testing.T) {
	t.Parallel()
	all, diags := steps.Baselines()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	got := map[string]string{}
	for _, b := range all {
		if b.Source == "" {
			t.Errorf("%s has no source", b.Name)
		}
		for _, n := range []float64{64, 256, 1024} {
			stats := measure.Summarize([][]measure.Metric{{{Name: "prefill_tokens", Value: n, Unit: "tokens"}, {Name: "prefill_tokens_per_s", Value: 500, Unit: "tokens/s"}, {Name: "prefill_time_us", Value: 1, Unit: "us"}}})
			speed := 0.0
			for _, c := range measure.Compare(stats, b, 0.05) {
				if c.Metric == "prefill_tokens_per_s" {
					speed = c.Base
					got[b.Name] += fmt.Sprint(" ", c.Base)
				}
			}
			for _, c := range measure.Compare(stats, b, 0.05) {
				if c.Metric == "prefill_time_us" && fmt.Sprintf("%.2f", n/c.Base*1e6) != fmt.Sprintf("%.2f", speed) {
					t.Errorf("%s: %v tokens in %v us are not %v tokens/s", b.Name, n, c.Base, speed)
				}
			}
		}
	}
	if got["llm.npu-paper"] != " 333 564 1106" || got["llm.npu-reproduction"] != " 318.27 524.79 1013.68" {
		t.Errorf("%q", got)
	}
}

// planRun plans a run step whose body has the given lines beside argv, and push where they have none.
func planRun(t *testing.T, body string) (step.Planned, hcl.Diagnostics) {
	t.Helper()
	kind := table()["run"]
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
		At: addrs.Instance{Step: addrs.Step{Kind: "run", Name: "x"}}, Args: args, Target: cty.NullVal(cty.DynamicPseudoType), Profile: "device",
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
		Title: "x", Profile: "device", Out: "metrics.json", Previous: "previous.json", Tolerance: 0.1,
		Patterns:  []measure.Pattern{{Name: "psnr", Pattern: "PSNR=([0-9.]+)", Unit: "dB"}},
		Baselines: []measure.Baseline{{Name: "ours", Source: "yesterday", Rows: []measure.BaselineRow{{Metric: "decode_tokens_per_s", Value: 30, Spread: 0.5, When: map[string]float64{"prefill_tokens": 64}}}}},
		Limits:    []measure.Limit{{Metric: "prefill_tokens_per_s", Min: f(300), Baseline: "llm.npu-paper", Regression: 0.05}, {Metric: "prefill_time_us", Baseline: "previous"}},
		Runs:      []measure.Run{{Repetition: 1, Stdout: "runs/stdout.txt", Samples: "runs/samples.json", Facts: map[string]float64{"prefill_tokens": 64}}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestMeasureMistakes(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`baselines = ["paper"]`:                                   `There is no baseline "paper". There are llm.npu-paper and llm.npu-reproduction`,
		"metric \"x\" {\n pattern = \"(\"\n unit = \"ms\"\n}":     "missing closing",
		"metric \"x\" {\n pattern = \"x\"\n unit = \"ms\"\n}":     "has no group",
		"metric \"X Y\" {\n pattern = \"(x)\"\n unit = \"ms\"\n}": "use small letters",
		`limit "x" {}`:                        "neither min nor max nor baseline",
		`limit "x" { baseline = "previous" }`: `compares with "previous"`,
		`tolerance = 5`:                       "tolerance is 5: give a number from 0 to 1",
	} {
		if _, diags := planRun(t, body); !diags.HasErrors() || !strings.Contains(diags.Error(), want) {
			t.Errorf("%s: %v, want %q", body, diags, want)
		}
	}
}
