package steps

import (
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

// Reference are the arguments of kind reference.
type Reference struct {
	Model     step.Path `arg:"model,required"`
	Config    step.Path `arg:"config,required"`
	Tokenizer step.Path `arg:"tokenizer,required"`
	toymodel.ReferenceSpec
}

func referenceSchema() step.Schema {
	return step.Schema{
		Summary: "Runs a reference forward pass of the toy model on the host, for the device's tokens to be compared with.",
		ArgDocs: map[string]string{
			"model":          "The .mllm file (v2).",
			"config":         "The model's config.json.",
			"tokenizer":      "The model's tokenizer.json.",
			"prompt":         "The prompt's text.",
			"max_new_tokens": "How many tokens to make at most.",
		},
		Outputs: []step.OutputSpec{{Name: "tokens", Class: action.File, Doc: "Prompt tokens, tokens and text as JSON."}},
		Example: `step "reference" "qwen3" {
  model     = step.convert.qwen3.outputs.model
  config    = step.context.qwen3.outputs.config
  tokenizer = "${step.quantize.qwen3.outputs.dir}/tokenizer.json"
  prompt    = "Why can greatness not be planned?"
}`,
	}
}

// Plan plans the pass.
func (r Reference) Plan(p *step.Plan) {
	if strings.TrimSpace(r.Prompt) == "" {
		p.Fail("prompt", "The prompt is empty", "A model goes on from the tokens of a prompt and needs at least one. Write some text.")
		return
	}
	s := r.ReferenceSpec
	s.Model, s.Config, s.Tokenizer, s.Out = r.Model.InRoot(), r.Config.InRoot(), r.Tokenizer.InRoot(), "tokens.json"
	a := step.Tool(p, "", "reference forward pass", toymodel.ReferenceTool, s).In(r.Model.Input(), r.Config.Input(), r.Tokenizer.Input())
	p.File("tokens", a.Out(s.Out))
}
