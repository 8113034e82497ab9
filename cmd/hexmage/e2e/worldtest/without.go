//go:build linux

package worldtest

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/internal/execute"
)

// without is the first argument that makes the test binary run a command on a machine that lacks a program of the host.
// The next argument is the program.
const without = "-without"

// runWithout runs a command in a new mount namespace, in which another file hides each instance of the program.
func runWithout(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("arguments %q: want a program and a command", args)
	}
	program, args := args[0], args[1:]
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	for {
		p, err := execute.LookPath(program, "")
		if err != nil {
			return syscall.Exec(args[0], args, os.Environ())
		}
		if err := unix.Mount(os.DevNull, p, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("hide %s: %w", p, err)
		}
	}
}

// RunWithout runs hexmage on a host where the program is missing.
func (w *World) RunWithout(t *testing.T, program string, args ...string) *Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), RunLimit)
	defer cancel()
	return Ended(t, Apart(w.Command(ctx, args...), syscall.CLONE_NEWNS, without, program))
}
