package steps

import (
	"fmt"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/step"
)

// quantizerToolchain is the environment that mllm's quantizer runs in.
const quantizerToolchain = "mllm_quantiser"

// quantizeCheckpoint is the folder in which mllm_native and onnx_quantize keep what calibration has seen.
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
		Summary: "Quantizes a model to W4A16 LPBQ with a uint8 KV cache, under mllm's tensor names.",
		ArgDocs: map[string]string{
			"model":      "Folder in the Hugging Face layout: an artifact or a workspace path.",
			"block_size": "LPBQ block, the model's `linear_block_size`. mllm's qwen2 and llama have 32.",
			"pymllm": "mllm's source tree: its own train.py quantizes in toolchain `mllm_quantiser`. Without it " +
				"hexmage's quantizer runs in toolchain `onnx`: it has mllm's arithmetic and points of quantization, " +
				"takes a model of any size in BF16, F16 or F32, and keeps one layer in memory.",
			"architecture": "mllm's folder name: qwen3, qwen2 or llama.",
			"calibration": "A text file whose paragraphs of at least 1,024 characters are the samples; by default one " +
				"that hexmage has.",
			"max_length":  "mllm's --max_length: tokens of a sample, and of the context that the model can have later.",
			"num_samples": "mllm's --num_samples: number of paragraphs, from the first.",
			"device":      "For `pymllm`: where PyTorch computes. On a GPU the last bits of activations' scales differ.",
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

// Plan plans the quantizing.
func (q Quantize) Plan(p *step.Plan) {
	if q.Architecture != "qwen3" && q.BlockSize != 32 {
		p.Fail("block_size", "Not mllm's block size", "mllm's %s has blocks of 32. Write block_size = 32.", q.Architecture)
		return
	}
	if !q.Model.IsSet() {
		example := map[string]string{"qwen3": "Qwen/Qwen3-1.7B", "qwen2": "Qwen/Qwen2.5-1.5B-Instruct",
			"llama": "meta-llama/Llama-3.2-3B-Instruct"}
		p.Missing(fmt.Sprintf("The folder of the Hugging Face model is not given: download it (such as %s) and name it "+
			"as the `model` of the step or module, for the shipped pipelines with --var model=FOLDER.",
			example[q.Architecture]))
	}
	given := args{"model": q.Model, "architecture": q.Architecture, "block_size": q.BlockSize, "out": "dir",
		"calibration": text(p, q.Calibration, "mllm.txt"), "samples": q.NumSamples, "max_length": q.MaxLength}
	var a *step.Action
	if q.PyMLLM.IsSet() {
		given["sources"], given["device"] = q.PyMLLM, q.Device
		a = program(p, quantizerToolchain, "quantize with mllm's train.py on "+q.Device, given, "mllm_quantize")
	} else {
		given["checkpoint"] = quantizeCheckpoint
		a = computes(p, program(p, onnxToolchain, "quantize W4A16 LPBQ with mllm's arithmetic", given, "mllm_native"))
		a.Set(action.PropertyCheckpoint, quantizeCheckpoint)
	}
	if q.PyMLLM.IsSet() && q.Device == "cuda" {
		a.Set(action.PropertyPool, "gpu=1")
		p.Programs("nvidia-smi")
	}
	p.Tree("dir", a.OutTree("dir"))
}
