package local

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pipes carry the output of a command.
type pipes struct {
	read, write [2]int // 0: standard output, 1: standard error
	buf         []byte
}

const pipeBuffer = 64 << 10 // what a pipe holds

func openPipes() (*pipes, error) {
	p := &pipes{buf: make([]byte, pipeBuffer)}
	for i := range p.read {
		var fds [2]int
		if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
			p.close()
			return nil, fmt.Errorf("make a pipe: %w", err)
		}
		p.read[i], p.write[i] = fds[0], fds[1]
		// Only our end: programs are not made for standard output that does not wait.
		if err := unix.SetNonblock(fds[0], true); err != nil {
			p.close()
			return nil, fmt.Errorf("make a pipe: %w", err)
		}
	}
	return p, nil
}

func (p *pipes) close() {
	for i := range p.read {
		if p.write[i] > 0 {
			unix.Close(p.read[i])
			unix.Close(p.write[i])
		}
	}
}

// drain reads what is in pipe i.
func (p *pipes) drain(i int, to func([]byte)) error {
	for {
		n, err := unix.Read(p.read[i], p.buf)
		switch {
		case n > 0:
			to(p.buf[:n])
			if n < len(p.buf) {
				return nil
			}
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN), err == nil:
			return nil
		default:
			return fmt.Errorf("read a command's output: %w", err)
		}
	}
}

// start runs the command to its end on the thread that it is called on. It costs no goroutine: the thread sleeps in
// poll until there is output or the process ended. started is told the process id, which is also that of the process
// group, and returns what to call before another process may get it.
func start(c *command, started func(pid int) (forget func())) (int, error) {
	p, err := openPipes()
	if err != nil {
		return 0, err
	}
	defer p.close()
	// The kernel takes the end of the thread that started a child for the end of its parent: the thread stays until
	// then.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if c.fixed {
		var undo func()
		undo, c.random = fixAddresses()
		defer undo()
	}
	pid, pidfd, err := fork(c, p)
	if err != nil {
		return 0, &os.PathError{Op: "fork/exec", Path: c.path, Err: err}
	}
	forget := started(pid)
	perr := p.wait(c, pid, pidfd)
	if pidfd >= 0 {
		unix.Close(pidfd)
	}
	// While the first process is not waited for, its group's number stays its own.
	if perr != nil {
		endGroup(pid, true, c.as) // it may still run, in another group by now
	} else {
		_ = unix.Kill(c.as(-pid), unix.SIGKILL)
	}
	var left bool
	if c.left != nil {
		var lerr error
		left, lerr = c.left(pid)
		perr = errors.Join(perr, lerr)
	}
	forget()
	var status unix.WaitStatus
	var used unix.Rusage
	for {
		_, err := unix.Wait4(pid, &status, 0, &used)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EINTR) {
			return 0, fmt.Errorf("wait for %s: %w", c.path, err)
		}
	}
	c.memory = peak(&used)
	left = reapGroup(pid, c.as) || left
	// What the first process wrote was there when its end was seen, where that was seen together with the pipes.
	if perr == nil && (left || pidfd < 0) {
		perr = p.rest(c)
	}
	if perr != nil {
		return 0, perr
	}
	if status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return status.ExitStatus(), nil
}

// peak is the peak memory of the largest process that ended, the child or one that it has waited for, in bytes, or 0.
// Between fork and exec a child shares hexmage's memory, and the kernel counts that as the child's. So a peak that is
// not above hexmage's own says nothing.
func peak(ended *unix.Rusage) int64 {
	var own unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &own); err != nil || ended.Maxrss <= own.Maxrss {
		return 0
	}
	return int64(ended.Maxrss) << 10
}

// fixAddresses has what the calling thread starts keep its memory at the same addresses in each run, until undo is
// called. Containers often refuse that.
func fixAddresses() (undo func(), err error) {
	const query, noRandomAddresses = 0xffffffff, 0x0040000 // personality(2)
	was, _, errno := unix.RawSyscall(unix.SYS_PERSONALITY, query, 0, 0)
	if errno == 0 {
		_, _, errno = unix.RawSyscall(unix.SYS_PERSONALITY, was|noRandomAddresses, 0, 0)
	}
	if errno != 0 {
		return func() {}, os.NewSyscallError("personality", errno)
	}
	return func() { _, _, _ = unix.RawSyscall(unix.SYS_PERSONALITY, was, 0, 0) }, nil
}

// fork starts the command. A program that another process has open for writing, such as a compiler that is being
// installed, is tried again for a moment.
func fork(c *command, p *pipes) (pid, pidfd int, err error) {
	pidfd = -1
	attr := &syscall.ProcAttr{
		Dir: c.dir, Env: c.env,
		Files: []uintptr{c.stdin.Fd(), uintptr(p.write[0]), uintptr(p.write[1])},
		Sys:   &syscall.SysProcAttr{Setpgid: true, Pgid: c.as(0), Pdeathsig: syscall.SIGKILL, PidFD: &pidfd},
	}
	for pause := time.Millisecond; ; pause *= 2 {
		pid, err = syscall.ForkExec(c.path, c.args, attr)
		if !errors.Is(err, syscall.ETXTBSY) || pause > 500*time.Millisecond {
			return pid, pidfd, err
		}
		time.Sleep(pause)
	}
}

// wait passes output on until the process has ended. Kernels before 5.4 cannot tell of a process's end by a file:
// there it looks from time to time.
func (p *pipes) wait(c *command, pid, pidfd int) error {
	fds := [3]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}, {Fd: int32(p.read[0]), Events: unix.POLLIN},
		{Fd: int32(p.read[1]), Events: unix.POLLIN}}
	var look *unix.Timespec
	for {
		if pidfd < 0 {
			look = &unix.Timespec{Nsec: int64(5 * time.Millisecond)}
		}
		if _, err := unix.Ppoll(fds[:], look, nil); err != nil {
			if errors.Is(err, unix.EINTR) {
				continue
			}
			return fmt.Errorf("wait for a command: %w", err)
		}
		for i, to := range []func([]byte){c.stdout, c.stderr} {
			if fds[1+i].Revents != 0 {
				if err := p.drain(i, to); err != nil {
					return err
				}
			}
		}
		if fds[0].Revents != 0 || pidfd < 0 && ended(pid) {
			return nil
		}
	}
}

// ended tells whether the child has, and leaves it to be waited for.
func ended(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && info.Signo != 0
}

// rest passes on what others of the group wrote meanwhile.
func (p *pipes) rest(c *command) error {
	fds := [2]unix.PollFd{{Fd: int32(p.read[0]), Events: unix.POLLIN}, {Fd: int32(p.read[1]), Events: unix.POLLIN}}
	if n, err := unix.Poll(fds[:], 0); err != nil || n == 0 {
		return nil
	}
	return errors.Join(p.drain(0, c.stdout), p.drain(1, c.stderr))
}

// reapGroup waits until the processes of a group that was killed are gone, and tells whether there were any beside
// the first. Those that became our children it waits for; what others have to wait for may take a moment.
func reapGroup(pgid int, as func(int) int) bool {
	for pause, left := time.Millisecond, false; ; {
		none := unix.Kill(as(-pgid), 0) // those that nobody has waited for count, too
		if errors.Is(none, unix.ESRCH) {
			return left
		}
		pid, err := unix.Wait4(-pgid, nil, unix.WNOHANG, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err == nil && pid > 0:
			left = true
		case pause > grace, none != nil:
			return left
		default:
			left = true
			time.Sleep(pause)
			pause *= 2
		}
	}
}
