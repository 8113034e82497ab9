package steps

import (
	"maps"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
)

// Accuracy are the arguments of kind accuracy.
type Accuracy struct {
	Reference    step.Path            `arg:"reference,required"`
	Outputs      map[string]step.Path `arg:"outputs,required"`
	Contexts     map[string]step.Path `arg:"contexts"`
	CompileTimes map[string]step.Path `arg:"compile_times"`
	Times        map[string]step.Path `arg:"times"`
	Title        string               `arg:"title"`
}

func accuracySchema() step.Schema {
	return step.Schema{
		Summary: "Compares what a language model said in several ways with what a reference did: words, tokens, cosine, perplexity.",
		ArgDocs: map[string]string{
			"reference":     "What `onnx_run` or `htp_emulate` made.",
			"outputs":       "What is compared with it, by name: the same prompt, by other graphs or on something else.",
			"contexts":      "Of the same names, the contexts that they ran from: their sizes and nodes go into the table.",
			"compile_times": "Likewise how long compiling took, of `htp_context`.",
			"times":         "Likewise how long answering took.",
			"title":         "What stands over the table.",
		},
		Outputs: []step.OutputSpec{
			{Name: "table", Class: action.File, Doc: "A line for each, beside the reference's (JSON)."},
			{Name: "rows", Class: action.Value, Doc: "The same by name, for checks: { lpbq = { words, tokens, equal, cosine, cosine_min, difference_max, sqnr_db, argmax_equal, perplexity, npu_nodes, cpu_nodes, … } }."},
		},
		Toolchains: []string{onnxToolchain},
		Example: `step "accuracy" "smollm2" {
  reference = step.onnx_run.float.outputs.dir
  outputs   = { lpbq = step.htp_emulate.lpbq.outputs.dir }
}`,
	}
}

// Plan plans the comparison, one action for all.
func (c Accuracy) Plan(p *step.Plan) {
	args := map[string]any{"reference": c.Reference.InRoot(), "title": c.Title, "table": "table.json", "rows": "rows.json"}
	inputs := []action.Input{c.Reference.Input()}
	for name, of := range map[string]map[string]step.Path{"outputs": c.Outputs, "contexts": c.Contexts, "compile_times": c.CompileTimes, "times": c.Times} {
		at := map[string]string{}
		for _, key := range slices.Sorted(maps.Keys(of)) {
			if _, ok := c.Outputs[key]; !ok {
				p.Fail(name, "Nothing to compare", "%s has %q, and outputs has not.", name, key)
			}
			at[key] = of[key].InRoot()
			inputs = append(inputs, of[key].Input())
		}
		args[name] = at
	}
	slices.SortFunc(inputs, func(a, b action.Input) int { return strings.Compare(a.Path, b.Path) })
	a := program(p, "compare", args, false, "accuracy").In(inputs...)
	p.File("table", a.Out("table.json"))
	p.Output("rows", action.Value, a.Out("rows.json"))
}
