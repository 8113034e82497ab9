package atomicfile_test

import (
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/internal/atomicfile"
)

// A process that has ended is not alive, though nobody has waited for it.
func TestAlive(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if !atomicfile.Alive(os.Getpid()) || !atomicfile.Alive(cmd.Process.Pid) {
		t.Error("a process that runs is not alive")
	}
	in.Close()
	var ended unix.Siginfo
	if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, &ended, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if atomicfile.Alive(cmd.Process.Pid) {
		t.Error("one that has ended, and not been waited for, is alive")
	}
	_ = cmd.Wait()
	if atomicfile.Alive(cmd.Process.Pid) {
		t.Error("one that is gone is alive")
	}
}
