//go:build linux

package accuracy_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

const qwen3 = "qwen3-aot-v79"

// qwen3OnEmulator goes mllm's way in profile emulator with hexmage's quantizer: its file, a graph with its points,
// Qualcomm's compiler and emulator.
func qwen3OnEmulator(t *testing.T, w *World) {
	o := w.Run(t, "run", qwen3)
	Wants(t, o, ExitOK, "1620 of 1620", "not a phone's speed", "passed", "check.first", "check.quantized",
		"Qualcomm's emulator: toy qwen3 on SM8750", "Simulated phone: toy qwen3 on SM8750, Hexagon v79")
	if r := w.RunJSON(t, qwen3); r.Executed != 0 {
		t.Errorf("again: %q ran", r.Names)
	}
	out := filepath.Join(w.Dir, "out", qwen3)
	Wants(t, w.Run(t, "inspect", "--json", filepath.Join(out, "htp", "device", "prefill_ctx_qnn.bin")), ExitOK,
		`"arch":79`, `"soc_model":69`)
	Wants(t, w.Run(t, "inspect", filepath.Join(out, "model.mllm")), ExitOK,
		"model.layers.3.self_attn.k_rope_neg_half_qdq.fake_quant.scale")
	var m struct {
		Points map[string]struct{ Points, Tensors, Blocks int }
	}
	if err := json.Unmarshal([]byte(Read(t, filepath.Join(out, "htp", "manifest.json"))), &m); err != nil ||
		len(m.Points) != 2 {
		t.Fatalf("%+v, %v", m, err)
	}
	for name, p := range m.Points {
		if p.Blocks != 4*7+1 || p.Points < 120 || p.Tensors < 200 {
			t.Errorf("%s: %+v", name, p)
		}
	}

	// A model whose nibbles and block scales say something else is found, though emulator and CPU agree on it.
	w.Write(t, "misread.py", misread)
	for how, says := range map[string]string{"right": "", "sign": "found", "turned": "found"} {
		w.Write(t, "pipelines/misread.hcl", strings.ReplaceAll(misreadPipeline, "HOW", how))
		code := ExitOK
		if says != "" {
			code = 5
		}
		Wants(t, w.Run(t, "run", "misread"), code, says)
	}
}

// misread changes a quantized model as a wrong reader would see it: nibbles without their sign, or block scales that
// are not turned.
const misread = `
import json, shutil, sys
import numpy as np
source, to, how = sys.argv[1:]
shutil.copytree(source, to)
path = to + "/model.safetensors"
data = bytearray(open(path, "rb").read())
begin = 8 + int.from_bytes(data[:8], "little")
tensors = json.loads(data[8:begin])
for name, t in tensors.items():
    if name == "__metadata__":
        continue
    first, end = (begin + o for o in t["data_offsets"])
    if how == "sign" and name.endswith(".weight") and t["dtype"] == "I8":
        data[first:end] = bytes(b ^ 8 for b in data[first:end])
    if how == "turned" and name.endswith(".scale1"):
        outputs = tensors[name[:-1] + "2"]["shape"][0]
        a = np.frombuffer(data[first:end], np.uint8).reshape(outputs, -1)
        data[first:end] = np.ascontiguousarray(a.T).tobytes()
import os
os.remove(path)
open(path, "wb").write(data)
`

const misreadPipeline = `
profile "emulator" { default = true }
target "SM8750" {}
toolchain "onnx" {}
step "toy_model" "tiny" { seed = 79 }
step "quantize" "tiny" {
  model       = step.toy_model.tiny.outputs.dir
  num_samples = 2
  max_length  = 256
}
step "python" "misread" {
  environment = toolchain.onnx.dir
  script      = "misread.py"
  args        = [step.quantize.tiny.outputs.dir, "dir", "HOW"]
  output "dir" { tree = "dir" }
}
step "onnx_llm" "it" { model = step.python.misread.outputs.dir }
step "onnx_llm" "float" { model = step.toy_model.tiny.outputs.dir }
step "onnx_run" "it" {
  graphs = step.onnx_llm.it.outputs.dir
  prompt = "When the wind turns, she"
  tokens = 1
}
step "onnx_run" "float" {
  graphs = step.onnx_llm.float.outputs.dir
  prompt = "When the wind turns, she"
  tokens = 1
}
step "accuracy" "it" {
  reference = step.onnx_run.float.outputs.dir
  outputs   = { it = step.onnx_run.it.outputs.dir }
}
check "it" {
  condition     = step.accuracy.it.outputs.rows.it.cosine >= 0.9
  error_message = "found: cosine ${step.accuracy.it.outputs.rows.it.cosine}"
}
`

// familyOnEmulator compiles and emulates a small model of each architecture, quantized with mllm's arithmetic.
func familyOnEmulator(t *testing.T, w *World) {
	for name, nodes := range Family() {
		native := []string{MLLMAOT, name}
		Wants(t, w.Run(t, append([]string{"run"}, native...)...), ExitOK, nodes, "not a phone's speed", "passed",
			"check.first", "check.quantized", "check.range")
		if r := w.RunJSON(t, native...); r.Executed != 0 {
			t.Errorf("%s again: %q ran", name, r.Names)
		}
	}
}
