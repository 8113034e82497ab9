package step_test

import (
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/step"
)

// documented has one of everything that a kind can have.
type documented struct {
	Source  string            `arg:"source,required"`
	Jobs    int               `arg:"jobs" default:"1" range:"1..64"`
	Renames []renamed         `block:"rename"`
	Defines map[string]string `arg:"defines"`
}

type renamed struct {
	Name string `arg:"name,label"`
	From string `arg:"from,required"`
	To   string `arg:"to"`
}

func documentedKind() step.Kind {
	return step.New(step.Schema{
		Summary:    "Does <all>.",
		ArgDocs:    map[string]string{"source": "a | b\nc", "jobs": "How many."},
		Outputs:    []step.OutputSpec{{Name: "dir", Class: action.Tree, Doc: "all"}},
		OwnOutputs: true, OutputsFrom: "targets", Toolchains: []string{"llvm", "make"},
		Example: "step \"b\" \"x\" {}",
	}, func(documented, *step.Plan) {})
}

func TestMarkdown(t *testing.T) {
	kinds := map[string]step.Kind{addrs.Toolchain: step.New(step.Schema{Summary: "Takes one."}, func(struct{}, *step.Plan) {}), "b": documentedKind()}
	want := `### step "b"

Does &lt;all>.

| argument | type | |
|---|---|---|
| ` + "`defines`" + ` | map(string) |  |
| ` + "`jobs`" + ` | number | How many. Values: 1 to 64. Default: 1. |
| ` + "`rename`" + ` | blocks "NAME" { from (string, required), to (string) } |  |
| ` + "`source`" + ` | string | **Required.** a \| b c |

| output | class | |
|---|---|---|
| ` + "`dir`" + ` | tree | all |
| one for each of ` + "`targets`" + ` | file | |

Its outputs are those of its own ` + "`output`" + ` blocks.

It uses these toolchains, where the pipeline declares them, without being told: ` + "`llvm`, `make`" + `.

` + "```hcl\nstep \"b\" \"x\" {}\n```" + `

### toolchain

Takes one.
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
