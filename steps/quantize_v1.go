package steps

import (
	"maps"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
)

// mllmV1 is what upstream's programs of branch v1 have in common.
type mllmV1 struct {
	Sources     step.Path `arg:"sources,required"`
	Model       step.Path `arg:"model,required"`
	Calibration step.Path `arg:"calibration"`
}

func mllmV1Docs(more map[string]string) map[string]string {
	docs := map[string]string{
		"sources":     "A source tree of mllm's branch v1.",
		"model":       "The Hugging Face model's folder, of architecture Qwen2 (also Qwen1.5 and Qwen2.5).",
		"calibration": "A text whose paragraphs the model reads. By default one of ours.",
	}
	maps.Copy(docs, more)
	return docs
}

// run plans one of them.
func (m mllmV1) run(p *step.Plan, stage, description string, more map[string]any, inputs ...action.Input) *step.Action {
	at, in := text(p, m.Calibration, "mllm.txt")
	args := map[string]any{"stage": stage, "sources": m.Sources.InRoot(), "model": m.Model.InRoot(), "calibration": at, "samples": 2, "seed": 0, "rotation": "", "distribution": "",
		"threshold": 64, "clip_all": false, "quant_bias": false, "out": "made"}
	maps.Copy(args, more)
	a := programIn(p, quantizerToolchain, description, args, "mllm_v1").In(m.Sources.Input(), m.Model.Input(), in).In(inputs...)
	a.Name = stage
	return a
}

// RotateV1 are the arguments of kind rotate_v1.
type RotateV1 struct {
	mllmV1
	Seed int `arg:"seed" range:"0..2147483647"`
}

func rotateV1Schema() step.Schema {
	return step.Schema{
		Summary: "Rotates a model (SpinQuant, QuaRot) with the program of mllm v1, so that fewer of its values are far out, and looks whether it still says the same.",
		ArgDocs: mllmV1Docs(map[string]string{"seed": "Of the matrices, which upstream leaves to chance."}),
		Outputs: []step.OutputSpec{
			{Name: "model", Class: action.File, Doc: "The rotated model in floats, a .pth: for the CPU, which goes on where the NPU ends."},
			{Name: "rotation", Class: action.File, Doc: "The matrices, for `quantize_v1`."},
			{Name: "same", Class: action.Value, Doc: "How near the rotated model's words are to the model's, for checks: { cosine, cosine_min, argmax_equal, … }."},
		},
		Toolchains: []string{quantizerToolchain},
		Example: `step "rotate_v1" "qwen" {
  sources = step.git.mllm.outputs.dir
  model   = "Qwen1.5-1.8B-Chat"
}`,
	}
}

// Plan plans the rotation.
func (r RotateV1) Plan(p *step.Plan) {
	a := r.run(p, "rotated", "rotate the model with upstream's export_rotate_model.py", map[string]any{"seed": r.Seed})
	p.File("model", a.Out("made/model.pth"))
	p.File("rotation", a.Out("made/rotation.bin"))
	p.Output("same", action.Value, a.Out("made/same.json"))
}

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
			"num_samples": "How many paragraphs the model reads while its ranges are taken, at most.",
			"threshold":   "Shadow outliers: a layer keeps its precision where its range is as many times as wide as without its top 0.1 %, or more.",
			"clip_all":    "Whether no layer keeps its precision, whatever the threshold.",
			"quant_bias":  "Whether biases are quantised, too. Not of a rotated model.",
		}),
		Outputs: []step.OutputSpec{
			{Name: "model", Class: action.File, Doc: "The int8 model, a .pth: for the NPU, once `convert` has made a .mllm of it."},
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
	given := map[string]any{"quant_bias": q.QuantBias, "samples": q.NumSamples}
	if q.Rotation.IsSet() {
		given["rotation"] = q.Rotation.InRoot()
	}
	distribution := q.run(p, "distribution", "take the ranges of activations with upstream's get_distribution.py", given, q.Rotation.Input()).Out("made/distribution.json")
	p.File("distribution", distribution)
	given["distribution"], given["threshold"], given["clip_all"] = "distribution.json", q.Threshold, q.ClipAll
	made := q.run(p, "export", "quantise to int8 with upstream's export_qnn_model.py", given, q.Rotation.Input(), distribution.As("distribution.json"))
	p.File("model", made.Out("made/model.pth"))
	p.File("layers", made.Out("made/layers.json"))
	p.Output("shadow", action.Value, made.Out("made/shadow.json"))
}
