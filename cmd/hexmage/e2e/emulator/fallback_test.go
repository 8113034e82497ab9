//go:build linux

package emulator_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/model/placement"
	"github.com/hexmage/hexmage/qnn/facts"
)

// placedBy reads the placement that a pipeline has put under out/.
func placedBy(t *testing.T, w *World, pipeline string) (p placement.Report) {
	t.Helper()
	if err := json.Unmarshal([]byte(Read(t, filepath.Join(w.Dir, "out", pipeline, "placed"))), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestFallback: which nodes stay on the CPU by Qualcomm's compiler, and replacements of the facts.
func TestFallback(t *testing.T) {
	w := EmulatorWarmed(t)
	w.Write(t, "pipelines/placed.hcl", placedPipeline)
	t.Run("example", func(t *testing.T) {
		w.Write(t, "example.py", coshExample)
		w.Write(t, "pipelines/example.hcl", scriptPipeline("example.py"))
		Wants(t, w.Run(t, "run", "example"), ExitOK)
		const graph = "--var=graph=out/example/dir/net.onnx"
		o := w.Run(t, "run", "placed", graph)
		Wants(t, o, ExitOK, "net.onnx, none, for SM8750, Hexagon v79", "bent", "Cosh", "float32 [1×8×64]",
			"partitions on the NPU", "Replace Cosh by ")
		p := placedBy(t, w, "placed")
		const tensor = 8 * 64 * 4
		if p.Partitions != 2 || p.CPUNodes != 1 || p.NPUNodes != 3 || p.Crossings != 2 || p.ToNPU != tensor ||
			p.ToCPU != tensor || p.UnknownSize != 0 {
			t.Errorf("%+v", p)
		}
		if len(p.Nodes) != 1 || p.Nodes[0].Name != "bent" || p.Nodes[0].Op != "Cosh" || p.Nodes[0].Why == "" ||
			p.Nodes[0].Rank != 3 || len(p.Replacements) != 1 || p.Replacements[0].Confidence != "observed" {
			t.Errorf("%+v, %+v", p.Nodes, p.Replacements)
		}
		t.Log(o.Stdout)
		if r := w.RunJSON(t, "placed", graph); r.Executed != 0 {
			t.Errorf("again: %q ran", r.Names)
		}
	})

	t.Run("whole", func(t *testing.T) {
		Wants(t, w.Run(t, "run", "placed", "--var=graph=example", "--var=schemes=[\"a16w8\"]"), ExitOK)
		if p := placedBy(t, w, "placed"); p.Partitions != 1 || p.CPUNodes != 0 || p.NPUNodes != 20 ||
			p.Crossings != 0 || p.ToNPU+p.ToCPU+p.Between != 0 {
			t.Errorf("%+v", p)
		}
	})

	t.Run("remedies", func(t *testing.T) { remedies(t, w) })
	t.Run("types", func(t *testing.T) {
		for _, soc := range []string{"SM8350", "SM8750"} {
			types(t, w, soc)
		}
	})
}

// placedPipeline compiles a graph as it is, with nodes on the CPU, and runs nothing.
const placedPipeline = `
profile "emulator" { default = true }
target "SM8750" {}
variable "graph" { type = string }
variable "schemes" {
  type    = set(string)
  default = ["none"]
}
module "net" {
  source             = "onnx-htp"
  graph              = var.graph
  schemes            = var.schemes
  allow_cpu_fallback = true
  allow_fp16         = true
}
output "table" {
  value = module.net.placement
  show  = "table"
}
output "placed" { value = one(values(module.net.placed)) }
`

// coshExample makes a graph with an operation that the NPU does not have.
const coshExample = `
import sys
from pathlib import Path
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
out = Path(sys.argv[1])
out.mkdir(parents=True)
r = np.random.default_rng(79)
constants = {name: r.standard_normal((64, 64)).astype(np.float32) * 0.05 for name in ("first", "second")}
nodes = [
    helper.make_node("MatMul", ["x", "first"], ["seen"], name="first"),
    helper.make_node("Relu", ["seen"], ["kept"], name="kept"),
    helper.make_node("Cosh", ["kept"], ["bent"], name="bent"),
    helper.make_node("MatMul", ["bent", "second"], ["y"], name="second"),
]
ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 8, 64]) for name in "xy"]
graph = helper.make_graph(nodes, "example", ends[:1], ends[1:], [numpy_helper.from_array(a, name) for name, a in constants.items()])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), out / "net.onnx")
`

// remedies: each operation of which a fact says that it stays on the CPU does, with a reason; what the fact puts in
// its place says the same and is whole on the NPU.
func remedies(t *testing.T, w *World) {
	t.Helper()
	w.Write(t, "remedies.py", Read(t, filepath.Join("testdata", "remedies.py")))
	w.Write(t, "pipelines/remedies.hcl", scriptPipeline("remedies.py"))
	Wants(t, w.Run(t, "run", "remedies"), ExitOK)
	// Taken apart it answers on the emulator, too, with the rest on the CPU.
	Wants(t, w.Run(t, "run", "onnx-htp", "--var=graph=out/remedies/dir/Cosh.onnx",
		"--var=samples=out/remedies/dir/samples", `--var=schemes=["none"]`, "--var=allow_cpu_fallback=true"), ExitOK, "2 of 3",
		"1.0000")
	Wants(t, w.Run(t, "run", "onnx-htp", "--var=graph=out/remedies/dir/Cosh.onnx",
		"--var=samples=out/remedies/dir/samples", `--var=schemes=["none"]`), ExitFailed,
		"Cosh_1 (Cosh): Operators of type `Cosh` are not supported", "allow_cpu_fallback = true")
	Wants(t, w.Run(t, "run", "placed", "--var=graph=out/remedies/dir/none.onnx"), ExitFailed,
		"The NPU takes no node of none.onnx: only (Cosh): Operators of type `Cosh` are not supported",
		"Replace them: docs/fallback.md")
	Wants(t, w.Run(t, "run", "placed", "--var=graph=out/remedies/dir/nameless.onnx"), ExitOK)
	if p := placedBy(t, w, "placed"); p.NPUNodes != 5 || p.CPUNodes != 2 || p.Partitions != 3 ||
		!strings.Contains(p.Nodes[0].Why, p.Nodes[0].Op) || !strings.Contains(p.Nodes[1].Why, p.Nodes[1].Op) ||
		p.Nodes[0].Op == p.Nodes[1].Op {
		t.Errorf("nodes without names: %+v", p)
	}
	s, diags := facts.Builtin()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	tried := map[string]bool{}
	made, err := filepath.Glob(filepath.Join(w.Dir, "out", "remedies", "dir", "*_changed.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range made {
		tried[strings.TrimSuffix(filepath.Base(m), "_changed.onnx")] = true
	}
	for _, r := range s.UnsupportedOps {
		if r.Format != "onnx" {
			continue
		}
		name := r.Op
		if name == "*" {
			name = "rank"
		}
		if !tried[name] {
			t.Errorf("%s is not tried", r.Op)
			continue
		}
		delete(tried, name)
		if !slices.Contains([]string{"Asin", "Celu", "Cosh", "rank"}, name) && os.Getenv("HEXMAGE_CUTS") == "" {
			continue // each compiles twice: all of them take minutes
		}
		t.Run(name, func(t *testing.T) {
			at := "--var=graph=out/remedies/dir/" + name
			Wants(t, w.Run(t, "run", "placed", at+".onnx"), ExitOK, "Replace ")
			if p := placedBy(t, w, "placed"); p.CPUNodes < 1 || p.Partitions != 2 || len(p.Replacements) != 1 ||
				p.Replacements[0].Op != r.Op || p.Nodes[0].Why == "" {
				t.Errorf("as it is: %+v", p)
			}
			Wants(t, w.Run(t, "run", "placed", at+"_changed.onnx"), ExitOK)
			if p := placedBy(t, w, "placed"); p.CPUNodes != 0 || p.Partitions != 1 {
				t.Errorf("with what is put in its place: %+v", p)
			}
		})
	}
	if len(tried) > 0 {
		t.Errorf("no fact about %q", slices.Sorted(maps.Keys(tried)))
	}
}

// scriptPipeline runs a script that makes a folder.
func scriptPipeline(script string) string {
	return `
profile "emulator" { default = true }
toolchain "onnx" {}
step "python" "script" {
  environment = toolchain.onnx.dir
  script      = "` + script + `"
  args        = ["dir"]
  output "dir" { tree = "dir" }
}
output "dir" { value = step.python.script.outputs.dir }
`
}

// types: an operation in a type is taken, or is not, as the facts say of the SoC's arch.
func types(t *testing.T, w *World, soc string) {
	t.Helper()
	s, diags := facts.Builtin()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	of, err := s.FindSoC(soc)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(t, "taken.py", Read(t, filepath.Join("testdata", "taken.py")))
	if err := os.CopyFS(filepath.Join(w.Dir, "programs"),
		os.DirFS(filepath.Join(Repo(), "model", "python", "programs"))); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	w.Write(t, "pipelines/taken.hcl", takenPipeline)
	Wants(t, w.Run(t, "run", "taken", "--soc", soc), ExitOK)
	var got map[string]map[string]string // by operation and types what the compiler says where it does not take it
	if err := json.Unmarshal([]byte(Read(t, filepath.Join(w.Dir, "out", "taken", "taken"))), &got); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for op, types := range got {
		var taken []string
		for name, why := range types {
			// The compiler takes floats for v68, and no SoC with v68 runs them.
			if tried++; why == "" && (of.Arch != "v68" || name != "f16" && name != "f32") {
				taken = append(taken, name)
			}
		}
		slices.Sort(taken)
		p := s.FindPrecision(op)
		if p == nil || !slices.Equal(slices.Sorted(slices.Values(p.Takes[of.Arch])), taken) {
			t.Errorf("%s takes %s as %q, the facts say %+v", of.Arch, op, taken, p)
		}
	}
	for _, p := range s.Precisions {
		for _, op := range p.Ops {
			if got[op] == nil {
				t.Errorf("%s: %s was not tried", of.Arch, op)
			}
		}
	}
	if t.Logf("%s: %d tried", of.Arch, tried); tried < 50 {
		t.Errorf("%d were tried", tried)
	}
}

const takenPipeline = `
profile "emulator" { default = true }
target "SM8750" {}
toolchain "onnx" {}
toolchain "htp_host" {}
toolchain "gnu_runtime" {}
step "python" "taken" {
  environment = toolchain.onnx.dir
  script      = "taken.py"
  args        = ["programs", "${toolchain.htp_host.dir}/onnxruntime_qnn", "${target.soc_model}", "${target.vtcm_mb}", "taken.json"]
  inputs      = ["programs", toolchain.gnu_runtime.dir]
  env         = { LD_LIBRARY_PATH = "${toolchain.gnu_runtime.dir}/usr/lib/x86_64-linux-gnu:${toolchain.gnu_runtime.dir}/lib/x86_64-linux-gnu" }
  output "taken" { file = "taken.json" }
}
output "taken" { value = step.python.taken.outputs.taken }
`
