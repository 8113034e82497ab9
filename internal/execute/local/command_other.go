//go:build !linux

package local

import (
	"errors"
	"os/exec"
)

// writer is an io.Writer to a function.
type writer func([]byte)

func (w writer) Write(b []byte) (int, error) {
	w(b)
	return len(b), nil
}

// start runs the command to its end.
func start(c *command, started func(pid int) (forget func())) (int, error) {
	if c.fixed {
		c.random = errors.ErrUnsupported
	}
	cmd := exec.Command(c.path)
	cmd.Args, cmd.Env, cmd.Dir, cmd.Stdin = c.args, c.env, c.dir, c.stdin
	cmd.Stdout, cmd.Stderr = writer(c.stdout), writer(c.stderr)
	cmd.SysProcAttr = processAttributes()
	cmd.WaitDelay = grace // a background child that holds the pipes must not keep us waiting
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	forget := started(cmd.Process.Pid)
	err := cmd.Wait()
	endGroup(cmd.Process.Pid, true, plain)
	forget()
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return cmd.ProcessState.ExitCode(), nil
	case errors.As(err, &exit):
		return exitCode(exit), nil
	}
	return 0, err
}
