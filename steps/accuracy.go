package steps

import (
	"maps"
	"slices"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
)

// Accuracy holds the arguments of an accuracy step.
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
			"reference": "Outputs of `onnx_run` or `htp_emulate` to compare the others with.",
			"outputs": "Outputs by name, for the same prompt or samples. Rows are sorted by name, 2 " +
				"before 10.",
			"min_cosine": "Minimum mean cosine to the reference. The table's note names the first output " +
				"below the minimum.",
			"contexts": "Contexts of `htp_context`, by the names in `outputs`. The table shows their " +
				"sizes and nodes.",
			"compile_times": "Compile times of `htp_context`, by the names in `outputs`.",
			"times":         "Run times of `onnx_run` or `htp_emulate`, by the names in `outputs`.",
			"cpu_outputs": "Outputs of `onnx_run` for the quantized graphs, by the names in `outputs`. If a " +
				"context's outputs differ, the compiler changed the graph silently, and the row says WRONG.",
			"match_threshold":     "Minimum mean cosine between `outputs` and `cpu_outputs`.",
			"truncated_outputs":   "Outputs of truncated models (the first layers only), by the names in `outputs`.",
			"truncated_reference": "Outputs of the truncated float model.",
			"tokenizer": "Folder of `onnx_llm` with the tokenizer that decodes a device's outputs. A " +
				"device returns token numbers only.",
			"title": "Title of the table.",
		},
		Outputs: []step.OutputSpec{
			step.File("table", "One row for the reference, then one row per name (JSON)."),
			step.Value("rows", "The numbers by name: { lpbq = { words, tokens, equal, cosine, cosine_min, "+
				"difference_max, sqnr_db, argmax_equal, perplexity, cpu_cosine, npu_nodes, cpu_nodes, … } }."),
			step.Value("mismatches", "Names whose cosine to `cpu_outputs` is below `match_threshold`."),
			step.Value("first_below_min", "First name whose cosine is below `min_cosine`; \"\" if all pass."),
		},
		Toolchains: []string{onnxToolchain},
		Example: `step "accuracy" "smollm2" {
  reference = step.onnx_run.float.outputs.dir
  outputs   = { lpbq = step.htp_emulate.lpbq.outputs.dir }
}`,
	}
}

// Plan plans one action that compares all outputs.
func (c Accuracy) Plan(p *step.Plan) {
	if c.TruncatedReference.IsSet() != (len(c.TruncatedOutputs) > 0) {
		p.Fail("truncated_reference", "Incomplete truncated model",
			"truncated_outputs: compared with truncated_reference. Set both or neither.")
	}
	given := args{"reference": c.Reference, "min_cosine": c.MinCosine, "match_threshold": c.MatchThreshold,
		"title": c.Title, "truncated_reference": c.TruncatedReference, "tokenizer": c.Tokenizer}
	named := map[string]map[string]step.Path{"outputs": c.Outputs, "contexts": c.Contexts, "times": c.Times,
		"compile_times": c.CompileTimes, "cpu_outputs": c.CPUOutputs, "truncated_outputs": c.TruncatedOutputs}
	for _, arg := range slices.Sorted(maps.Keys(named)) {
		of := map[string]step.Path{}
		for _, name := range slices.Sorted(maps.Keys(named[arg])) {
			if _, ok := c.Outputs[name]; !ok {
				p.Fail(arg, "Nothing to compare", "%s: %q is missing from outputs. Add it to outputs.", arg, name)
			}
			of[name] = named[arg][name]
		}
		given[arg] = of
	}
	outputs := []string{"table", "rows", "mismatches", "first_below_min"}
	for _, name := range outputs {
		given[name] = name + ".json"
	}
	a := program(p, onnxToolchain, "compare", given, "accuracy")
	p.File("table", a.Out("table.json"))
	for _, name := range outputs[1:] {
		p.Output(name, action.Value, a.Out(name+".json"))
	}
}
