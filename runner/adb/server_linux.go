package adb

import (
	"os/exec"
	"syscall"
)

// dieWithParent makes the kernel kill the child when we die, however that happens; and keeps a terminal's Ctrl-C from it.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
