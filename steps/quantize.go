package steps

import (
	"fmt"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
)

// quantizerToolchain is the environment that upstream's quantiser runs in.
const quantizerToolchain = "mllm_quantiser"

// quantizeCheckpoint is the folder in which mllm_native and onnx_quantize leave what calibration has seen.
const quantizeCheckpoint = "seen"

// Quantize are the arguments of kind quantize.
type Quantize struct {
	Model        step.Path `arg:"model,required"`
	BlockSize    int       `arg:"block_size" default:"16" oneof:"16 32 64"`
	PyMLLM       step.Path `arg:"pymllm"`
	Architecture string    `arg:"architecture" default:"qwen3" oneof:"qwen3 qwen2 llama"`
	Calibration  step.Path `arg:"calibration"`
	MaxLength    int       `arg:"max_length" default:"1024" range:"2..32768"`
	NumSamples   int       `arg:"num_samples" default:"128" range:"1..4096"`
	Device       string    `arg:"device" default:"cpu" oneof:"cpu cuda"`
}

func quantizeSchema() step.Schema {
	return step.Schema{
		Summary: "Quantises a model to W4A16 LPBQ with a uint8 KV cache, under upstream's tensor names.",
		ArgDocs: map[string]string{
			"model":      "Folder in the Hugging Face layout: an artifact or a workspace path.",
			"block_size": "LPBQ block; becomes the model's `linear_block_size`. Upstream has it fixed at 32 for qwen2 and llama.",
			"pymllm": "mllm's source tree: its own train.py quantizes in toolchain `mllm_quantiser`. Without it " +
				"hexmage's quantizer runs in toolchain `onnx`: it has mllm's arithmetic and points of quantization, " +
				"takes a model of any size in BF16, F16 or F32, and keeps one layer in memory.",
			"architecture": "Upstream's folder name: qwen3, qwen2 or llama.",
			"calibration":  "A text file whose paragraphs are the samples, 1,024 characters each at least, such as what `fetch` got of a hub's data set by its digest; by default some of ours.",
			"max_length":   "Upstream's --max_length: tokens of a sample, and of the context that the model can have later.",
			"num_samples":  "Upstream's --num_samples: paragraphs that are taken, from the first.",
			"device":       "Of upstream's: where PyTorch computes. A GPU gives other last bits of activations' scales.",
		},
		Outputs:    []step.OutputSpec{{Name: "dir", Class: action.Tree, Doc: "model.safetensors, config.json, tokenizer.json, and of tokenizer_config.json and chat_template.jinja what the model has"}},
		Toolchains: []string{quantizerToolchain, onnxToolchain},
		Example: `step "quantize" "qwen3" {
  model      = step.toy_model.toy.outputs.dir
  block_size = 32
}`,
	}
}

// Plan plans the quantising.
func (q Quantize) Plan(p *step.Plan) {
	if q.Architecture != "qwen3" && q.BlockSize != 32 {
		p.Fail("block_size", "Not upstream's block size", "Upstream's %s has blocks of 32. Write block_size = 32.", q.Architecture)
		return
	}
	at, in := text(p, q.Calibration, "mllm.txt")
	if !q.Model.IsSet() {
		example := map[string]string{"qwen3": "Qwen/Qwen3-1.7B", "qwen2": "Qwen/Qwen2.5-1.5B-Instruct", "llama": "meta-llama/Llama-3.2-3B-Instruct"}
		p.Missing(fmt.Sprintf("The folder of the Hugging Face model is not given: download it (such as %s) and name it as the `model` of the step "+
			"or module, for the shipped pipelines with --var model=FOLDER.", example[q.Architecture]))
	}
	if !q.PyMLLM.IsSet() {
		args := map[string]any{"model": q.Model.InRoot(), "architecture": q.Architecture, "block_size": q.BlockSize,
			"calibration": at, "samples": q.NumSamples, "max_length": q.MaxLength, "checkpoint": quantizeCheckpoint, "out": "dir"}
		a := computes(p, program(p, "quantize W4A16 LPBQ with mllm's arithmetic", args, false, "mllm_native"))
		a.In(q.Model.Input(), in).Set(action.PropertyCheckpoint, quantizeCheckpoint)
		p.Tree("dir", a.OutTree("dir"))
		return
	}
	args := map[string]any{"sources": q.PyMLLM.InRoot(), "architecture": q.Architecture, "model": q.Model.InRoot(), "block_size": q.BlockSize, "calibration": at,
		"samples": q.NumSamples, "max_length": q.MaxLength, "device": q.Device, "out": "dir"}
	a := programIn(p, quantizerToolchain, "quantise with upstream's train.py on "+q.Device, args, "mllm_quantize").In(q.PyMLLM.Input(), q.Model.Input(), in)
	if q.Device == "cuda" {
		a.Set(action.PropertyPool, "gpu=1")
		p.Programs("nvidia-smi")
	}
	p.Tree("dir", a.OutTree("dir"))
}
