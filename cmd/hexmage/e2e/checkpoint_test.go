//go:build linux

package e2e_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// lined is a pipeline whose quantiser reads many lines, so that it is busy for some seconds.
const lined = `profile "host" { default = true }
toolchain "onnx" {}
step "model" "tiny" {
  seed   = 79
  layers = 2
}
step "onnx_llm" "tiny" { model = step.model.tiny.outputs.dir }
step "onnx_quantize" "tiny" {
  graphs      = step.onnx_llm.tiny.outputs.dir
  scheme      = "lpbq"
  calibration = "lines.txt"
  samples     = 200
}
output "dir" { value = step.onnx_quantize.tiny.outputs.dir }
`

// goesOn kills hexmage while onnx_quantize reads its lines, and runs it again: it goes on with the next line, and makes what one that nobody killed makes.
func goesOn(t *testing.T, w *world) {
	killed := newWorld(t)
	if err := cloneCache(w.cache, killed.cache); err != nil {
		t.Fatal(err)
	}
	for _, w := range []*world{w, killed} {
		w.write(t, "pipelines/lined.hcl", lined)
		w.write(t, "lines.txt", strings.Repeat("The lamp is lit, and the sea is calm.\n", 200))
	}
	const reads = ` of 200 texts"`
	if kill(t, killed, "lined", reads, 200*time.Millisecond) == 0 {
		t.Fatal("it ended before it was killed")
	}
	again := killed.runJSON(t, "lined")
	done := 0
	if m := regexp.MustCompile(`read (\d+)` + reads).FindStringSubmatch(again.stdout); m != nil {
		done, _ = strconv.Atoi(m[1])
	}
	if done < 2 || !strings.Contains(again.stdout, "goes on from wh") {
		t.Errorf("again, it first said that it had read %d lines: %s", done, again)
	}
	wants(t, w.run(t, "run", "lined"), exitOK)
	if left, err := os.ReadDir(filepath.Join(killed.cache, "checkpoints")); len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	for _, name := range []string{"prefill.onnx", "decode.onnx", "weights.bin", "cache.json"} {
		at := filepath.Join("out", "lined", "dir", name)
		if one, two := read(t, filepath.Join(w.dir, at)), read(t, filepath.Join(killed.dir, at)); one != two || one == "" {
			t.Errorf("%s: %d and %d bytes, not the same", name, len(one), len(two))
		}
	}
}
