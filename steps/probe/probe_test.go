package probe_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/tool/tooltest"
	"github.com/hexmage/hexmage/steps/probe"
)

// TestMatrix: a compiler that fails is a cell, with the first error from the package's folder on and the rule that mends it; one that cannot be started is a failure.
func TestMatrix(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	try := func(name, script string) {
		t.Helper()
		s := probe.CompileSpec{Args: []string{"/bin/sh", "-c", script}, Out: at(name)}
		if _, stderr, code := tooltest.Run(t, probe.Compile, probe.RunCompile, s); code != 0 {
			t.Fatalf("%s: exit code %d, %s", name, code, stderr)
		}
	}
	try("good", "echo warning >&2")
	try("old", `echo "x.h:1:1: note: here"; echo "steps/git/x.dir/P/src/ops/Old.cpp:2:44: error: no member named 'get_interface_scale' in 'Tensor'" >&2; exit 1`)
	try("odd", `echo "there is no room"; exit 3`)
	for sdk, results := range map[string][]string{"new": {at("good"), at("old"), at("odd")}, "none": {at("good")}} {
		if _, stderr, code := tooltest.Run(t, probe.Gather, probe.RunGather, probe.GatherSpec{Results: map[string][]string{"htp_v79": results}, Out: at(sdk)}); code != 0 {
			t.Fatal(stderr)
		}
	}
	s := probe.MatrixSpec{Title: "T", SDKs: []probe.Of{{SDK: "2.31", Cells: at("none")}, {SDK: "2.41", Cells: at("new")}}, Out: at("table")}
	if _, stderr, code := tooltest.Run(t, probe.Matrix, probe.RunMatrix, s); code != 0 {
		t.Fatal(stderr)
	}
	raw, err := os.ReadFile(at("table"))
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Lines [][]string
		Note  string
	}
	if err := json.Unmarshal(raw, &table); err != nil {
		t.Fatal(err)
	}
	if len(table.Lines) != 2 || table.Lines[0][1] != "1 of 1" || table.Lines[1][1] != "1 of 3: no" {
		t.Errorf("%q", table.Lines)
	}
	if !strings.HasPrefix(table.Note, "2.41, htp_v79: src/ops/Old.cpp:2:44: no member named 'get_interface_scale' in 'Tensor' (rename interface_scale of patches/mllm/") || strings.Contains(table.Note, "\n") {
		t.Errorf("%q", table.Note)
	}

	_, stderr, code := tooltest.Run(t, probe.Compile, probe.RunCompile, probe.CompileSpec{Args: []string{at("no such compiler")}, Out: at("o")})
	if code == 0 || !strings.Contains(stderr, "no such compiler") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	if _, stderr, code := tooltest.Run(t, probe.Gather, probe.RunGather, probe.GatherSpec{Results: map[string][]string{"htp_v79": {at("none such")}}, Out: at("o")}); code == 0 {
		t.Errorf("a result that is not there: %s", stderr)
	}
}
