//go:build unix

package local

import (
	"os/exec"
	"syscall"
)

// endGroup tells all processes of the group to end, or ends them at once. That none is left is not an error.
func endGroup(pgid int, atOnce bool) {
	sig := syscall.SIGTERM
	if atOnce {
		sig = syscall.SIGKILL
	}
	_ = syscall.Kill(-pgid, sig)
}

// exitCode is the command's exit code, 128+n when signal n ended it.
func exitCode(e *exec.ExitError) int {
	if ws, ok := e.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return e.ExitCode()
}
