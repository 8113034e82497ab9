package steps_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

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
			stats, err := measure.Summarize([][]measure.Metric{{{Name: "prefill_tokens", Value: n, Unit: "tokens"}, {Name: "prefill_tokens_per_s", Value: 500, Unit: "tokens/s"}, {Name: "prefill_time_us", Value: 1, Unit: "us"}}}, 0)
			if err != nil {
				t.Fatal(err)
			}
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

// plan plans a run step whose body has the given lines beside argv, and push where they have none.
func planRun(t *testing.T, body string) (step.Planned, hcl.Diagnostics) {
	t.Helper()
	kind := steps.Table()["run"]
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
	if args := strings.Join(m.Args, " "); !strings.Contains(args, "--spec spec.json --previous previous.json") {
		t.Error(args)
	}
	var got map[string]any
	found := map[string]string{}
	for _, in := range m.Inputs {
		switch {
		case in.Content != nil:
			if err := json.Unmarshal(in.Content.Data, &got); err != nil {
				t.Fatal(err)
			}
		case in.Host != nil:
			found[in.Path] = in.Host.Path
		}
	}
	if found["previous.json"] != "old.json" {
		t.Errorf("%v", found)
	}
	if b := got["baselines"].([]any); len(b) != 2 {
		t.Errorf("baselines: %v", b)
	} else {
		got["baselines"] = b[1:]
	}
	want := map[string]any{
		"facts": map[string]any{"prefill_tokens": 64.0}, "tolerance": 0.1,
		"patterns": []any{map[string]any{"name": "psnr", "pattern": "PSNR=([0-9.]+)", "unit": "dB"}},
		"baselines": []any{map[string]any{"name": "ours", "source": "yesterday", "rows": []any{
			map[string]any{"metric": "decode_tokens_per_s", "value": 30.0, "spread": 0.5, "when": map[string]any{"prefill_tokens": 64.0}}}}},
		"limits": []any{map[string]any{"metric": "prefill_tokens_per_s", "min": 300.0, "baseline": "llm.npu-paper", "regression": 0.05},
			map[string]any{"metric": "prefill_time_us", "baseline": "previous"}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if p, diags := planRun(t, ""); diags.HasErrors() || strings.Contains(strings.Join(p.Specs[1].Args, " "), "--spec") {
		t.Errorf("%v, %v", p.Specs[1].Args, diags)
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
		`tolerance = 5`:                       "0.05 is five per cent",
	} {
		if _, diags := planRun(t, body); !diags.HasErrors() || !strings.Contains(diags.Error(), want) {
			t.Errorf("%s: %v, want %q", body, diags, want)
		}
	}
}
