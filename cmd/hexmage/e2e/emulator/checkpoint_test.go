//go:build linux

package emulator_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// lined is a pipeline whose quantizer reads many lines, so that it is busy for some seconds.
const lined = `profile "emulator" { default = true }
toolchain "onnx" {}
step "toy_model" "tiny" {
  seed   = 79
  layers = 2
}
step "onnx_llm" "tiny" { model = step.toy_model.tiny.outputs.dir }
step "onnx_quantize" "tiny" {
  graphs      = step.onnx_llm.tiny.outputs.dir
  method      = "lpbq"
  calibration = "lines.txt"
  samples     = 200
}
output "dir" { value = step.onnx_quantize.tiny.outputs.dir }
`

// goesOn kills hexmage while onnx_quantize reads its lines, and runs it again: it goes on with the next line, and
// makes what one that nobody killed makes.
func goesOn(t *testing.T, w *World) {
	killed := NewWorld(t)
	if err := CloneCache(w.Cache, killed.Cache); err != nil {
		t.Fatal(err)
	}
	for _, w := range []*World{w, killed} {
		w.Write(t, "pipelines/lined.hcl", lined)
		w.Write(t, "lines.txt", strings.Repeat("The lamp is lit, and the sea is calm.\n", 200))
	}
	const reads = ` of 200 texts"`
	if Kill(t, killed, "lined", reads, 200*time.Millisecond) == 0 {
		t.Fatal("it ended before it was killed")
	}
	again := killed.RunJSON(t, "lined")
	done := 0
	if m := regexp.MustCompile(`read (\d+)` + reads).FindStringSubmatch(again.Stdout); m != nil {
		done, _ = strconv.Atoi(m[1])
	}
	if done < 2 || !strings.Contains(again.Stdout, "resumes from the ch") {
		t.Errorf("again, it first said that it had read %d lines: %s", done, again)
	}
	Wants(t, w.Run(t, "run", "lined"), ExitOK)
	if left, err := os.ReadDir(filepath.Join(killed.Cache, "checkpoints")); len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	for _, name := range []string{"prefill.onnx", "decode.onnx", "weights.bin", "cache.json"} {
		at := filepath.Join("out", "lined", "dir", name)
		if one, two := Read(t, filepath.Join(w.Dir, at)), Read(t, filepath.Join(killed.Dir, at)); one != two ||
			one == "" {
			t.Errorf("%s: %d and %d bytes, not the same", name, len(one), len(two))
		}
	}
}
