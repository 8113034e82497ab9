//go:build linux

package mllm_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/model/mllm"
)

// v1Held has mllm's converter convert what pipeline mllm-v1-quantize converts. It reads checkpoints only: it cannot
// read safetensors in one file.
const v1Held = `
profile "emulator" { default = true }
toolchain "mllm_quantizer" {}
step "toy_model" "small" {
  seed         = 15
  layers       = 2
  block_size   = 32
  architecture = "qwen2"
}
step "rotate_v1" "llm" {
  sources = "v1"
  model   = step.toy_model.small.outputs.dir
}
step "quantize_v1" "llm" {
  sources  = "v1"
  model    = step.toy_model.small.outputs.dir
  rotation = step.rotate_v1.llm.outputs.rotation
}
step "python" "pth" {
  environment = toolchain.mllm_quantizer.dir
  script      = "pth.py"
  args        = [step.quantize_v1.llm.outputs.model, "int8.pth", step.rotate_v1.llm.outputs.model, "floats.pth"]
  output "int8" { file = "int8.pth" }
  output "floats" { file = "floats.pth" }
}
step "python" "int8" {
  environment = toolchain.mllm_quantizer.dir
  script      = "v1/tools/convertor/converter.py"
  args        = ["--input_model", step.python.pth.outputs.int8, "--output_model", "model.mllm"]
  output "mllm" { file = "model.mllm" }
}
output "int8" { value = step.python.int8.outputs.mllm }
step "python" "floats" {
  environment = toolchain.mllm_quantizer.dir
  script      = "v1/tools/convertor/converter.py"
  args        = ["--input_model", step.python.pth.outputs.floats, "--output_model", "model.mllm"]
  output "mllm" { file = "model.mllm" }
}
output "floats" { value = step.python.floats.outputs.mllm }
`

// TestV1Quantize runs mllm's programs of branch v1, of the clone that HEXMAGE_TEST_MLLM names: a small Qwen2 is
// rotated and says the same; it becomes int8; our converter writes what mllm's writes of it; and mllm's own
// loader reads that, for its quantizer of 4 bits.
func TestV1Quantize(t *testing.T) {
	clone := os.Getenv("HEXMAGE_TEST_MLLM")
	if clone == "" {
		t.Skip("HEXMAGE_TEST_MLLM names no clone of mllm; the test downloads 3.2 GB of PyTorch")
	}
	w := NewWorld(t)
	v1 := filepath.Join(w.Dir, "v1")
	if err := os.Mkdir(v1, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("sh", "-c", `git -C "$1" archive origin/v1 tools mllm third_party | tar -x -C "$2"`,
		"sh", clone, v1).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	slow := func(args ...string) *Outcome {
		ctx, cancel := context.WithTimeout(t.Context(), 8*RunLimit)
		defer cancel()
		return Ended(t, w.Command(ctx, args...))
	}
	shipped := []string{"--var=mllm=v1", "mllm-v1-quantize"}
	o := slow(append([]string{"run"}, shipped...)...)
	Wants(t, o, ExitOK, "check.rotation", "passed", "64 (taken)", "Of 15 layers.")
	if r := w.RunJSON(t, shipped...); r.Executed != 0 {
		t.Errorf("again: %q ran", r.Names)
	}
	if r := w.RunJSON(t, append([]string{"--var=threshold=2"}, shipped...)...); len(r.Names) == 0 ||
		strings.Contains(strings.Join(r.Names, " "), "distribution") {
		t.Errorf("another threshold: %q ran", r.Names)
	}
	Wants(t, slow("run", "--var=threshold=64", "--var=mllm=v1", "mllm-v1-quantize"), ExitOK)
	w.Write(t, "screenspot/README.md", "pictures")
	Wants(t, slow("run", "--var=pictures=screenspot", "--var=mllm=v1", "mllm-v1-quantize"), ExitFailed,
		"The model is a qwen2: upstream's v1 prepares qwen2 (also Qwen1.5 and Qwen2.5), and with pictures qwen2_vl.")

	w.Write(t, "pipelines/held.hcl", v1Held)
	w.Write(t, "pth.py", "import sys, torch\nfrom safetensors.torch import load_file\n"+
		"for i in (1, 3): torch.save(load_file(sys.argv[i]), sys.argv[i + 1])\n")
	Wants(t, slow("run", "held"), ExitOK)
	made, held := filepath.Join(w.Dir, "out", "mllm-v1-quantize"), filepath.Join(w.Dir, "out", "held")
	for _, name := range []string{"int8", "floats"} {
		ours, theirs := tensorsOf(t, filepath.Join(made, name+".mllm")), tensorsOf(t, filepath.Join(held, name))
		if len(ours) != len(theirs) || len(ours) < 27 {
			t.Errorf("%s: %d tensors, upstream's converter wrote %d", name, len(ours), len(theirs))
		}
		for tensor, a := range theirs {
			if b := ours[tensor]; a.dtype != b.dtype || !bytes.Equal(a.data, b.data) {
				t.Errorf("%s: %s is %v of %d bytes, upstream's %v of %d", name, tensor, b.dtype, len(b.data), a.dtype,
					len(a.data))
			}
		}
	}
	int8s := tensorsOf(t, filepath.Join(made, "int8.mllm"))
	for tensor, dtype := range map[string]mllm.DType{"model.layers.0.mlp.down_proj.weight": mllm.Int8,
		"model.layers.0.mlp.down_proj.weight.scale": mllm.Float32,
		"model.layers.0.mlp.down_proj.input_scale":  mllm.Float32,
		"model.layers.0.mlp.down_proj.clip_input":   mllm.Int8, "model.layers.1.self_attn.q_proj.bias": mllm.Float32} {
		if s, ok := int8s[tensor]; !ok || s.dtype != dtype {
			t.Errorf("%s is %v", tensor, s.dtype)
		}
	}
	Wants(t, w.Run(t, "inspect", filepath.Join(made, "q4k.mllm")), ExitOK, "Q4_K", "Q4_0",
		"model.layers.1.mlp.down_proj.weight")
}
