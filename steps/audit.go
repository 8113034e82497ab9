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
		Summary: "Holds a quantised .mllm to its config.json, and finds what mllm's ahead-of-time programs leave out of it, or make worse, without a word.",
		ArgDocs: map[string]string{
			"model":  "The .mllm file (v2).",
			"config": "The model's config.json. A matrix whose shape is not what it says is an error.",
		},
		Outputs: []step.OutputSpec{
			step.Value("found", "For checks: { biases, bias_most, widest, widest_at }: how many biases are not zero, which upstream's compilers leave out, and the largest value among them; "+
				"how many times as wide as its own the range is that what goes into q and k is quantised with, and where."),
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
	p.Output("found", action.Value, step.Tool(p, "", "hold the model to its config", audit.Tool, s).In(a.Model.Input(), a.Config.Input()).Out(s.Out))
}
