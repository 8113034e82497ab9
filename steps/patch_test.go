package steps_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/patches"
)

func instance(kind, name string) addrs.Instance {
	return addrs.Instance{Step: addrs.Step{Kind: kind, Name: name}}
}

func patchRequest(args map[string]cty.Value) step.Request {
	for _, name := range []string{"source", "series", "sdk"} {
		if _, ok := args[name]; !ok {
			args[name] = cty.NullVal(cty.String)
		}
	}
	return step.Request{
		At: instance("patch", "ops"), Args: args,
		Toolchains: map[string]step.Toolchain{"qairt": {Output: addrs.Output{Instance: instance(addrs.Toolchain, "qairt"), Name: "dir"}}},
	}
}

// patchInputs maps each input's path to what it is.
func patchInputs(s action.Spec) map[string]string {
	m := map[string]string{}
	for _, in := range s.Inputs {
		switch {
		case in.Artifact != nil:
			m[in.Path] = in.Artifact.String() + "/" + in.Sub
		case in.Host != nil:
			m[in.Path] = "host " + in.Host.Path
		case in.Content != nil:
			m[in.Path] = "content"
		}
	}
	return m
}

func TestPlan(t *testing.T) {
	for _, tt := range []struct {
		name, series, arg string
		want              map[string]string
	}{
		{"a series of hexmage's", "mllm", "mllm=in/series/mllm", map[string]string{
			"in/series/mllm/qairt2.31-qairt2.34/rules.hcl": "content",
			"in/series/mllm/qairt2.34-qairt2.31/rules.hcl": "content"}},
		{"a series of the workspace", "./patches/own", "own=in/series/own", map[string]string{"in/series/own": "host patches/own"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			planned, diags := table()["patch"].Plan(patchRequest(map[string]cty.Value{"source": cty.StringVal("ops"), "series": cty.StringVal(tt.series)}))
			if diags.HasErrors() || len(planned.Specs) != 1 {
				t.Fatal(diags)
			}
			spec := planned.Specs[0]
			want := map[string]string{tool.ArgsFile: "content", "in/source/ops": "host ops", "toolchains/qairt/include/QNN": "toolchain.qairt/include/QNN"}
			for k, v := range tt.want {
				want[k] = v
			}
			if diff := cmp.Diff(want, patchInputs(spec)); diff != "" {
				t.Errorf("inputs (-want +got):\n%s", diff)
			}
			var args patches.Spec
			if err := tool.Decode(spec.Inputs[0].Content.Data, &args); err != nil || args.Series+"="+args.Rules != tt.arg {
				t.Errorf("args %+v, %v", args, err)
			}
			if spec.Platform[action.PropertyTool] != "patch/5" || len(spec.Outputs) != 2 || len(planned.Outputs) != 2 {
				t.Errorf("spec %+v", spec)
			}
		})
	}
	r := patchRequest(map[string]cty.Value{"source": cty.StringVal("ops"), "series": cty.StringVal("mllm")})
	r.Toolchains = nil
	if _, diags := table()["patch"].Plan(r); !diags.HasErrors() {
		t.Error("planned without an SDK")
	}
}
