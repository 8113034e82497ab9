//go:build unix

package cli

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// inForeground runs a program that has the terminal for itself, if its standard input is one: Ctrl-C is for the
// program then, and not for this process.
func inForeground(cmd *exec.Cmd) error {
	tty, ok := cmd.Stdin.(*os.File)
	if !ok || !term.IsTerminal(int(tty.Fd())) {
		return cmd.Run()
	}
	fd := int(tty.Fd())
	cmd.SysProcAttr = &syscall.SysProcAttr{Foreground: true, Ctty: fd}
	err := cmd.Run()
	signal.Ignore(syscall.SIGTTOU) // who is in the background and takes the terminal is stopped by it
	defer signal.Reset(syscall.SIGTTOU)
	_ = unix.IoctlSetPointerInt(fd, unix.TIOCSPGRP, unix.Getpgrp())
	return err
}
