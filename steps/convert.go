package steps

import (
	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/model/convert"
)

// Convert are the arguments of kind convert.
type Convert struct {
	Model step.Path `arg:"model,required"`
	convert.Spec
}

func convertSchema() step.Schema {
	return step.Schema{
		Summary: "Converts safetensors, or a PyTorch checkpoint, to .mllm, natively and in a fixed order.",
		ArgDocs: map[string]string{
			"model":  "Folder with model.safetensors, whole or in parts, or the file: .safetensors, or .pth, .pt or .bin with the state dict of one model, of which nothing is run.",
			"name":   "Name of the model in the file's header.",
			"format": "Version of the file format.",
		},
		Outputs: []step.OutputSpec{{Name: "model", Class: action.File, Doc: "The .mllm file."}},
		Example: `step "convert" "qwen3" {
  model = step.quantize.qwen3.outputs.dir
  name  = "qwen3"
}`,
	}
}

// Plan plans the conversion.
func (c Convert) Plan(p *step.Plan) {
	s := c.Spec
	s.Input, s.Output = c.Model.InRoot(), "model.mllm"
	a := step.Tool(p, "", "convert to .mllm "+s.Format, convert.Tool, s).In(c.Model.Input())
	p.File("model", a.Out(s.Output))
}
