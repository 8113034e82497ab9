//go:build unix && !linux

package local

import (
	"os/exec"
	"syscall"
)

// processAttributes puts a command into a process group of its own. Outside Linux it outlives a hexmage that was
// killed.
func processAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// exitCode is the command's exit code, 128+n when signal n ended it.
func exitCode(e *exec.ExitError) int {
	if ws, ok := e.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return e.ExitCode()
}
