package steps_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/runner/session"
)

func TestSampleArguments(t *testing.T) {
	for _, c := range []struct {
		ms   cty.Value
		want string // of the platform; with "?" the error
	}{
		{cty.NullVal(cty.Number), "100"},
		{cty.NumberIntVal(500), "500"},
		{cty.NumberIntVal(0), ""},
		{cty.NumberIntVal(9), "?sample_ms: invalid value 9. Use a whole number of milliseconds from 10 to 60000, or 0"},
		{cty.NumberIntVal(60001), "?sample_ms: invalid value 60001"},
		{cty.NumberFloatVal(12.5), "?sample_ms: invalid value 12.5"},
		{cty.NumberIntVal(-100), "?sample_ms: invalid value -100"},
	} {
		p, diags := table()["run"].Plan(request(map[string]cty.Value{"sample_ms": c.ms}))
		if message, bad := strings.CutPrefix(c.want, "?"); bad {
			if !diags.HasErrors() || !strings.Contains(diags.Error(), message) {
				t.Errorf("%#v: %v", c.ms, diags)
			}
			continue
		}
		if diags.HasErrors() {
			t.Errorf("%#v: %v", c.ms, diags)
			continue
		}
		run, metrics := p.Specs[0], p.Specs[1]
		writes := slices.ContainsFunc(run.Outputs, func(o action.Output) bool { return o.Path == session.SamplesJSON })
		reads := slices.ContainsFunc(metrics.Inputs, func(in action.Input) bool { return in.Path == "runs/samples.json" })
		parts := len(p.Outputs["samples"].Parts)
		if on := c.want != ""; run.Platform[session.PropertySampleMS] != c.want || writes != on || reads != on || (parts == 2) != on {
			t.Errorf("%#v: %v, outputs %v, read %v, %d parts", c.ms, run.Platform, run.Outputs, reads, parts)
		}
	}
}

// Every run of a matrix has samples of its own.
func TestSamplesOfSeveralRuns(t *testing.T) {
	p, diags := table()["run"].Plan(request(map[string]cty.Value{
		"argv": strs("./p", "${matrix.seq}"), "repeat": cty.NumberIntVal(2), "matrix": cty.MapVal(map[string]cty.Value{"seq": cty.ListVal([]cty.Value{cty.StringVal("64"), cty.StringVal("256")})}),
	}))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var got []string
	for _, part := range p.Outputs["samples"].Parts {
		if part.Spec.Path == session.SamplesCSV {
			got = append(got, part.Spec.Spec+": "+part.Path)
		}
	}
	slices.Sort(got)
	if len(got) != 4 || len(slices.Compact(got)) != 4 || !strings.HasSuffix(got[0], "/samples.csv") {
		t.Errorf("%q", got)
	}
}
