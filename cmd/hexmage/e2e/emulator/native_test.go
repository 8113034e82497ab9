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
step "model" "kind" {
  for_each     = local.blocks
  seed         = 79
  layers       = 2
  architecture = each.key
  block_size   = each.value
}
step "python" "tests" {
  environment = toolchain.onnx.dir
  script      = "host/tests/test_native.py"
  args        = concat(["host/programs", "host/texts/mllm.txt"], [for kind in keys(local.blocks) : "${kind}=${step.model.kind[kind].outputs.dir}"])
  inputs      = ["host/programs", "host/texts/mllm.txt", "host/tests/made_up.py", "host/tests/testdata"]
}
`

// TestNativeQuantizer runs the tests of mllm_native in its locked environment. Among them it compares models of each
// architecture, which step model makes, with what mllm's train.py wrote for the same models.
func TestNativeQuantizer(t *testing.T) {
	w := HostWarmed(t)
	for _, sub := range []string{"programs", "tests", "texts"} {
		if err := os.CopyFS(filepath.Join(w.Dir, "host", sub),
			os.DirFS(filepath.Join(Repo(), "model", "host", sub))); err != nil {
			t.Fatal(err)
		}
	}
	w.Write(t, "pipelines/native.hcl", nativePipeline)
	Wants(t, w.Run(t, "run", "native"), ExitOK, "4 executed")
}
