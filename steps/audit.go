package steps

import (
	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/model/audit"
)

// Audit holds the arguments of an audit step.
type Audit struct {
	Model  step.Path `arg:"model,required"`
	Config step.Path `arg:"config,required"`
}

func auditSchema() step.Schema {
	return step.Schema{
		Summary: "Compares a quantized .mllm file with its config.json. Reports losses that mllm's ahead-of-time " +
			"programs do not report.",
		ArgDocs: map[string]string{
			"model":  "The .mllm file (v2).",
			"config": "The model's config.json. A matrix with another shape than the config's is an error.",
		},
		Outputs: []step.OutputSpec{
			step.Value("found", "For checks: { biases, bias_most, widest, widest_at }. biases: number of nonzero "+
				"biases, which mllm's compilers leave out. bias_most: the largest of them. widest: largest ratio of "+
				"an input's quantized range to its own range, among the inputs of q and k. widest_at: its place."),
		},
		Example: `step "audit" "qwen3" {
  model  = step.convert.qwen3.outputs.model
  config = "${step.quantize.qwen3.outputs.dir}/config.json"
}`,
	}
}

// Plan plans the audit.
func (a Audit) Plan(p *step.Plan) {
	s := audit.Spec{Model: a.Model.InRoot(), Config: a.Config.InRoot(), Out: "found.json"}
	look := step.Tool(p, "", "compare the model with its config", audit.Tool, s).In(a.Model.Input(), a.Config.Input())
	p.Output("found", action.Value, look.Out(s.Out))
}
