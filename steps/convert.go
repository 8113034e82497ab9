package steps

import (
	"path"
	"slices"

	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/model/convert"
)

// Convert holds the arguments of a convert step.
type Convert struct {
	Model step.Path `arg:"model,required"`
	convert.Spec
}

func convertSchema() step.Schema {
	return step.Schema{
		Summary: "Converts safetensors or a PyTorch checkpoint to .mllm, in a fixed tensor order.",
		ArgDocs: map[string]string{
			"model": "Folder with model.safetensors, whole or in parts, or one file: .safetensors, or .pth, .pt or " +
				".bin with the state dict of one model. Toolchain `onnx` reads a checkpoint and runs no code from it.",
			"name":   "Name of the model in the file's header.",
			"format": "Version of the file format.",
		},
		Outputs:    []step.OutputSpec{step.File("model", "The .mllm file.")},
		Toolchains: []string{onnxToolchain},
		Example: `step "convert" "qwen3" {
  model = step.quantize.qwen3.outputs.dir
  name  = "qwen3"
}`,
	}
}

// Plan plans the conversion.
func (c Convert) Plan(p *step.Plan) {
	s, in := c.Spec, c.Model.Input()
	s.Input, s.Output = c.Model.InRoot(), "model.mllm"
	if slices.Contains([]string{".pth", ".pt", ".bin"}, path.Ext(s.Input)) {
		a := program(p, onnxToolchain, "read a PyTorch checkpoint", args{"model": c.Model, "out": "read"}, "checkpoint")
		a.Name = "checkpoint"
		s.Input = "model.safetensors"
		in = a.Out("read/" + s.Input).As(s.Input)
	}
	a := step.Tool(p, "", "convert to .mllm "+s.Format, convert.Tool, s).In(in)
	p.File("model", a.Out(s.Output))
}
