package steps

import (
	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/model/audit"
)

// Audit are the arguments of kind audit.
type Audit struct {
	Model  step.Path `arg:"model,required"`
	Config step.Path `arg:"config,required"`
}

func auditSchema() step.Schema {
	return step.Schema{
		Summary: "Compares a quantized .mllm with its config.json, and finds what mllm's ahead-of-time programs " +
			"leave out or make worse silently.",
		ArgDocs: map[string]string{
			"model":  "The .mllm file (v2).",
			"config": "The model's config.json. A matrix whose shape is not what it says is an error.",
		},
		Outputs: []step.OutputSpec{
			step.Value("found", "For checks: { biases, bias_most, widest, widest_at }: the number of biases that are "+
				"not zero, which mllm's compilers leave out, and the largest value among them; the largest ratio of "+
				"the range that the inputs of q and k are quantized with to their own range, and where."),
		},
		Example: `step "audit" "qwen3" {
  model  = step.convert.qwen3.outputs.model
  config = "${step.quantize.qwen3.outputs.dir}/config.json"
}`,
	}
}

// Plan plans the look.
func (a Audit) Plan(p *step.Plan) {
	s := audit.Spec{Model: a.Model.InRoot(), Config: a.Config.InRoot(), Out: "found.json"}
	look := step.Tool(p, "", "compare the model with its config", audit.Tool, s).In(a.Model.Input(), a.Config.Input())
	p.Output("found", action.Value, look.Out(s.Out))
}
