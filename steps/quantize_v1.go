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
		Summary: "Quantises a model for the QNN backend of mllm v1 with upstream's own programs: int8, static, per tensor, with layers that keep their precision where few values are far out.",
		ArgDocs: mllmV1Docs(map[string]string{
			"rotation":    "The matrices of `rotate_v1`: the model is rotated first. A model that is rotated already goes without.",
			"num_samples": "How many paragraphs the model reads while its ranges are taken, at most. Upstream's program writes nothing before its end: killed, it begins anew.",
			"threshold":   "Shadow outliers: a layer keeps its precision where its range is as many times as wide as without its top 0.1 %, or more.",
			"clip_all":    "Whether no layer keeps its precision, whatever the threshold.",
			"quant_bias":  "Whether biases are quantised, too. Not of a rotated model.",
		}),
		Outputs: []step.OutputSpec{
			{Name: "model", Class: action.File, Doc: "The int8 model, safetensors: `convert` makes the .mllm for the NPU of it."},
			{Name: "distribution", Class: action.File, Doc: "What the ranges were (JSON)."},
			{Name: "layers", Class: action.File, Doc: "A table: how many layers keep their precision at which threshold (JSON)."},
			{Name: "shadow", Class: action.Value, Doc: "Those that keep it at the threshold that was taken, for checks: { \"model.layers.3.mlp.down_proj.input\" = 97.2 }."},
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

// Plan plans upstream's two programs: a change of the threshold runs the second alone.
func (q QuantizeV1) Plan(p *step.Plan) {
	if q.Rotation.IsSet() && q.QuantBias {
		p.Fail("quant_bias", "Not of a rotated model", "Upstream quantises no biases of a model that it rotates. Leave one of the two out.")
		return
	}
	rotation := ""
	if q.Rotation.IsSet() {
		rotation = q.Rotation.InRoot()
	}
	at, in := text(p, q.Calibration, "mllm.txt")
	distribution := q.run(p, "distribution", "take the ranges of activations with upstream's get_distribution.py",
		map[string]any{"rotation": rotation, "calibration": at, "samples": q.NumSamples}, in, q.Rotation.Input()).Out("made/distribution.json")
	p.File("distribution", distribution)
	made := q.run(p, "export", "quantise to int8 with upstream's export_qnn_model.py",
		map[string]any{"rotation": rotation, "distribution": "distribution.json", "threshold": q.Threshold, "clip_all": q.ClipAll, "quant_bias": q.QuantBias},
		q.Rotation.Input(), distribution.As("distribution.json"))
	p.File("model", made.Out("made/model.safetensors"))
	p.File("layers", made.Out("made/layers.json"))
	p.Output("shadow", action.Value, made.Out("made/shadow.json"))
}
