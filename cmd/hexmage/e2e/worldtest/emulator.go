//go:build linux

package worldtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ONNXHTP is the pipeline for graphs and language models. Its default model has two layers and pseudorandom weights.
const ONNXHTP = "onnx-htp"

// Cuts is the text of a pipeline that runs all stages of profile emulator on a graph with three nodes.
const Cuts = `
profile "emulator" { default = true }
target "SM8750" {}
variable "optimization" {
  type    = number
  default = 1
}
toolchain "htp_host" {}
toolchain "gnu_runtime" {}
toolchain "onnx" {}
step "python" "graphs" {
  environment = toolchain.onnx.dir
  script      = "graphs.py"
  args        = ["dir"]
  output "dir" { tree = "dir" }
}
step "htp_context" "one" {
  graphs       = "${step.python.graphs.outputs.dir}/one.onnx"
  optimization_level = var.optimization
}
step "htp_emulate" "one" {
  context = step.htp_context.one.outputs.dir
  inputs  = "${step.python.graphs.outputs.dir}/samples"
}
output "context" { value = step.htp_context.one.outputs.dir }
output "said" { value = step.htp_emulate.one.outputs.dir }
`

const cutGraphs = `
import os, sys
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

out = sys.argv[1]
os.makedirs(out + "/samples")
value = lambda n: helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 512])
r = np.random.default_rng(79)
w = numpy_helper.from_array(r.standard_normal((512, 512)).astype(np.float32) * 0.04, "w")
nodes = [helper.make_node("MatMul", ["x", "w"], ["a"], name="a"), helper.make_node("Relu", ["a"], ["b"], name="b"), helper.make_node("Add", ["b", "x"], ["y"], name="c")]
for name in ("one", "both/left", "both/right"):
    os.makedirs(os.path.dirname(f"{out}/{name}"), exist_ok=True)
    graph = helper.make_graph(nodes, os.path.basename(name), [value("x")], [value("y")], [w])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), f"{out}/{name}.onnx")
np.savez(out + "/samples/0.npz", x=r.standard_normal((1, 512)).astype(np.float32))
`

// EnvSmolLM2 names the environment variable that enables the SmolLM2 tests. These tests take at least 15 minutes.
const EnvSmolLM2 = "HEXMAGE_SMOLLM2"

// CutWorld creates a workspace with the pipeline Cuts.
func CutWorld(t *testing.T) *World {
	t.Helper()
	return cutsIn(t, NewWorld(t))
}

func cutsIn(t *testing.T, w *World) *World {
	t.Helper()
	w.Write(t, "pipelines/cuts.hcl", Cuts)
	w.Write(t, "graphs.py", cutGraphs)
	return w
}

// EmulatorRun returns a world in which the pipeline Cuts has run. All tests share this world. Its cache contains all
// downloads of profile emulator.
func EmulatorRun(t *testing.T) *World {
	t.Helper()
	s := shared()
	s.hostOnce.Do(func() {
		w := cutsIn(t, LastingWorld(t))
		if o := w.Run(t, "run", "cuts"); o.Code != ExitOK {
			t.Fatalf("what all of profile emulator stands on: %s", o)
		}
		s.host = w
	})
	if s.host == nil {
		t.Fatal("what all of profile emulator stands on failed before")
	}
	return s.host
}

// WithEmulatorDownloads links the downloads of EmulatorRun into the world's cache.
func (w *World) WithEmulatorDownloads(t *testing.T) *World {
	t.Helper()
	return w.WithDownloadsOf(t, EmulatorRun(t).Cache)
}

// WithDownloadsOf links all downloads from another cache into the world's cache.
func (w *World) WithDownloadsOf(t *testing.T, cache string) *World {
	t.Helper()
	downloads := filepath.Join(cache, "downloads")
	if !Exists(downloads) {
		return w
	}
	if err := Link(downloads,
		filepath.Join(w.Cache, "downloads"),
		func(p string) bool { return !strings.HasSuffix(p, ".lock") }); err != nil {
		t.Fatal(err)
	}
	return w
}

// EmulatorWarmed returns a world whose cache contains the results of EmulatorRun, but no downloads.
func EmulatorWarmed(t *testing.T) *World {
	t.Helper()
	w := CutWorld(t)
	if err := CloneCache(EmulatorRun(t).Cache, w.Cache); err != nil {
		t.Fatal(err)
	}
	return w
}

func Exists(p string) bool {
	_, err := os.Lstat(p)
	return err == nil
}
