package steps

import (
	"strings"

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
		Summary: "Computes the tokens that the simulated runner must print for the toy model.",
		ArgDocs: map[string]string{
			"model":          "The .mllm file: v2, or v1 for the programs of mllm's branch v1.",
			"config":         "The model's config.json: step `context`'s for v2, Hugging Face's for v1.",
			"tokenizer":      "The tokenizer file that the runner reads.",
			"prompt":         "The prompt's text.",
			"max_new_tokens": "Most tokens of the answer.",
			"lengths":        "Lengths to which the runner cuts the prompt, in tokens.",
		},
		Outputs: []step.OutputSpec{
			step.File("tokens", "Prompt tokens, tokens and text as JSON."),
			step.Tree("dir", "tokens.json, and LENGTH.json for each of `lengths`."),
		},
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
		p.Fail("prompt", "The prompt is empty", "The model needs at least one token. Write some text.")
		return
	}
	s := r.ReferenceSpec
	s.Model, s.Config, s.Tokenizer = r.Model.InRoot(), r.Config.InRoot(), r.Tokenizer.InRoot()
	s.Out, s.Dir = "tokens.json", "dir"
	a := step.Tool(p, "", "compute the reference's tokens", toymodel.ReferenceTool, s)
	a.In(r.Model.Input(), r.Config.Input(), r.Tokenizer.Input())
	p.File("tokens", a.Out(s.Out))
	p.Tree("dir", a.OutTree(s.Dir))
}
