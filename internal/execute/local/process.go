package local

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"runtime"
	"time"
)

// grace is how long a cancelled command may take to end after SIGTERM, before its whole process group is killed.
const grace = 2 * time.Second

// run starts the command in a process group of its own, waits for it and for nothing it left behind: when it ends, is
// cancelled or times out, the whole group ends. When hexmage itself is killed the command is, too, where the system can do
// that. It returns the exit code, 128+n for signal n.
func (x *Executor) run(ctx context.Context, cmd *exec.Cmd, stdout, stderr io.Writer) (int, error) {
	cmd.SysProcAttr = processAttributes()
	// The kernel takes the end of the thread that started a child for the end of its parent: the thread stays until then.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = grace // a background child that holds the pipes must not keep us waiting
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	pgid := cmd.Process.Pid
	x.track(pgid, true)
	defer x.track(pgid, false)
	done := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-done:
		case <-ctx.Done():
			endGroup(pgid, false)
			select {
			case <-done:
			case <-time.After(grace):
			}
		}
		endGroup(pgid, true)
	}()
	err := cmd.Wait()
	close(done)
	<-watched
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return cmd.ProcessState.ExitCode(), nil
	case errors.As(err, &exit):
		return exitCode(exit), nil
	}
	return 0, err
}

func (x *Executor) track(pgid int, runs bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if runs {
		x.groups[pgid] = true
	} else {
		delete(x.groups, pgid)
	}
}

// Kill ends all commands and what they started, at once. It is for a process that is about to exit.
func (x *Executor) Kill() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for pgid := range x.groups {
		endGroup(pgid, true)
	}
}
