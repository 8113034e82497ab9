package steps

import (
	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
)

// QuantizeV1 holds the arguments of a quantize_v1 step.
type QuantizeV1 struct {
	mllmV1
	Rotation   step.Path `arg:"rotation"`
	NumSamples int       `arg:"num_samples" default:"8" range:"2..100000"`
	Threshold  int       `arg:"threshold" default:"64" range:"1..1000000"`
	ClipAll    bool      `arg:"clip_all"`
	QuantBias  bool      `arg:"quant_bias"`
}

func quantizeV1Schema() step.Schema {
	return step.Schema{
		Summary: "Quantizes a model for mllm v1's QNN backend with mllm's programs: int8, static, per tensor. Layers " +
			"with shadow outliers keep their precision.",
		ArgDocs: mllmV1Docs(map[string]string{
			"rotation": "Matrices of `rotate_v1`, which rotate the model first. Omit for a rotated model.",
			"num_samples": "Maximum number of paragraphs that the model reads to collect ranges. If mllm's program " +
				"is killed, the next run starts from the beginning.",
			"threshold": "Minimum ratio of a layer's range to its range without the top 0.1 % (shadow outliers). " +
				"From this ratio on, the layer keeps its precision.",
			"clip_all":   "Whether to quantize all layers, even above the threshold.",
			"quant_bias": "Whether to quantize biases. Not for a rotated model.",
		}),
		Outputs: []step.OutputSpec{
			step.File("model", "The int8 model (safetensors), from which `convert` makes the .mllm file for the NPU."),
			step.File("distribution", "The activation ranges (JSON)."),
			step.File("layers", "Table of the number of layers that keep their precision, per threshold (JSON)."),
			step.Value("shadow", "Layers that keep their precision at the step's threshold, for checks: { "+
				"\"model.layers.3.mlp.down_proj.input\" = 97.2 }."),
		},
		Toolchains: []string{quantizerToolchain},
		Example: `step "quantize_v1" "qwen" {
  sources   = step.git.mllm.outputs.dir
  model     = "Qwen1.5-1.8B-Chat"
  rotation  = step.rotate_v1.qwen.outputs.rotation
  threshold = 64
}`,
	}
}

// Plan plans one action for each of mllm's two programs. If the threshold changes, only the second action runs again.
func (q QuantizeV1) Plan(p *step.Plan) {
	if q.Rotation.IsSet() && q.QuantBias {
		p.Fail("quant_bias", "Biases of a rotated model",
			"quant_bias: mllm does not quantize biases of a model that it rotates. Remove rotation or quant_bias.")
	}
	distribution := q.run(p, "distribution", "collect activation ranges with mllm's get_distribution.py",
		args{"rotation": q.Rotation, "calibration": text(p, q.Calibration, "mllm.txt"), "samples": q.NumSamples}).
		Out("made/distribution.json")
	p.File("distribution", distribution)
	made := q.run(p, "export", "quantize to int8 with mllm's export_qnn_model.py",
		args{"rotation": q.Rotation, "distribution": distribution.As("distribution.json"), "threshold": q.Threshold,
			"clip_all": q.ClipAll, "quant_bias": q.QuantBias})
	p.File("model", made.Out("made/model.safetensors"))
	p.File("layers", made.Out("made/layers.json"))
	p.Output("shadow", action.Value, made.Out("made/shadow.json"))
}
