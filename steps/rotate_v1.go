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
	Pictures    step.Path `arg:"pictures"`
}

func mllmV1Docs(more map[string]string) map[string]string {
	docs := map[string]string{
		"sources":     "A source tree of mllm's branch v1.",
		"model":       "The Hugging Face model's folder, of architecture Qwen2 (also Qwen1.5 and Qwen2.5).",
		"calibration": "A text whose paragraphs the model reads. By default one of ours.",
		"pictures":    "Of a model that sees (qwen2_vl, such as ShowUI-2B): folder with upstream's data set of pictures and what is asked of them, ScreenSpot. Upstream's program for these asks for a GPU.",
	}
	maps.Copy(docs, more)
	return docs
}

// run plans one of them.
func (m mllmV1) run(p *step.Plan, stage, description string, more map[string]any, inputs ...action.Input) *step.Action {
	args := map[string]any{"stage": stage, "sources": m.Sources.InRoot(), "model": m.Model.InRoot(), "calibration": "", "pictures": "", "samples": 2, "seed": 0, "rotation": "", "distribution": "",
		"threshold": 64, "clip_all": false, "quant_bias": false, "out": "made"}
	if m.Pictures.IsSet() {
		args["pictures"] = m.Pictures.InRoot()
	}
	maps.Copy(args, more)
	a := programIn(p, quantizerToolchain, description, args, "mllm_v1").In(m.Sources.Input(), m.Model.Input()).In(inputs...)
	a.Name = stage
	if m.Pictures.IsSet() {
		a.In(m.Pictures.Input()).Set(action.PropertyPool, "gpu=1")
	}
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
			{Name: "model", Class: action.File, Doc: "The rotated model in floats, safetensors: the CPU runs it after prefill on the NPU."},
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
	at, in := text(p, r.Calibration, "mllm.txt")
	a := r.run(p, "rotated", "rotate the model with upstream's export_rotate_model.py", map[string]any{"seed": r.Seed, "calibration": at}, in)
	p.File("model", a.Out("made/model.safetensors"))
	p.File("rotation", a.Out("made/rotation.bin"))
	p.Output("same", action.Value, a.Out("made/same.json"))
}
