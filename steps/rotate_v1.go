package steps

import (
	"maps"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
)

// mllmV1 holds the arguments that mllm's programs of branch v1 share.
type mllmV1 struct {
	Sources     step.Path `arg:"sources,required"`
	Model       step.Path `arg:"model,required"`
	Calibration step.Path `arg:"calibration"`
	Pictures    step.Path `arg:"pictures"`
}

func mllmV1Docs(docs map[string]string) map[string]string {
	maps.Copy(docs, map[string]string{
		"sources":     "Source tree of mllm's branch v1.",
		"model":       "Folder of the Hugging Face model, of architecture Qwen2 (also Qwen1.5 and Qwen2.5).",
		"calibration": "Text file whose paragraphs the model reads. Default: a text from hexmage.",
		"pictures": "For a vision model (qwen2_vl, such as ShowUI-2B): folder of ScreenSpot, mllm's data set of " +
			"pictures with questions. mllm's program for vision models needs a GPU.",
	})
	return docs
}

// run plans one of mllm's programs.
func (m mllmV1) run(p *step.Plan, stage, description string, more args) *step.Action {
	given := args{"stage": stage, "sources": m.Sources, "model": m.Model, "calibration": "", "pictures": m.Pictures,
		"samples": 2, "seed": 0, "rotation": "", "distribution": "", "threshold": 64, "clip_all": false,
		"quant_bias": false, "out": "made"}
	maps.Copy(given, more)
	a := program(p, quantizerToolchain, description, given, "mllm_v1")
	a.Name = stage
	if m.Pictures.IsSet() {
		a.Set(action.PropertyPool, "gpu=1")
	}
	return a
}

// RotateV1 holds the arguments of a rotate_v1 step.
type RotateV1 struct {
	mllmV1
	Seed int `arg:"seed" range:"0..2147483647"`
}

func rotateV1Schema() step.Schema {
	return step.Schema{
		Summary: "Rotates a model (SpinQuant, QuaRot) with the program of mllm v1 to reduce outliers, and compares " +
			"its logits with the original's.",
		ArgDocs: mllmV1Docs(map[string]string{"seed": "Seed of the random matrices. mllm itself sets no seed."}),
		Outputs: []step.OutputSpec{
			step.File("model", "The rotated model in floats (safetensors), which the CPU runs after prefill on the "+
				"NPU."),
			step.File("rotation", "The matrices, for `quantize_v1`."),
			step.Value("same", "Comparison of the logits of the rotated and the original model, for checks: { "+
				"cosine, cosine_min, argmax_equal, … }."),
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
	a := r.run(p, "rotated", "rotate the model with mllm's export_rotate_model.py",
		args{"seed": r.Seed, "calibration": text(p, r.Calibration, "mllm.txt")})
	p.File("model", a.Out("made/model.safetensors"))
	p.File("rotation", a.Out("made/rotation.bin"))
	p.Output("same", action.Value, a.Out("made/same.json"))
}
