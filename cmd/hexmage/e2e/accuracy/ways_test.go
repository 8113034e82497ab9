//go:build linux

package accuracy_test

import (
	"path/filepath"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// ways runs variables of module onnx-htp that decide how much memory a model takes: each works on the emulator.
func ways(t *testing.T, w *World) {
	w.Write(t, "pipelines/ways.hcl", waysPipeline)
	Wants(t, w.Run(t, "run", "ways"), ExitOK) // each cosine is above 0.95
	at := filepath.Join(w.Dir, "out", "ways", "parts.lpbq")
	for _, name := range []string{"embedding.bin", "device/0/prefill_0_ctx.onnx", "device/0/prefill_0_ctx_qnn.bin",
		"device/1/prefill_1_ctx.onnx", "device/1/prefill_1_ctx_qnn.bin", "device/0/decode_0_ctx.onnx",
		"device/1/decode_1_ctx.onnx"} {
		if !Exists(filepath.Join(at, name)) {
			t.Errorf("%s is missing", name)
		}
	}
	at = filepath.Join(w.Dir, "out", "ways", "apart.a16w8")
	for _, graph := range []string{"prefill", "decode"} {
		name := graph + "_ctx_qnn.bin"
		if Read(t, filepath.Join(at, "device", name)) != Read(t, filepath.Join(at, "emulator", graph, name)) {
			t.Errorf("%s: the contexts for the device and for the emulator differ", graph)
		}
	}
}

const waysPipeline = `profile "emulator" { default = true }
target "SM8750" {}
step "toy_model" "tiny" {
  seed   = 79
  layers = 2
}
module "parts" {
  source     = "onnx-htp"
  model      = step.toy_model.tiny.outputs.dir
  schemes    = ["lpbq"]
  kv         = "uint8"
  embedding  = "outside"
  num_shards = 2
  ar_len     = 16
  min_cosine = 0.95
}
module "apart" {
  source        = "onnx-htp"
  model         = step.toy_model.tiny.outputs.dir
  schemes       = ["a16w8"]
  share_weights = false
  min_cosine    = 0.95
}
output "parts" { value = module.parts.contexts }
output "apart" { value = module.apart.contexts }
`
