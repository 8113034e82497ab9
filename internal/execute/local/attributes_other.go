//go:build !unix

package local

import (
	"os"
	"os/exec"
	"syscall"
)

// endGroup ends the process: there are no process groups here, and no gentle way.
func endGroup(pid int, _ bool, _ func(int) int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

func exitCode(e *exec.ExitError) int { return e.ExitCode() }

func processAttributes() *syscall.SysProcAttr { return nil }
