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

// placedBy reads what a pipeline has put under out/.
func placedBy(t *testing.T, w *World, pipeline string) (p placement.Placed) {
	t.Helper()
	if err := json.Unmarshal([]byte(Read(t, filepath.Join(w.Dir, "out", pipeline, "nodes.json"))), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestFallback: what of a graph stays on the CPU, by the vendor's own compiler, and what the facts put in its place.
func TestFallback(t *testing.T) {
	w := EmulatorWarmed(t)
	t.Run("example", func(t *testing.T) {
		o := w.Run(t, "run", "fallback")
		Wants(t, o, ExitOK, "the example for SM8750, Hexagon v79", "bent", "Cosh", "float32 [1×8×64]",
			"partitions on the NPU", "In place of Cosh: ")
		p := placedBy(t, w, "fallback")
		const tensor = 8 * 64 * 4
		if p.Partitions != 2 || p.CPUNodes != 1 || p.NPUNodes != 3 || p.Crossings != 2 || p.ToNPU != tensor ||
			p.ToCPU != tensor || p.In != tensor || p.Out != tensor || p.Open != 0 {
			t.Errorf("%+v", p)
		}
		if len(p.Nodes) != 1 || p.Nodes[0].Name != "bent" || p.Nodes[0].Op != "Cosh" || p.Nodes[0].Why == "" ||
			p.Nodes[0].Rank != 3 || len(p.Instead) != 1 || p.Instead[0].Sure != "observed" {
			t.Errorf("%+v, %+v", p.Nodes, p.Instead)
		}
		t.Log(o.Stdout)
		if r := w.RunJSON(t, "fallback"); r.Executed != 0 {
			t.Errorf("again: %q ran", r.Names)
		}
		Wants(t, w.Run(t, "run", "fallback", "--var=partitions=1"), ExitCheck,
			"The NPU runs 2 partitions, 1 at most are wanted")
		Wants(t, w.Run(t, "run", "fallback", "--var=partitions=2"), ExitOK)
	})

	t.Run("whole", func(t *testing.T) {
		Wants(t, w.Run(t, "run", "onnx-htp"), ExitOK)
		w.Write(t, "pipelines/whole.hcl", wholePipeline)
		Wants(t, w.Run(t, "run", "whole"), ExitOK)
		if p := placedBy(t, w, "whole"); p.Partitions != 1 || p.CPUNodes != 0 || p.NPUNodes != 20 ||
			p.Crossings != 0 || p.ToNPU+p.ToCPU+p.Between != 0 || p.In == 0 {
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

const wholePipeline = `
profile "emulator" { default = true }
target "SM8750" {}
module "net" { source = "onnx-htp" }
step "fallback" "net" { compiled = module.net.context }
output "nodes.json" { value = step.fallback.net.outputs.nodes }
`

// remedies: each operation of which a fact says that it stays on the CPU does, with a reason; what the fact puts in
// its place says the same and is whole on the NPU.
func remedies(t *testing.T, w *World) {
	t.Helper()
	w.Write(t, "remedies.py", Read(t, filepath.Join("testdata", "remedies.py")))
	w.Write(t, "pipelines/remedies.hcl", scriptPipeline("remedies.py"))
	Wants(t, w.Run(t, "run", "remedies"), ExitOK)
	// Taken apart it answers on the emulator, too, with the rest on the CPU.
	Wants(t, w.Run(t, "run", "onnx-htp", "--var=model=out/remedies/dir/Cosh.onnx",
		"--var=samples=out/remedies/dir/samples", "--var=quantise=false", "--var=fallback=true"), ExitOK, "2 of 3",
		"1.0000")
	Wants(t, w.Run(t, "run", "onnx-htp", "--var=model=out/remedies/dir/Cosh.onnx",
		"--var=samples=out/remedies/dir/samples", "--var=quantise=false"), ExitFailed,
		"Cosh_1 (Cosh): Operators of type `Cosh` are not supported", "fallback = true")
	Wants(t, w.Run(t, "run", "fallback", "--var=model=out/remedies/dir/none.onnx"), ExitFailed,
		"The NPU takes no node of none.onnx: only (Cosh): Operators of type `Cosh` are not supported",
		"Put others in their place")
	Wants(t, w.Run(t, "run", "fallback", "--var=model=out/remedies/dir/nameless.onnx"), ExitOK)
	if p := placedBy(t, w, "fallback"); p.NPUNodes != 5 || p.CPUNodes != 2 || p.Partitions != 3 ||
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
	for _, r := range s.Refused {
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
			at := "--var=model=out/remedies/dir/" + name
			Wants(t, w.Run(t, "run", "fallback", at+".onnx"), ExitOK, "In place of ")
			if p := placedBy(t, w, "fallback"); p.CPUNodes < 1 || p.Partitions != 2 || len(p.Instead) != 1 ||
				p.Instead[0].Op != r.Op || p.Nodes[0].Why == "" {
				t.Errorf("as it is: %+v", p)
			}
			Wants(t, w.Run(t, "run", "fallback", at+"_changed.onnx", "--var=partitions=1"), ExitOK)
			if p := placedBy(t, w, "fallback"); p.CPUNodes != 0 || p.Partitions != 1 {
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
			if tried++; why == "" {
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
