//go:build linux

package emulator_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// outputs: all that a compile can leave is there, says what it should, and is the same in each run but for what is
// said to vary; what the compiler takes without a word, and what it crashes at, is said.
func outputs(t *testing.T, w *World) {
	w.Write(t, "graphs.py", smallGraphs)
	w.Write(t, "pipelines/outputs.hcl", outputsPipeline)
	w.Write(t, "pipelines/liars.hcl", liarsPipeline)

	o := w.Run(t, "run", "outputs", "--verify=htp_context.several")
	Wants(t, o, ExitOK, "verified: 2 identical, 1 different as declared", "  times.json ",
		"may differ: the output contains measured times")
	at := filepath.Join("out", "outputs", "several")
	o = w.Run(t, "inspect", "--json", filepath.Join(at, "device", "net_ctx_qnn.bin"))
	Wants(t, o, ExitOK, `"format":"dlc"`, `"soc_model":43,"soc":"SM8550"`, `"arch":73`,
		`"soc_model":69,"soc":"SM8750"`, `"arch":79`, `"optimization_level":3`, `"vtcm_bytes":4194304`)
	Wants(t, w.Run(t, "inspect", filepath.Join(at, "emulator", "net", "net_ctx_qnn.bin")), ExitOK, "v79",
		"4.0 MiB of VTCM")
	Wants(t, w.Run(t, "inspect", filepath.Join("out", "outputs", "dlc", "net.dlc")), ExitOK, "DLC",
		"FullyConnected 1", "float32   [1×4]")
	var made struct {
		Graph struct {
			Nodes   map[string]struct{ Type string }
			Tensors map[string]any
		}
	}
	if err := json.Unmarshal([]byte(Read(t, filepath.Join(w.Dir, at, "graphs", "net.json"))), &made); err != nil ||
		made.Graph.Nodes["product"].Type != "FullyConnected" || made.Graph.Tensors["y"] == nil {
		t.Errorf("%+v, %v", made, err)
	}

	Wants(t, w.Run(t, "run", "liars", "--keep-going"), ExitFailed,
		"declares 1 products of quantized tensors, and the compiler made 16-bit floats of 1",
		"crashed with signal 8 (Floating point exception) while it did htp_compile",
		"has 2 graphs, and contexts for several SoCs in one file do not share weights")
	Wants(t, w.Run(t, "run", "liars", "htp_context.floats", "--var=floats=true"), ExitOK)
}

// keys: what decides about a context is in its key, as explain says; what does not is not.
func keys(t *testing.T, w *World) {
	for _, c := range []struct{ from, to, want string }{
		{"optimization_level = 3", "optimization_level = 2", "args.json changed"},
		{`["SM8550", "SM8750"]`, `["SM8750", "SM8650"]`, "args.json changed"},
		{"dlc          = true", "dlc = false", "2 of 2 actions are cached"},
		{`socs         = ["SM8550", "SM8750"]`, `toolchain "htp_host" { version = "2.4.0" }`,
			"toolchain.htp_host will run"},
	} {
		changed := strings.Replace(outputsPipeline, c.from, c.to, 1)
		if strings.HasPrefix(c.to, "toolchain") {
			changed = strings.Replace(strings.Replace(outputsPipeline, c.from, "", 1), `toolchain "htp_host" {}`,
				c.to, 1)
		}
		w.Write(t, "pipelines/outputs.hcl", changed)
		Wants(t, w.Run(t, "explain", "outputs", "htp_context.several"), ExitOK, c.want)
	}
}

// smallGraphs makes a folder of graphs: net.onnx is an ordinary one, with samples; floats.onnx has 4-bit weights in
// blocks with float scales, which the compiler takes for 16-bit floats; crash.onnx repeats something no times, at
// which the compiler crashes.
const smallGraphs = `
import os, sys, numpy as np, onnx
from onnx import TensorProto, helper, numpy_helper
at = sys.argv[1]
os.makedirs(at + "/samples")
r = np.random.default_rng(1)
value, node, tensor = helper.make_tensor_value_info, helper.make_node, numpy_helper.from_array
def save(name, kind, shape, made, nodes, constants):
    graph = helper.make_graph(nodes, "g", [value("x", kind, shape)], [value("y", kind, made)], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), at + "/" + name)
save("net.onnx", TensorProto.FLOAT, [1, 8], [1, 4], [node("MatMul", ["x", "w"], ["y"], name="product")], [tensor(r.standard_normal((8, 4)).astype(np.float32), "w")])
np.savez(at + "/samples/0.npz", x=r.standard_normal((1, 8)).astype(np.float32))
save("floats.onnx", TensorProto.UINT16, [4, 64], [4, 32], [
    node("DequantizeLinear", ["x", "xs", "z"], ["xd"]),
    node("DequantizeLinear", ["w", "ws"], ["wd"], axis=0, block_size=32),
    node("MatMul", ["xd", "wd"], ["m"]),
    node("QuantizeLinear", ["m", "ys", "z"], ["y"]),
], [
    tensor(np.float32(0.0002), "xs"), tensor(np.float32(0.001), "ys"), tensor(np.uint16(32768), "z"), tensor(r.random((2, 32)).astype(np.float32) * 0.01 + 0.001, "ws"),
    helper.make_tensor("w", TensorProto.INT4, [64, 32], [int(v) for v in r.integers(-8, 8, 64 * 32)]),
])
save("crash.onnx", TensorProto.FLOAT, [4, 4], [0, 8], [node("Tile", ["x", "n"], ["y"])], [tensor(np.array([0, 2], np.int64), "n")])
`

const graphsStep = `
profile "emulator" { default = true }
target "SM8750" {}
toolchain "htp_host" {}
toolchain "gnu_runtime" {}
toolchain "onnx" {}

step "python" "graphs" {
  environment = toolchain.onnx.dir
  script      = "graphs.py"
  args        = ["dir"]
  output "dir" { tree = "dir" }
}
`

const outputsPipeline = graphsStep + `
step "htp_context" "several" {
  graphs       = "${step.python.graphs.outputs.dir}/net.onnx"
  socs         = ["SM8550", "SM8750"]
  optimization_level = 3
  vtcm_mb      = 4
  dlc          = true
}
step "htp_emulate" "several" {
  context = step.htp_context.several.outputs.dir
  inputs  = "${step.python.graphs.outputs.dir}/samples"
}
module "example" {
  source = "onnx-htp"
  graph  = "example"
}
output "several" { value = step.htp_context.several.outputs.dir }
output "dlc" { value = step.htp_context.several.outputs.dlc }
output "said" { value = step.htp_emulate.several.outputs.dir }
output "example" { value = module.example.table }
`

// liarsPipeline has what the compiler takes without a word, or crashes at, and two graphs where one is taken.
const liarsPipeline = graphsStep + `
variable "floats" {
  type    = bool
  default = false
}
step "htp_context" "floats" {
  graphs = "${step.python.graphs.outputs.dir}/floats.onnx"
  allow_fp16 = var.floats
}
step "htp_context" "crash" { graphs = "${step.python.graphs.outputs.dir}/crash.onnx" }

step "toy_model" "tiny" {
  seed   = 79
  layers = 2
}
module "llm" {
  source = "onnx-htp"
  model  = step.toy_model.tiny.outputs.dir
}
step "htp_context" "several" {
  graphs = step.onnx_quantize.q.outputs.dir
  socs   = ["SM8550", "SM8750"]
}
step "onnx_quantize" "q" { graphs = module.llm.graphs }
`
