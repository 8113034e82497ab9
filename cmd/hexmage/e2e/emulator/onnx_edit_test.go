//go:build linux

package emulator_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// TestExampleONNXEdit runs the example that edits an ONNX graph, and compiles both graphs: only the edited one has no
// node on the CPU.
func TestExampleONNXEdit(t *testing.T) {
	w := EmulatorWarmed(t)
	if err := os.CopyFS(w.Dir, os.DirFS(filepath.Join(Repo(), "examples", "onnx-edit"))); err != nil {
		t.Fatal(err)
	}
	w.Write(t, "pipelines/placed.hcl", placedPipeline)
	Wants(t, w.Run(t, "run", "edit"), ExitOK)
	if r := w.RunJSON(t, "edit"); r.Executed != 0 {
		t.Errorf("the second run executed %q", r.Names)
	}
	for name, want := range map[string]int{"net": 1, "edited": 0} {
		Wants(t, w.Run(t, "run", "placed", "--var=graph=out/edit/"+name+".onnx"), ExitOK)
		if p := placedBy(t, w, "placed"); p.CPUNodes != want {
			t.Errorf("%s.onnx has %d nodes on the CPU, want %d", name, p.CPUNodes, want)
		}
	}
	Wants(t, w.Run(t, "run", "edit", "--var=model=out/edit/edited.onnx"), ExitFailed, "the graph has no Cosh")
}
