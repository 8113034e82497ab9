package steps

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/runner/measure"
)

//go:embed baselines.hcl
var shippedBaselines embed.FS

// baselineBlock is a baseline, as a file and as a step have it.
type baselineBlock struct {
	Name    string              `hcl:",label"`
	Source  string              `hcl:"source"`
	Profile string              `hcl:"profile,optional"`
	Rows    []*baselineRowBlock `hcl:"row,block"`
}

type baselineRowBlock struct {
	Metric string             `hcl:",label"`
	Value  float64            `hcl:"value"`
	Spread float64            `hcl:"spread,optional"`
	When   map[string]float64 `hcl:"when,optional"`
}

// Baselines returns the shipped tables of what others have measured.
func Baselines() ([]measure.Baseline, hcl.Diagnostics) {
	const name = "baselines.hcl"
	src, err := shippedBaselines.ReadFile(name)
	if err != nil {
		return nil, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Embedded baselines", Detail: err.Error()}}
	}
	f, diags := hclsyntax.ParseConfig(src, "<hexmage>/runner/runstep/"+name, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, diags
	}
	var c struct {
		Baselines []*baselineBlock `hcl:"baseline,block"`
	}
	if diags := gohcl.DecodeBody(f.Body, nil, &c); diags.HasErrors() {
		return nil, diags
	}
	var out []measure.Baseline
	for _, b := range c.Baselines {
		t := measure.Baseline{Name: b.Name, Source: b.Source, Profile: b.Profile}
		for _, r := range b.Rows {
			t.Rows = append(t.Rows, measure.BaselineRow{Metric: r.Metric, Value: r.Value, Spread: r.Spread, When: r.When})
		}
		out = append(out, t)
	}
	return out, nil
}

// measureArgs are the arguments of kind run about what is measured.
func measureArgs(args hcldec.ObjectSpec) hcldec.ObjectSpec {
	attr := func(name string, t cty.Type, required bool) hcldec.Spec {
		return &hcldec.AttrSpec{Name: name, Type: t, Required: required}
	}
	label := func(name string) hcldec.Spec { return &hcldec.BlockLabelSpec{Index: 0, Name: name} }
	maps.Copy(args, hcldec.ObjectSpec{
		"metric": &hcldec.BlockListSpec{TypeName: "metric", Nested: hcldec.ObjectSpec{
			"name": label("name"), "pattern": attr("pattern", cty.String, true), "unit": attr("unit", cty.String, true),
		}},
		"facts":     attr("facts", cty.Map(cty.String), false), // numbers, once {axis} is replaced
		"columns":   attr("columns", cty.List(cty.String), false),
		"baselines": attr("baselines", cty.List(cty.String), false),
		"baseline": &hcldec.BlockListSpec{TypeName: "baseline", Nested: hcldec.ObjectSpec{
			"name": label("name"), "source": attr("source", cty.String, true), "profile": attr("profile", cty.String, false),
			"row": &hcldec.BlockListSpec{TypeName: "row", Nested: hcldec.ObjectSpec{
				"name": label("metric"), "value": attr("value", cty.Number, true), "spread": attr("spread", cty.Number, false), "when": attr("when", cty.Map(cty.Number), false),
			}},
		}},
		"previous":  attr("previous", cty.String, false),
		"tolerance": attr("tolerance", cty.Number, false),
		"limit": &hcldec.BlockListSpec{TypeName: "limit", Nested: hcldec.ObjectSpec{
			"name": label("metric"), "min": attr("min", cty.Number, false), "max": attr("max", cty.Number, false),
			"baseline": attr("baseline", cty.String, false), "regression": attr("regression", cty.Number, false), "when": attr("when", cty.Map(cty.Number), false),
		}},
	})
	return args
}

func measureDocs(docs map[string]string) map[string]string {
	maps.Copy(docs, map[string]string{
		"metric":    "A line to look for beside those of known runners: `pattern` (RE2) has the number in its first group, `unit` is such as ms, tokens/s or MB",
		"facts":     "metrics that are known and not printed, such as { prefill_tokens = 256 }; speeds are worked out from them",
		"columns":   "metrics that the table of several variants shows, such as [\"prefill_tokens_per_s\"]; by default those that matter most of what was printed",
		"baselines": "shipped tables to compare with: llm.npu-paper, llm.npu-reproduction. Runs of profile open are compared with none of them",
		"baseline":  "A table of one's own: `source` says who measured; `row \"METRIC\"` has a `value`, perhaps a `spread`, and `when` the values of other metrics that it is for. With `profile` it is for runs of that profile",
		"previous":  "metrics.json of an earlier run, as a baseline of the name previous",
		"tolerance": "part of a baseline by which a value may differ and be within noise (0.05); twice the spread is noise in any case",
		"limit":     "A bound on a metric, whose breach fails the step: `min`, `max`, or a `baseline` and by which part of it the value may be worse (`regression = 0.1`); `when` the values of other metrics that it is for",
	})
	return docs
}

// measureSpec reads the arguments of measureArgs.
func measureSpec(r step.Request) (spec measure.Spec, diags hcl.Diagnostics) {
	bad := func(arg, summary, detail string, args ...any) {
		diags = append(diags, r.ArgErrorf(arg, summary, detail, args...))
	}
	for _, b := range blocks(r.Args, "metric") {
		p := measure.Pattern{Name: text(b, "name"), Pattern: text(b, "pattern"), Unit: text(b, "unit")}
		if !metricName(p.Name) {
			bad("metric", "Not a name for a metric", "%q: use small letters, digits and '_'.", p.Name)
		}
		if _, err := measure.NewParser([]measure.Pattern{p}); err != nil {
			bad("metric", "Pattern cannot be used", "%s.", err)
		}
		spec.Patterns = append(spec.Patterns, p)
	}
	spec.Columns = r.Strings("columns")
	spec.Tolerance, _ = num(r.Args, "tolerance")
	if spec.Tolerance < 0 || spec.Tolerance > 1 {
		bad("tolerance", "Not a part", "tolerance is %v: 0.05 is five per cent.", spec.Tolerance)
	}
	shipped, ds := Baselines()
	diags = append(diags, ds...)
	for _, name := range r.Strings("baselines") {
		i := slices.IndexFunc(shipped, func(b measure.Baseline) bool { return b.Name == name })
		if i < 0 {
			var have []string
			for _, b := range shipped {
				have = append(have, b.Name)
			}
			bad("baselines", "No such baseline", "There is no baseline %q. There are %s; others can be blocks `baseline` of the step.", name, strings.Join(have, " and "))
			continue
		}
		spec.Baselines = append(spec.Baselines, shipped[i])
	}
	for _, b := range blocks(r.Args, "baseline") {
		t := measure.Baseline{Name: text(b, "name"), Source: text(b, "source"), Profile: text(b, "profile")}
		for _, row := range blocks(b, "row") {
			v, _ := num(row, "value")
			spread, _ := num(row, "spread")
			t.Rows = append(t.Rows, measure.BaselineRow{Metric: text(row, "name"), Value: v, Spread: spread, When: numbers(row, "when")})
		}
		spec.Baselines = append(spec.Baselines, t)
	}
	for _, b := range blocks(r.Args, "limit") {
		l := measure.Limit{Metric: text(b, "name"), Baseline: text(b, "baseline"), When: numbers(b, "when")}
		if v, ok := num(b, "min"); ok {
			l.Min = &v
		}
		if v, ok := num(b, "max"); ok {
			l.Max = &v
		}
		l.Regression, _ = num(b, "regression")
		switch known := l.Baseline == measure.Previous && r.String("previous") != "" || slices.ContainsFunc(spec.Baselines, func(t measure.Baseline) bool { return t.Name == l.Baseline }); {
		case l.Min == nil && l.Max == nil && l.Baseline == "":
			bad("limit", "A limit that limits nothing", "limit %q has neither min nor max nor baseline.", l.Metric)
		case l.Baseline != "" && !known:
			bad("limit", "No such baseline", "limit %q compares with %q, which the step has neither in baselines nor as a block baseline.", l.Metric, l.Baseline)
		}
		spec.Limits = append(spec.Limits, l)
	}
	return spec, diags
}

// measureInputs gives the tool metrics what measureSpec read, as flags and inputs.
func measureInputs(r step.Request, spec measure.Spec) (flags []string, in []action.Input, err error) {
	b, err := json.MarshalIndent(spec, "", "  ")
	if err != nil {
		return nil, nil, fmt.Errorf("write down what is measured: %w", err)
	}
	if string(b) != "{}" {
		flags = append(flags, "--spec", "spec.json")
		in = append(in, action.Input{Path: "spec.json", Content: &action.Content{Data: append(b, '\n')}})
	}
	if p := r.String("previous"); p != "" {
		flags = append(flags, "--previous", "previous.json")
		in = append(in, r.Input("previous", p, "previous.json"))
	}
	return flags, in, nil
}

func metricName(s string) bool { return regexp.MustCompile(`^[a-z][a-z0-9_]*$`).MatchString(s) }

// blocks returns the blocks of the name in an object, none if there are none.
func blocks(v cty.Value, name string) []cty.Value {
	l := attribute(v, name)
	if l.IsNull() || !l.CanIterateElements() {
		return nil
	}
	return l.AsValueSlice()
}

func attribute(v cty.Value, name string) cty.Value {
	if v.IsNull() || !v.Type().IsObjectType() || !v.Type().HasAttribute(name) {
		return cty.NullVal(cty.DynamicPseudoType)
	}
	return v.GetAttr(name)
}

func text(v cty.Value, name string) string { return step.Request{Args: v}.String(name) }

func num(v cty.Value, name string) (float64, bool) {
	n := attribute(v, name)
	if n.IsNull() || n.Type() != cty.Number {
		return 0, false
	}
	f, _ := n.AsBigFloat().Float64()
	return f, true
}

func numbers(v cty.Value, name string) map[string]float64 {
	m := attribute(v, name)
	if m.IsNull() || !m.CanIterateElements() || m.LengthInt() == 0 {
		return nil
	}
	out := map[string]float64{}
	for k, x := range m.AsValueMap() {
		if !x.IsNull() {
			out[k], _ = x.AsBigFloat().Float64()
		}
	}
	return out
}
