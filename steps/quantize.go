package steps

import (
	"fmt"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
)

// quantizerToolchain is the environment of mllm's quantizer.
const quantizerToolchain = "mllm_quantizer"

// quantizeCheckpoint is the folder in which mllm_native and onnx_quantize keep their calibration results.
const quantizeCheckpoint = "seen"

// Quantize holds the arguments of a quantize step.
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
		Summary: "Quantizes a model to W4A16 LPBQ with a uint8 KV cache, under mllm's tensor names.",
		ArgDocs: map[string]string{
			"model":      "Folder in the Hugging Face layout: an output of a step, or a folder of the workspace.",
			"block_size": "LPBQ block size, the model's `linear_block_size`. mllm's qwen2 and llama need 32.",
			"pymllm": "mllm's source tree, whose train.py then quantizes in toolchain `mllm_quantizer`. By " +
				"default hexmage's quantizer runs in toolchain `onnx`. It has mllm's arithmetic and points of " +
				"quantization, reads models of any size in BF16, F16 or F32, and keeps one layer in memory.",
			"architecture": "Architecture by mllm's folder name: qwen3, qwen2 or llama.",
			"calibration": "Text file whose paragraphs of at least 1,024 characters are the samples. Default: a " +
				"text from hexmage.",
			"max_length":  "Tokens of a sample, and of the model's later context (mllm's --max_length).",
			"num_samples": "Number of paragraphs to use, from the first (mllm's --num_samples).",
			"device": "Device on which PyTorch computes, for `pymllm`. On a GPU the last bits of activation " +
				"scales differ.",
		},
		Outputs: []step.OutputSpec{step.Tree("dir", "model.safetensors, config.json, tokenizer.json, and "+
			"tokenizer_config.json and chat_template.jinja if the model has them.")},
		Toolchains: []string{quantizerToolchain, onnxToolchain},
		Example: `step "quantize" "qwen3" {
  model      = step.toy_model.toy.outputs.dir
  block_size = 32
}`,
	}
}

// Plan plans the quantization.
func (q Quantize) Plan(p *step.Plan) {
	if q.Architecture != "qwen3" && q.BlockSize != 32 {
		p.Fail("block_size", "Unsupported block size", "block_size: mllm's %s has blocks of 32. Write block_size = 32.",
			q.Architecture)
		return
	}
	if !q.Model.IsSet() {
		example := map[string]string{"qwen3": "Qwen/Qwen3-1.7B", "qwen2": "Qwen/Qwen2.5-1.5B-Instruct",
			"llama": "meta-llama/Llama-3.2-3B-Instruct"}
		p.Missing(fmt.Sprintf("The folder of the Hugging Face model is not set; download a model (such as %s) and "+
			"set its folder with --var model=FOLDER, or as `model` of the step.",
			example[q.Architecture]))
	}
	given := args{"model": q.Model, "architecture": q.Architecture, "block_size": q.BlockSize, "out": "dir",
		"calibration": text(p, q.Calibration, "mllm.txt"), "samples": q.NumSamples, "max_length": q.MaxLength}
	var a *step.Action
	if q.PyMLLM.IsSet() {
		given["sources"], given["device"] = q.PyMLLM, q.Device
		a = program(p, quantizerToolchain, "quantize with mllm's train.py on "+q.Device, given, "mllm_quantize")
		if q.Device == "cuda" {
			a.Set(action.PropertyPool, "gpu=1")
			p.Programs("nvidia-smi")
		}
	} else {
		given["checkpoint"] = quantizeCheckpoint
		a = computes(p, program(p, onnxToolchain, "quantize W4A16 LPBQ with mllm's arithmetic", given, "mllm_native"))
		a.Set(action.PropertyCheckpoint, quantizeCheckpoint)
	}
	p.Tree("dir", a.OutTree("dir"))
}
