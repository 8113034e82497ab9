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
	Reference    step.Path            `arg:"reference"`
	References   map[string]step.Path `arg:"references"`
	Outputs      map[string]step.Path `arg:"outputs,required"`
	Contexts     map[string]step.Path `arg:"contexts"`
	CompileTimes map[string]step.Path `arg:"compile_times"`
	Times        map[string]step.Path `arg:"times"`
	OnCPU        map[string]step.Path `arg:"on_cpu"`
	Agree        float64              `arg:"agree" default:"0.9" range:"0..1"`
	Twins        map[string]step.Path `arg:"twins"`
	Twin         step.Path            `arg:"twin"`
	Tokenizer    step.Path            `arg:"tokenizer"`
	Least        float64              `arg:"least" range:"0..1"`
	Title        string               `arg:"title"`
}

func accuracySchema() step.Schema {
	return step.Schema{
		Summary: "Compares what graphs gave in several ways with what a reference did: words, tokens, cosine, largest error, SQNR, perplexity; names the first that is bad.",
		ArgDocs: map[string]string{
			"reference":     "What `onnx_run` or `htp_emulate` made.",
			"references":    "In place of reference one for each of the names: truncated twins, each beside the float model cut after as many layers.",
			"outputs":       "What is compared with it, by name: the same prompt or samples, by other graphs or on something else. They are sorted by name, 2 before 10.",
			"least":         "The mean cosine that is good enough. The first that has less is named below the table, and is `first_bad`.",
			"contexts":      "Of the same names, the contexts that they ran from: their sizes and nodes go into the table.",
			"compile_times": "Likewise how long compiling took, of `htp_context`.",
			"times":         "Likewise how long answering took.",
			"on_cpu":        "Likewise what `onnx_run` made of the same quantised graphs, on the CPU: where the outputs are others, the compiler did that without a word, and the line is marked as wrong.",
			"agree":         "The mean cosine to that, from which on the outputs are the same.",
			"twins":         "Likewise what truncated twins gave, graphs of the first layers.",
			"twin":          "What twins are compared with: what the float model's first layers gave.",
			"tokenizer":     "Graphs of `onnx_llm`, whose tokenizer decodes outputs without words, such as those of a device.",
			"title":         "What stands over the table.",
		},
		Outputs: []step.OutputSpec{
			{Name: "table", Class: action.File, Doc: "A line for each, beside the reference's (JSON)."},
			{Name: "rows", Class: action.Value, Doc: "The same by name, for checks: { lpbq = { words, tokens, equal, cosine, cosine_min, difference_max, sqnr_db, argmax_equal, perplexity, npu_nodes, cpu_nodes, … } }."},
			{Name: "plot", Class: action.File, Doc: "The same as a picture (SVG), which says all of it without colour."},
			{Name: "wrong", Class: action.Value, Doc: "The names of those that say something else than their graphs do on the CPU."},
			{Name: "first_bad", Class: action.Value, Doc: "The name of the first whose cosine is less than `least`; \"\" if all are good."},
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
	args := map[string]any{"reference": "", "least": c.Least, "agree": c.Agree, "twin": "", "tokenizer": "", "title": c.Title, "table": "table.json", "rows": "rows.json",
		"first_bad": "first_bad.json", "wrong": "wrong.json", "plot": "plot.svg"}
	if c.Reference.IsSet() {
		args["reference"] = c.Reference.InRoot()
	}
	if c.Twin.IsSet() != (len(c.Twins) > 0) {
		p.Fail("twin", "Twins without their float one, or it without them", "twins are compared with twin, what the float model's first layers gave: give both, or neither.")
	}
	if c.Twin.IsSet() {
		args["twin"] = c.Twin.InRoot()
	}
	inputs := []action.Input{c.Reference.Input(), c.Twin.Input()}
	if c.Tokenizer.IsSet() {
		args["tokenizer"], inputs = c.Tokenizer.InRoot(), append(inputs, c.Tokenizer.Input())
	}
	for _, name := range slices.Sorted(maps.Keys(c.Outputs)) {
		if _, ok := c.References[name]; ok == c.Reference.IsSet() {
			p.Fail("references", "What to compare with", "%q must have either a reference of its own, in references, or reference, the one of all.", name)
		}
	}
	named := map[string]map[string]step.Path{"outputs": c.Outputs, "references": c.References, "contexts": c.Contexts, "compile_times": c.CompileTimes, "times": c.Times,
		"on_cpu": c.OnCPU, "twins": c.Twins}
	for _, name := range slices.Sorted(maps.Keys(named)) { // in one order, of errors too
		of, at := named[name], map[string]string{}
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
	p.File("plot", a.Out("plot.svg"))
	p.Output("wrong", action.Value, a.Out("wrong.json"))
	p.Output("first_bad", action.Value, a.Out("first_bad.json"))
}
