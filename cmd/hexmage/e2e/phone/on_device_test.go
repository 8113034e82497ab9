//go:build linux

package phone_test

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// onDevice is a pipeline that lets a bundle answer on a board or phone, by the module ort-board or ort-phone, which
// gets more arguments: for a device that is not the shipped pipeline's own.
func onDevice(device, more string) string {
	return strings.NewReplacer("DEVICE", device, "MORE",
		more).Replace(`pipeline { description = "a bundle on a device of the test's" }
profile "emulator" { default = true }
target "SM8750" {}
variable "DEVICE" { type = optional(string) }
variable "prompt" { type = optional(string) }
variable "processor" { type = optional(bool) }
step "model" "tiny" {
  seed   = 79
  layers = 2
}
module "llm" {
  source = "ort-DEVICE"
  DEVICE = var.DEVICE
  model  = step.model.tiny.outputs.dir
  prompt = var.prompt
  tokens = 4MORE
}
check "DEVICE" {
  condition     = module.llm.rows.DEVICE.cosine > 0.99 && module.llm.rows.DEVICE.equal == module.llm.rows.DEVICE.tokens && module.llm.measured.decode_tokens_per_s.median > 0
  error_message = "It says something else than the emulator, or not how fast."
}
output "bundle" { value = module.llm.bundle }
output "metrics" { value = module.llm.metrics }
output "table" { value = module.llm.table }
`)
}

// sentNothing is what `device push` says of what is there already.
var sentNothing = regexp.MustCompile(`files, [0-9.]+ [kM]B: 0 B sent in `)

// answers runs such a pipeline, and returns the first run. Once more nothing runs, and with another prompt nothing is
// compiled.
func answers(t *testing.T, w *World, pipeline string, args ...string) *Outcome {
	t.Helper()
	first := w.Run(t, append([]string{"run", pipeline}, args...)...)
	Wants(t, first, ExitOK, "on ONNX Runtime's own kernels in the NPU's place", "4 of 4", "aarch64")
	t.Logf("the first run: %s", first)
	var metrics map[string]any
	if err := json.Unmarshal([]byte(Read(t, filepath.Join(w.Dir, "out", pipeline, "metrics"))), &metrics); err != nil {
		t.Error(err)
	}
	args = append([]string{pipeline}, args...)
	if r := w.RunJSON(t, args...); r.Executed != 0 {
		t.Errorf("again: %q ran", r.Names)
	}
	r := w.RunJSON(t, append(args, "--var=prompt=Name three fruits.")...)
	if len(r.Names) == 0 || slices.ContainsFunc(r.Names, func(name string) bool {
		return strings.Contains(name, "htp_context") || strings.Contains(name, "exec.program")
	}) {
		t.Errorf("with another prompt: %q ran", r.Names)
	}
	return first
}
