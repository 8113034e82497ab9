package steps

import (
	"strings"

	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

// Reference holds the arguments of a reference step.
type Reference struct {
	Model     step.Path `arg:"model,required"`
	Config    step.Path `arg:"config,required"`
	Tokenizer step.Path `arg:"tokenizer,required"`
	toymodel.ReferenceSpec
}

func referenceSchema() step.Schema {
	return step.Schema{
		Summary: "Computes the tokens that the simulated runner should print for the toy model.",
		ArgDocs: map[string]string{
			"model":          "The .mllm file: v2, or v1 for the programs of mllm's branch v1.",
			"config":         "The model's config.json: from step `context` for v2, from Hugging Face for v1.",
			"tokenizer":      "The tokenizer file that the runner reads.",
			"prompt":         "Text of the prompt.",
			"max_new_tokens": "Maximum number of tokens of the answer.",
			"lengths":        "Prompt lengths in tokens. The runner cuts the prompt to each of them.",
		},
		Outputs: []step.OutputSpec{
			step.File("tokens", "Prompt tokens, answer tokens and text (JSON)."),
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

// Plan plans one action.
func (r Reference) Plan(p *step.Plan) {
	if strings.TrimSpace(r.Prompt) == "" {
		p.Fail("prompt", "Empty prompt", "prompt is empty, but the model needs at least one token. Write some text.")
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
