//go:build linux

package emulator_test

import (
	"encoding/json"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/model/profile"
)

// profiled reads what a pipeline has put under out/.
func profiled(t *testing.T, w *World, pipeline string) (p profile.Profile) {
	t.Helper()
	if err := json.Unmarshal([]byte(Read(t, filepath.Join(w.Dir, "out", pipeline, "nodes.json"))), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestProfileNPU: what Qualcomm's runtime says of where a graph's time goes, in three levels, on its emulator. Each
// node of the graph is there.
func TestProfileNPU(t *testing.T) {
	w := EmulatorWarmed(t)
	w.Write(t, "pipelines/profiled.hcl", profiledPipeline)
	const pipeline = "profiled"
	var contexts []string
	for _, level := range []string{"basic", "detailed", "optrace"} {
		t.Run(level, func(t *testing.T) {
			o := w.Run(t, "run", pipeline, "--var=profiling="+level)
			Wants(t, o, ExitOK, "example, a16w8, for SM8750, Hexagon v79: "+level,
				"QNN (load binary) time", "QNN (execute) time", "not of a device", "0.9998")
			at := filepath.Join(w.Dir, "out", pipeline)
			p := profiled(t, w, pipeline)
			if !p.Emulator || p.Runs != 8 || !strings.Contains(p.Note, "not of a device") {
				t.Errorf("%+v", p)
			}
			if log := Read(t, filepath.Join(at, "profile", "net_qnn.log")); len(log) < 1000 {
				t.Errorf("the vendor's log has %d bytes", len(log))
			}
			contexts = append(contexts, Read(t, filepath.Join(at, "context", "device", "net_ctx_qnn.bin")))
			schematics, err := filepath.Glob(filepath.Join(at, "schematic", "device", "*_schematic.bin"))
			if err != nil || (len(schematics) == 1) != (level == "optrace") {
				t.Errorf("schematics: %q, %v", schematics, err)
			}
			if level == "basic" {
				if len(p.Nodes) != 0 || strings.Contains(o.Stdout, "share") {
					t.Errorf("there are nodes: %+v", p.Nodes)
				}
				return
			}
			Wants(t, o, ExitOK, "emulator's cycles", "FullyConnected")
			everyNode(t, p, filepath.Join(at, "context"))
			if p.Cycles <= 0 {
				t.Errorf("%v cycles", p.Cycles)
			}
			share := 0.0
			for _, n := range p.Nodes {
				share += n.Share
			}
			if math.Abs(share-1) > 1e-9 {
				t.Errorf("shares add up to %v", share)
			}
			t.Log(o.Stdout[strings.Index(o.Stdout, "example, a16w8, for SM8750, Hexagon v79: "+level):])
		})
	}
	// Neither a profile nor a schematic is ever the same, and that is declared.
	Wants(t, w.Run(t, "run", pipeline, "--var=profiling=optrace", "--verify=module.net.htp_context.scheme"),
		ExitOK, "1 different as declared")
	if len(contexts) != 3 || contexts[1] != contexts[2] {
		t.Error("the context for an optrace is another")
	}
	if r := w.RunJSON(t, pipeline, "--var=profiling=optrace"); r.Executed != 0 {
		t.Errorf("again: %q ran", r.Names)
	}

	t.Run("heaviest", func(t *testing.T) {
		w.Write(t, "heavy.py", heavyGraph)
		w.Write(t, "pipelines/heavy.hcl", `profile "emulator" { default = true }
toolchain "onnx" {}
step "python" "graph" {
  environment = toolchain.onnx.dir
  script      = "heavy.py"
  args        = ["dir"]
  output "dir" { tree = "dir" }
}
output "graph" { value = step.python.graph.outputs.dir }
`)
		Wants(t, w.Run(t, "run", "heavy"), ExitOK)
		Wants(t, w.Run(t, "run", pipeline, "--var=graph=out/heavy/graph/heavy.onnx", "--var=samples=out/heavy/graph"),
			ExitOK, "heavy.onnx, a16w8, for SM8750")
		p := profiled(t, w, pipeline)
		if n := p.Nodes[0]; n.Op != "Conv2d" || !slices.Contains(n.ONNX, n.Name) || n.Share < 0.5 {
			t.Errorf("the wide convolution is not the heaviest: %+v", p.Nodes)
		}
	})

	t.Run("words", func(t *testing.T) {
		w.Write(t, "pipelines/words.hcl", profiledWords)
		Wants(t, w.Run(t, "run", "words"), ExitOK, "decode", "not of a device")
		p := profiled(t, w, "words")
		// an answer of four tokens, the first of which prefill says
		if p.Runs != 3 || len(p.Nodes) < 100 {
			t.Errorf("%d runs, %d nodes", p.Runs, len(p.Nodes))
		}
	})
}

// everyNode: each node of the compiler's graph, and each of the ONNX graph that is on the NPU, is in the profile.
func everyNode(t *testing.T, p profile.Profile, context string) {
	t.Helper()
	names, sources := map[string]bool{}, map[string]bool{}
	for _, n := range p.Nodes {
		names[n.Name] = true
		for _, s := range n.ONNX {
			sources[s] = true
		}
	}
	var made struct {
		Graph struct {
			Nodes map[string]struct{ Type string }
		}
	}
	var placed map[string][]struct{ On, Name string }
	for name, to := range map[string]any{"graphs/net.json": &made, "nodes.json": &placed} {
		if err := json.Unmarshal([]byte(Read(t, filepath.Join(context, name))), to); err != nil {
			t.Fatal(err)
		}
	}
	if len(made.Graph.Nodes) != 7 || len(placed["net"]) != 20 {
		t.Errorf("%v, %v", made, placed)
	}
	for _, name := range slices.Sorted(maps.Keys(made.Graph.Nodes)) {
		if !names[name] {
			t.Errorf("the profile does not know %s of the compiler's graph", name)
		}
	}
	for _, n := range placed["net"] {
		if n.On == "NPU" && !sources[n.Name] {
			t.Errorf("the profile does not know %s of the ONNX graph", n.Name)
		}
	}
}

// heavyGraph has a convolution with most of the graph's products, beside a narrow one and small nodes.
const heavyGraph = `
import os, sys
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

out = sys.argv[1]
os.makedirs(out)
r = np.random.default_rng(79)
def weights(name, *shape):
    return numpy_helper.from_array((r.standard_normal(shape) * 0.05).astype(np.float32), name)
nodes = [
    helper.make_node("Conv", ["x", "narrow"], ["a"], name="narrow", pads=[0, 0, 0, 0]),
    helper.make_node("Relu", ["a"], ["b"], name="relu"),
    helper.make_node("Conv", ["b", "wide"], ["c"], name="wide", pads=[1, 1, 1, 1]),
    helper.make_node("GlobalAveragePool", ["c"], ["y"], name="pool"),
]
graph = helper.make_graph(nodes, "heavy", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 32, 32])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 128, 1, 1])], [weights("narrow", 128, 4, 1, 1), weights("wide", 128, 128, 3, 3)])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), out + "/heavy.onnx")
for i in range(3):
    np.savez(f"{out}/{i}.npz", x=r.standard_normal((1, 4, 32, 32)).astype(np.float32))
`

const profiledPipeline = `
profile "emulator" { default = true }
target "SM8750" {}
variable "graph" { default = "example" }
variable "samples" { type = optional(string) }
variable "profiling" { default = "detailed" }
module "net" {
  source    = "onnx-htp"
  graph     = var.graph
  samples   = var.samples
  profiling = var.profiling
}
output "nodes.json" { value = module.net.nodes["a16w8"] }
output "profile" { value = module.net.profile["a16w8"] }
output "context" { value = module.net.contexts["a16w8"] }
output "schematic" { value = try(module.net.schematic["a16w8"], null) }
output "hot_nodes" {
  value = module.net.hot_nodes
  show  = "table"
}
output "table" {
  value = module.net.table
  show  = "table"
}
`

const profiledWords = `
profile "emulator" { default = true }
target "SM8750" {}
toolchain "htp_host" {}
toolchain "gnu_runtime" {}
toolchain "onnx" {}
step "toy_model" "tiny" {
  seed   = 79
  layers = 2
}
step "onnx_llm" "tiny" { model = step.toy_model.tiny.outputs.dir }
step "onnx_quantize" "tiny" { graphs = step.onnx_llm.tiny.outputs.dir }
step "htp_context" "tiny" { graphs = step.onnx_quantize.tiny.outputs.dir }
step "htp_emulate" "tiny" {
  context   = step.htp_context.tiny.outputs.dir
  prompt    = "What is the capital of France?"
  tokens    = 4
  profiling = "detailed"
}
step "npu_profile" "tiny" {
  title    = "decode"
  profile  = "${step.htp_emulate.tiny.outputs.profile}/decode.csv"
  graphs   = "${step.htp_context.tiny.outputs.dir}/graphs"
  emulator = true
}
output "nodes.json" { value = step.npu_profile.tiny.outputs.nodes }
output "table" {
  value = step.npu_profile.tiny.outputs.table
  show  = "table"
}
`
