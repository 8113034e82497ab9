package step_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
)

// documented is a kind with one of everything that a schema can hold.
type documented struct{}

func (documented) Schema() step.Schema {
	source := &hcldec.AttrSpec{Name: "source", Type: cty.String, Required: true}
	return step.Schema{
		Summary: "Does <all>.",
		Args: hcldec.ObjectSpec{
			"source":  source,
			"jobs":    &hcldec.DefaultSpec{Primary: &hcldec.AttrSpec{Name: "jobs", Type: cty.Number}, Default: &hcldec.LiteralSpec{Value: cty.NumberIntVal(1)}},
			"opts":    &hcldec.AttrSpec{Name: "opts", Type: cty.Object(map[string]cty.Type{"a": cty.Bool})},
			"rename":  &hcldec.BlockListSpec{TypeName: "rename", Nested: hcldec.ObjectSpec{"from": &hcldec.AttrSpec{Name: "from", Type: cty.String, Required: true}, "to": &hcldec.AttrSpec{Name: "to", Type: cty.String}}},
			"defines": &hcldec.BlockAttrsSpec{TypeName: "defines", ElementType: cty.String},
		},
		ArgDocs:    map[string]string{"source": "a | b\nc"},
		Outputs:    []step.OutputSpec{{Name: "dir", Class: action.Tree, Doc: "all"}},
		OwnOutputs: true, OutputsFrom: "targets", Toolchains: []string{"llvm", "ndk"},
	}
}

func (documented) Plan(step.Request) (step.Planned, hcl.Diagnostics) { return step.Planned{}, nil }

func TestMarkdown(t *testing.T) {
	kinds := map[string]step.Kind{"b": documented{}}
	want := `### step "b"

Does &lt;all>.

| argument | type | |
|---|---|---|
| ` + "`defines`" + ` | block of string |  |
| ` + "`jobs`" + ` | number |  |
| ` + "`opts`" + ` | object({a=bool}) |  |
| ` + "`rename`" + ` | blocks { from (string, required), to (string) } |  |
| ` + "`source`" + ` | string | **Required.** a \| b c |

| output | class | |
|---|---|---|
| ` + "`dir`" + ` | tree | all |
| one for each of ` + "`targets`" + ` | file | |

Its outputs are those of its own ` + "`output`" + ` blocks.

It uses these toolchains, where the pipeline declares them, without being told: ` + "`llvm`, `ndk`" + `.
`
	if got := step.Markdown(kinds); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}

	doc := "# Title\n<!-- kinds: generated, do not edit -->\nstale\n<!-- end of kinds -->\nrest\n"
	got, err := step.UpdateDocs([]byte(doc), kinds)
	if err != nil || !strings.HasPrefix(string(got), "# Title\n") || !strings.HasSuffix(string(got), "<!-- end of kinds -->\nrest\n") ||
		!strings.Contains(string(got), want) || strings.Contains(string(got), "stale") {
		t.Errorf("updated to %q, %v", got, err)
	}
	again, err := step.UpdateDocs(got, kinds)
	if err != nil || string(again) != string(got) {
		t.Errorf("updating twice differs: %q, %v", again, err)
	}
	if _, err := step.UpdateDocs([]byte("# Title"), kinds); err == nil {
		t.Error("a document without the section is accepted")
	}
}
