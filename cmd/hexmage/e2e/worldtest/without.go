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

// without is the first argument with which the test binary runs a command on a machine that lacks a program of the
// host, which is the argument after it.
const without = "-without"

// runWithout is that: in a mount namespace of its own, in which something else stands wherever the program is.
func runWithout(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("%q: want a program, and a command", args)
	}
	program, args := args[0], args[1:]
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts to oneself: %w", err)
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

// RunWithout runs hexmage where the host has no such program.
func (w *World) RunWithout(t *testing.T, program string, args ...string) *Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), RunLimit)
	defer cancel()
	return Ended(t, Apart(w.Command(ctx, args...), syscall.CLONE_NEWNS, without, program))
}
