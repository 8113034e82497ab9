package adb

import (
	"os/exec"
	"syscall"
)

// dieWithParent makes the kernel kill the child when this process ends, even by kill -9. Setpgid keeps a terminal's
// Ctrl-C from the child.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
