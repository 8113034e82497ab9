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
	Reference          step.Path            `arg:"reference,required"`
	Outputs            map[string]step.Path `arg:"outputs,required"`
	Contexts           map[string]step.Path `arg:"contexts"`
	CompileTimes       map[string]step.Path `arg:"compile_times"`
	Times              map[string]step.Path `arg:"times"`
	CPUOutputs         map[string]step.Path `arg:"cpu_outputs"`
	MatchThreshold     float64              `arg:"match_threshold" default:"0.9" range:"0..1"`
	TruncatedOutputs   map[string]step.Path `arg:"truncated_outputs"`
	TruncatedReference step.Path            `arg:"truncated_reference"`
	Tokenizer          step.Path            `arg:"tokenizer"`
	MinCosine          float64              `arg:"min_cosine" range:"0..1"`
	Title              string               `arg:"title"`
}

func accuracySchema() step.Schema {
	return step.Schema{
		Summary: "Compares outputs of graphs with a reference: tokens, cosine, largest error, SQNR, perplexity.",
		ArgDocs: map[string]string{
			"reference":     "Outputs of `onnx_run` or `htp_emulate` that the others are compared with.",
			"outputs":       "Outputs by name, for the same prompt or samples. Rows are sorted by name, 2 before 10.",
			"min_cosine":    "Minimum mean cosine to the reference. The table's note names the first below it.",
			"contexts":      "Contexts of `htp_context` by the same names: the table shows their sizes and nodes.",
			"compile_times": "Times of `htp_context` by the same names.",
			"times":         "Times of `onnx_run` or `htp_emulate` by the same names.",
			"cpu_outputs": "Outputs of `onnx_run` with the same quantized graphs, by the same names. " +
				"If a context's outputs differ, the compiler changed the graph silently, and the row says WRONG.",
			"match_threshold":     "Minimum mean cosine between `outputs` and `cpu_outputs`.",
			"truncated_outputs":   "Outputs of truncated models, which have the first layers alone, by the same names.",
			"truncated_reference": "Outputs of the truncated float model.",
			"tokenizer":           "Graphs of `onnx_llm`, whose tokenizer decodes outputs without words, such as those of a device.",
			"title":               "Title of the table.",
		},
		Outputs: []step.OutputSpec{
			{Name: "table", Class: action.File, Doc: "One row per name, after the reference's (JSON)."},
			{Name: "rows", Class: action.Value, Doc: "The numbers by name: { lpbq = { words, tokens, equal, cosine, cosine_min, difference_max, sqnr_db, " +
				"argmax_equal, perplexity, cpu_cosine, npu_nodes, cpu_nodes, … } }."},
			{Name: "mismatches", Class: action.Value, Doc: "Names whose cosine to `cpu_outputs` is below `match_threshold`."},
			{Name: "first_below_min", Class: action.Value, Doc: "First name whose cosine is below `min_cosine`; \"\" if all pass."},
		},
		Toolchains: []string{onnxToolchain},
		Example: `step "accuracy" "smollm2" {
  reference = step.onnx_run.float.outputs.dir
  outputs   = { lpbq = step.htp_emulate.lpbq.outputs.dir }
}`,
	}
}

// Plan plans the comparison, one action for all names.
func (c Accuracy) Plan(p *step.Plan) {
	args := map[string]any{"reference": c.Reference.InRoot(), "min_cosine": c.MinCosine, "match_threshold": c.MatchThreshold, "title": c.Title,
		"truncated_reference": "", "tokenizer": "", "table": "table.json", "rows": "rows.json", "first_below_min": "first_below_min.json", "mismatches": "mismatches.json"}
	if c.TruncatedReference.IsSet() != (len(c.TruncatedOutputs) > 0) {
		p.Fail("truncated_reference", "Incomplete truncated model",
			"truncated_outputs: compared with truncated_reference. Set both, or neither.")
	}
	if c.TruncatedReference.IsSet() {
		args["truncated_reference"] = c.TruncatedReference.InRoot()
	}
	inputs := []action.Input{c.Reference.Input(), c.TruncatedReference.Input()}
	if c.Tokenizer.IsSet() {
		args["tokenizer"], inputs = c.Tokenizer.InRoot(), append(inputs, c.Tokenizer.Input())
	}
	named := map[string]map[string]step.Path{"outputs": c.Outputs, "contexts": c.Contexts, "compile_times": c.CompileTimes, "times": c.Times,
		"cpu_outputs": c.CPUOutputs, "truncated_outputs": c.TruncatedOutputs}
	for _, name := range slices.Sorted(maps.Keys(named)) { // in one order, of errors too
		of, at := named[name], map[string]string{}
		for _, key := range slices.Sorted(maps.Keys(of)) {
			if _, ok := c.Outputs[key]; !ok {
				p.Fail(name, "Nothing to compare", "%s has %q, outputs does not. Add it to outputs.", name, key)
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
	p.Output("mismatches", action.Value, a.Out("mismatches.json"))
	p.Output("first_below_min", action.Value, a.Out("first_below_min.json"))
}
