//go:build linux

package phone_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/runner/ssh/sshtest"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// TestBoardORT lets a bundle answer on a board: a real sshd, with arm64's Python and ONNX Runtime under qemu, whose
// own kernels do what the NPU would. The link is cut in the middle of the push; what is pushed again afterwards sends
// nothing.
func TestBoardORT(t *testing.T) {
	w := EmulatorWarmed(t)
	w.Write(t, "pipelines/loopback.hcl", onDevice("board", `
  processor = true
  python    = "arm64-python"`))
	programs := t.TempDir()
	python := "#!/bin/sh\nexec " + toolchaintest.Path(t, "qemu@11.1", "usr/bin/qemu-aarch64-static") + " -L " +
		toolchaintest.Root(t, "linux_arm64@13") + ` "$HEXMAGE_ROOT/python/usr/bin/python3.13" "$@"` + "\n"
	if err := os.WriteFile(filepath.Join(programs, "arm64-python"), []byte(python), 0o755); err != nil {
		t.Fatal(err)
	}
	s := sshtest.Start(t, sshtest.Options{Path: []string{programs}})
	c := s.Cable(t)
	w.Env = append(w.Env, "PATH="+s.Program(t)+":"+Path())
	board := "--var=board=" + c.Address()
	Wants(t, w.Run(t, "plan", "-v", "loopback", board), ExitOK, "bundle/run.sh")
	c.CutAfter(20<<20, false)
	answers(t, w, "loopback", board)
	if c.Cuts() != 1 {
		t.Errorf("the link was cut %d times", c.Cuts())
	}
	again := w.Run(t, "device", "push", "-s", c.Address(), filepath.Join("out", "loopback", "bundle"), s.Home+"/")
	if again.Code != ExitOK || !sentNothing.MatchString(again.Stdout) {
		t.Errorf("the bundle, again: %s", again)
	}
}
