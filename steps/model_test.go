package steps_test

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/steps"
)

func TestModelMistakes(t *testing.T) {
	str, num := cty.StringVal, cty.NumberIntVal
	for _, tt := range []struct {
		kind string
		args map[string]cty.Value
		want string // "" is none
	}{
		{"model", map[string]cty.Value{"seed": num(1), "block_size": num(17)}, "block_size is 17"},
		{"model", map[string]cty.Value{"seed": num(1), "block_size": num(32)}, ""},
		{"quantize", map[string]cty.Value{"model": str("m"), "block_size": cty.NumberFloatVal(16.5)}, "block_size is 16.5"},
		{"quantize", map[string]cty.Value{"model": str("m")}, ""},
		{"convert", map[string]cty.Value{"model": str("m"), "name": str("n"), "format": str("v3")}, `format is "v3"`},
		{"reference", map[string]cty.Value{"model": str("m"), "config": str("c"), "tokenizer": str("t"), "prompt": str(" ")}, "needs at least one"},
		{"reference", map[string]cty.Value{"model": str("m"), "config": str("c"), "tokenizer": str("t"), "prompt": str("x")}, ""},
		{"context", map[string]cty.Value{"model": str("m"), "config": str("c"), "compiler": str("x")}, "Add a block `target"},
	} {
		r := step.Request{At: addrs.Instance{Step: addrs.Step{Kind: tt.kind, Name: "x"}}, Args: cty.ObjectVal(tt.args), Target: cty.NullVal(cty.DynamicPseudoType)}
		_, diags := steps.Table()[tt.kind].Plan(r)
		if (tt.want == "") == diags.HasErrors() || tt.want != "" && !strings.Contains(diags.Error(), tt.want) {
			t.Errorf("%s %v: diagnostics %v, want %q", tt.kind, tt.args, diags, tt.want)
		}
	}
}
