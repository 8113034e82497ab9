package steps

import (
	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
)

// QuantizeV1 are the arguments of kind quantize_v1.
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
		Summary: "Quantizes a model for the QNN backend of mllm v1 with mllm's own programs: int8, static, per tensor. " +
			"Layers with shadow outliers keep their precision.",
		ArgDocs: mllmV1Docs(map[string]string{
			"rotation": "The matrices of `rotate_v1`: the model is rotated first. Leave it out for a model that is " +
				"rotated already.",
			"num_samples": "Maximum number of paragraphs that the model reads while its ranges are taken. mllm's program " +
				"writes nothing before its end: if it is killed, it begins anew.",
			"threshold": "A layer keeps its precision if its range is at least this many times as wide as without its " +
				"top 0.1 % (shadow outliers).",
			"clip_all":   "Whether no layer keeps its precision, whatever the threshold.",
			"quant_bias": "Whether to quantize biases too. Not for a rotated model.",
		}),
		Outputs: []step.OutputSpec{
			step.File("model", "The int8 model, safetensors: `convert` makes the .mllm for the NPU of it."),
			step.File("distribution", "The ranges (JSON)."),
			step.File("layers", "A table: how many layers keep their precision at which threshold (JSON)."),
			step.Value("shadow", "Those that keep it at the step's threshold, for checks: "+
				"{ \"model.layers.3.mlp.down_proj.input\" = 97.2 }."),
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

// Plan plans mllm's two programs: a change of the threshold runs the second alone.
func (q QuantizeV1) Plan(p *step.Plan) {
	if q.Rotation.IsSet() && q.QuantBias {
		p.Fail("quant_bias", "Not for a rotated model",
			"mllm quantizes no biases of a model that it rotates. Remove rotation or quant_bias.")
	}
	distribution := q.run(p, "distribution", "take the ranges of activations with mllm's get_distribution.py",
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
