//go:build linux

package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/runner/ssh/sshtest"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// loopback is board-ort for a board that has an emulator of arm64 in the place of its processor, and none in that of its NPU.
const loopback = `pipeline { description = "a bundle on this machine's loopback" }
profile "host" { default = true }
target "SM8750" {}
variable "board" { type = string }
variable "prompt" { type = optional(string) }
step "model" "tiny" {
  seed   = 79
  layers = 2
}
module "llm" {
  source    = "ort-board"
  board     = var.board
  model     = step.model.tiny.outputs.dir
  prompt    = var.prompt
  tokens    = 4
  processor = true
  python    = "arm64-python"
}
check "board" {
  condition     = module.llm.rows.board.cosine > 0.99 && module.llm.rows.board.equal == module.llm.rows.board.tokens && module.llm.measured.decode_tokens_per_s.median > 0
  error_message = "The board says something else than the emulator, or not how fast."
}
output "bundle" { value = module.llm.bundle }
output "metrics" { value = module.llm.metrics }
output "table" { value = module.llm.table }
`

// TestBoardORT lets a bundle answer on a board: a real sshd, with arm64's Python and ONNX Runtime under qemu, whose own kernels do what the NPU would. The link is cut in
// the middle of the push; what is pushed again afterwards sends nothing.
func TestBoardORT(t *testing.T) {
	w := hostWarmed(t)
	w.write(t, "pipelines/loopback.hcl", loopback)
	programs := t.TempDir()
	python := "#!/bin/sh\nexec " + toolchaintest.Path(t, "qemu@11.1", "usr/bin/qemu-aarch64-static") + " -L " + toolchaintest.Root(t, "linux_arm64@13") + ` "$HEXMAGE_ROOT/python/usr/bin/python3.13" "$@"` + "\n"
	if err := os.WriteFile(filepath.Join(programs, "arm64-python"), []byte(python), 0o755); err != nil {
		t.Fatal(err)
	}
	s := sshtest.Start(t, sshtest.Options{Path: []string{programs}})
	c := s.Cable(t)
	key := read(t, s.Key)
	for name, text := range map[string]string{"known_hosts": sshtest.Known(s.HostKey(), c.At()), "id_ed25519": key} {
		at := filepath.Join(w.home, ".ssh", name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	board := "--var=board=" + c.Address()
	wants(t, w.run(t, "plan", "-v", "loopback", board), exitOK, "bundle/run.sh")
	c.CutAfter(20<<20, false)
	o := w.run(t, "run", "loopback", board)
	wants(t, o, exitOK, "in the NPU's place", "4 of 4", "aarch64")
	if c.Cuts() != 1 {
		t.Errorf("the link was cut %d times", c.Cuts())
	}
	t.Logf("the first run: %s", o)
	var metrics map[string]any
	if err := json.Unmarshal([]byte(read(t, filepath.Join(w.dir, "out", "loopback", "metrics"))), &metrics); err != nil {
		t.Error(err)
	}
	if r := w.runJSON(t, "loopback", board); r.executed != 0 {
		t.Errorf("again: %q ran", r.names)
	}
	if r := w.runJSON(t, "loopback", board, "--var=prompt=Name three fruits."); len(r.names) == 0 || strings.Contains(strings.Join(r.names, " "), "htp_context") {
		t.Errorf("with another prompt: %q ran", r.names)
	}
	o = w.run(t, "device", "push", "-s", c.Address(), filepath.Join("out", "loopback", "bundle"), s.Home+"/")
	if o.code != 0 || !regexp.MustCompile(`files, [0-9.]+ [kM]B: 0 B sent in `).MatchString(o.stdout) {
		t.Errorf("the bundle, again: %s", o)
	}
	if strings.Contains(o.stdout+o.stderr, strings.Split(key, "\n")[1]) {
		t.Error("the key is in what was printed")
	}
}
