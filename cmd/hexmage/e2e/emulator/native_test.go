//go:build linux

package emulator_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

const nativePipeline = `profile "emulator" { default = true }
toolchain "onnx" {}
locals { blocks = { qwen3 = 16, qwen2 = 32, llama = 32 } }
step "toy_model" "kind" {
  for_each     = local.blocks
  seed         = 79
  layers       = 2
  architecture = each.key
  block_size   = each.value
}
step "python" "tests" {
  environment = toolchain.onnx.dir
  script      = "host/tests/test_native.py"
  args        = concat(["host/programs", "host/texts/mllm.txt"], [for kind in keys(local.blocks) : "${kind}=${step.toy_model.kind[kind].outputs.dir}"])
  inputs      = ["host/programs", "host/texts/mllm.txt", "host/tests/made_up.py", "host/tests/testdata"]
}
`

// TestNativeQuantizer runs the tests of mllm_native in its locked environment. Among them it compares models of each
// architecture, which step model makes, with what mllm's train.py wrote for the same models.
func TestNativeQuantizer(t *testing.T) {
	w := EmulatorWarmed(t)
	for _, sub := range []string{"programs", "tests", "texts"} {
		if err := os.CopyFS(filepath.Join(w.Dir, "host", sub),
			os.DirFS(filepath.Join(Repo(), "model", "python", sub))); err != nil {
			t.Fatal(err)
		}
	}
	w.Write(t, "pipelines/native.hcl", nativePipeline)
	Wants(t, w.Run(t, "run", "native"), ExitOK, "4 executed")
}

const plainPipeline = `profile "emulator" { default = true }
toolchain "onnx" {}
step "quantize" "m" {
  model        = "model"
  architecture = "llama"
  block_size   = 32
  max_length   = 64
  num_samples  = 2
}
step "convert" "m" {
  name  = "m"
  model = step.quantize.m.outputs.dir
}
step "audit" "m" {
  model  = step.convert.m.outputs.model
  config = "${step.quantize.m.outputs.dir}/config.json"
}
step "onnx_llm" "float" { model = "model" }
step "onnx_llm" "quantized" {
  model   = step.quantize.m.outputs.dir
  context_len = 64
}
output "found" { value = step.audit.m.outputs.found }
`

// TestPlainConfig: in an empty folder the native quantizer, convert, audit and onnx_llm take a config.json of
// transformers 5 without the keys that transformers has defaults for.
func TestPlainConfig(t *testing.T) {
	w := EmulatorWarmed(t)
	w.Dir = t.TempDir()
	w.Write(t, "pipelines/made.hcl", `step "toy_model" "m" {
  seed         = 79
  layers       = 2
  architecture = "llama"
  block_size   = 32
}
output "model" { value = step.toy_model.m.outputs.dir }
`)
	Wants(t, w.Run(t, "run", "made"), ExitOK)
	for _, name := range []string{"model.safetensors", "tokenizer.json"} {
		w.Write(t, "model/"+name, Read(t, filepath.Join(w.Dir, "out", "made", "model", name)))
	}
	w.Write(t, "model/config.json", `{"model_type": "llama", "hidden_size": 128, "intermediate_size": 256,
 "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 512, "bos_token_id": 509,
 "eos_token_id": 511, "tie_word_embeddings": true, "dtype": "float32",
 "rope_parameters": {"rope_theta": 10000.0, "rope_type": "default"}}`)
	w.Write(t, "pipelines/plain.hcl", plainPipeline)
	Wants(t, w.Run(t, "run", "plain"), ExitOK)
}
