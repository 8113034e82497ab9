package steps_test

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
)

func TestRunMistakes(t *testing.T) {
	for _, tt := range []struct {
		name, push, pull, library, want string
	}{
		{"right", "a", "results/x", "$HEXMAGE_ROOT;/dsp", ""},
		{"colon", "a", "x", "$HEXMAGE_ROOT:/dsp", `"$HEXMAGE_ROOT;/dsp"`},
		{"push out", "../a", "x", "", `push: "../a"`},
		{"pull out", "a", "../x", "", `pull: "../x"`},
		{"pull absolute", "a", "/x", "", `pull: "/x"`},
	} {
		at := addrs.Instance{Step: addrs.Step{Kind: "run", Name: "x"}}
		adb := addrs.Output{Instance: addrs.Instance{Step: addrs.Step{Kind: addrs.Toolchain, Name: "adb"}}, Name: "dir"}
		r := step.Request{
			At: at, Target: cty.NullVal(cty.DynamicPseudoType), Env: map[string]string{"ADSP_LIBRARY_PATH": tt.library},
			Toolchains: map[string]step.Toolchain{"adb": {Output: adb}},
			Args: map[string]cty.Value{
				"argv": cty.ListVal([]cty.Value{cty.StringVal("./p")}),
				"push": cty.MapVal(map[string]cty.Value{tt.push: cty.StringVal("p")}),
				"pull": cty.ListVal([]cty.Value{cty.StringVal(tt.pull)}),
			},
		}
		_, diags := table()["run"].Plan(r)
		if (tt.want == "") == diags.HasErrors() || tt.want != "" && !strings.Contains(diags.Error(), tt.want) {
			t.Errorf("%s: diagnostics %v, want %q", tt.name, diags, tt.want)
		}
	}
}
