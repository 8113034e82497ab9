package steps

import (
	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/simulated/mllm/quantizer"
)

// Int8V1 are the arguments of kind int8_v1.
type Int8V1 struct {
	Model step.Path `arg:"model,required"`
}

func int8V1Schema() step.Schema {
	return step.Schema{
		Summary: "Quantises a small Qwen2 for the QNN backend of mllm v1 with our own arithmetic, int8 and static, where upstream's sources and PyTorch cannot be had for `quantize_v1`.",
		ArgDocs: map[string]string{
			"model": "Folder with config.json, tokenizer.json and model.safetensors (F32).",
		},
		Outputs: []step.OutputSpec{{Name: "dir", Class: action.Tree, Doc: "config.json, tokenizer.json, and model.safetensors with upstream's names, for `convert`."}},
		Example: `step "int8_v1" "qwen" {
  model = step.model.toy.outputs.dir
}`,
	}
}

// Plan plans the quantising.
func (q Int8V1) Plan(p *step.Plan) {
	s := quantizer.V1Spec{Model: q.Model.InRoot(), Out: "dir"}
	p.Tree("dir", step.Tool(p, "", "quantise to int8 for mllm v1", quantizer.V1Tool, s).In(q.Model.Input()).OutTree(s.Out))
}
