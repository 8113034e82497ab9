package steps

import (
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/simulated/mllm/qwennpu"
	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

// Reference are the arguments of kind reference.
type Reference struct {
	Model     step.Path `arg:"model,required"`
	Config    step.Path `arg:"config,required"`
	Tokenizer step.Path `arg:"tokenizer,required"`
	toymodel.ReferenceSpec
	Floats step.Path      `arg:"floats"`
	Runs   map[string]int `arg:"runs"`
}

func referenceSchema() step.Schema {
	return step.Schema{
		Summary: "Runs a reference forward pass of a small model on the host. A check compares its tokens with the device's.",
		ArgDocs: map[string]string{
			"model":          "The .mllm file: v2, or with `floats` the NPU's int8 model, v1.",
			"config":         "The model's config.json.",
			"tokenizer":      "The model's tokenizer.json.",
			"prompt":         "The prompt's text.",
			"max_new_tokens": "Most tokens to generate. mllm v1 has its own limit.",
			"floats":         "For mllm v1's main_qwen_npu: the CPU's model in floats, .mllm v1.",
			"runs":           "With `floats`: lengths to which the prompt is padded, each with 1 if it goes through in groups of 128: { \"64\" = 0, \"1024\" = 1 }.",
		},
		Outputs: []step.OutputSpec{
			{Name: "tokens", Class: action.File, Optional: true, Doc: "Prompt tokens, tokens and text (JSON)."},
			{Name: "dir", Class: action.Tree, Optional: true, Doc: "With `floats`: LENGTH.json for each length, in the same form."},
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
		p.Fail("prompt", "Empty prompt", "A model needs at least one token. Write a prompt.")
	}
	if r.Floats.IsSet() != (len(r.Runs) > 0) {
		p.Fail("runs", "Incomplete arguments", "mllm v1 needs floats and runs. Set both, or none for mllm v2.")
	}
	if p.Failed() {
		return
	}
	in := []action.Input{r.Model.Input(), r.Config.Input(), r.Tokenizer.Input()}
	if r.Floats.IsSet() {
		r.v1(p, in)
		return
	}
	s := r.ReferenceSpec
	s.Model, s.Config, s.Tokenizer, s.Out = r.Model.InRoot(), r.Config.InRoot(), r.Tokenizer.InRoot(), "tokens.json"
	p.File("tokens", step.Tool(p, "", "reference forward pass", toymodel.ReferenceTool, s).In(in...).Out(s.Out))
}

// v1 plans the pass of main_qwen_npu.
func (r Reference) v1(p *step.Plan, in []action.Input) {
	s := qwennpu.Spec{Int8: r.Model.InRoot(), Floats: r.Floats.InRoot(), Config: r.Config.InRoot(), Tokenizer: r.Tokenizer.InRoot(),
		Prompt: r.Prompt, Runs: map[int]int{}, Out: "dir"}
	for text, grouped := range r.Runs {
		length, err := strconv.Atoi(text)
		if err != nil || length < 1 {
			p.Fail("runs", "Invalid length", "%q is not a number of tokens. Write one, such as \"64\".", text)
			return
		}
		s.Runs[length] = grouped
	}
	p.Tree("dir", step.Tool(p, "", "reference of main_qwen_npu", qwennpu.Tool, s).In(in...).In(r.Floats.Input()).OutTree(s.Out))
}
