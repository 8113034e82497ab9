package steps

import (
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/simulated/mllm/qwennpu"
)

// ReferenceV1 are the arguments of kind reference_v1.
type ReferenceV1 struct {
	Int8   step.Path      `arg:"int8,required"`
	Floats step.Path      `arg:"floats,required"`
	Model  step.Path      `arg:"model,required"`
	Prompt string         `arg:"prompt,required"`
	Runs   map[string]int `arg:"runs,required"`
}

func referenceV1Schema() step.Schema {
	return step.Schema{
		Summary: "Says which tokens mllm v1's main_qwen_npu makes of a small model, on the host, for the device's to be compared with.",
		ArgDocs: map[string]string{
			"int8":   "The NPU's model, .mllm of version 1.",
			"floats": "The CPU's, in floats.",
			"model":  "Folder with the model's config.json and tokenizer.json.",
			"prompt": "The text that the program asks.",
			"runs":   "Lengths to which the prompt is filled up, each with 1 where it goes through in groups of 128: { \"64\" = 0, \"1024\" = 1 }.",
		},
		Outputs: []step.OutputSpec{{Name: "dir", Class: action.Tree, Doc: "LENGTH.json for each length: prompt tokens, tokens and text."}},
		Example: `step "reference_v1" "qwen" {
  int8   = step.convert.qwen3.outputs.model
  floats = step.convert.qwen3.outputs.model
  model  = step.model.toy.outputs.dir
  prompt = "Why can greatness not be planned?"
  runs   = { "64" = 0 }
}`,
	}
}

// Plan plans the pass.
func (r ReferenceV1) Plan(p *step.Plan) {
	if strings.TrimSpace(r.Prompt) == "" {
		p.Fail("prompt", "The prompt is empty", "A model goes on from the tokens of a prompt and needs at least one. Write some text.")
		return
	}
	s := qwennpu.Spec{Int8: r.Int8.InRoot(), Floats: r.Floats.InRoot(), Config: r.Model.InRoot() + "/config.json", Tokenizer: r.Model.InRoot() + "/tokenizer.json",
		Prompt: r.Prompt, Runs: map[int]int{}, Out: "dir"}
	for text, grouped := range r.Runs {
		length, err := strconv.Atoi(text)
		if err != nil || length < 1 {
			p.Fail("runs", "Not a length", "%q: write how many tokens the prompt is filled up to, such as \"64\".", text)
			return
		}
		s.Runs[length] = grouped
	}
	a := step.Tool(p, "", "reference of main_qwen_npu", qwennpu.Tool, s).In(r.Int8.Input(), r.Floats.Input(), r.Model.Input())
	p.Tree("dir", a.OutTree(s.Out))
}
