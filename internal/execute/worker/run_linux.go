package worker

import (
	"bytes"
	"encoding/gob"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/internal/execute/sandbox"
	"github.com/hexmage/hexmage/internal/stat"
)

// runner is a worker in its own process.
type runner struct {
	conn   conn
	dec    *gob.Decoder
	base   *sandbox.Base // nil until a command is restricted
	shared func(stat.Stamp) bool
	mark   uint64
}

// Main runs the commands that it receives from the socket on standard input, until the socket is closed. The parameter
// shared sets sandbox.Access.Shared.
func Main(dir string, shared func(stat.Stamp) bool) {
	// Catch signals and go on until the socket is closed. Commands would inherit ignored signals.
	signal.Notify(make(chan os.Signal, 1), unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT)
	_ = os.WriteFile("/proc/self/comm", []byte(Tool), 0) // `killall hexmage` spares the worker, which cleans up
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return
	}
	c := conn{os.NewFile(0, Tool)} // standard input
	r := &runner{conn: c, dec: gob.NewDecoder(c), shared: shared, mark: mark(dir)}
	for enc := gob.NewEncoder(r.conn); ; {
		c, files, err := r.next()
		if err != nil {
			return
		}
		e := r.run(c, files)
		err = enc.Encode(e)
		closeAll(files) // after the outcome, so that hexmage wakes once, and not at the end of each pipe too
		if err != nil || e.Left != "" {
			return
		}
	}
}

// next waits for a command, and returns it with its standard input, output and error.
func (r *runner) next() (*Command, []int, error) {
	var kind [1]byte
	var rights [64]byte
	for {
		n, rn, _, _, err := unix.Recvmsg(int(r.conn.Fd()), kind[:], rights[:], unix.MSG_CMSG_CLOEXEC)
		switch {
		case errors.Is(err, unix.EINTR), n == 1 && kind[0] == terminate: // the command had ended
			continue
		case err != nil || n == 0:
			return nil, nil, errors.Join(err, errors.New("hexmage ended"))
		}
		messages, err := unix.ParseSocketControlMessage(rights[:rn])
		if err != nil || len(messages) != 1 {
			return nil, nil, errors.Join(err, errors.New("the message has no file descriptors"))
		}
		files, err := unix.ParseUnixRights(&messages[0])
		if err != nil {
			return nil, nil, err
		}
		c := &Command{}
		return c, files, r.dec.Decode(c)
	}
}

// run runs a command and kills the processes that remain.
func (r *runner) run(c *Command, files []int) *Ended {
	e := &Ended{}
	var pid int
	pidfd := -1
	var err error
	t, terr := r.thread(c, func() {
		if c.DisableASLR {
			if err := fixAddresses(); err != nil {
				e.RandomAddresses = err.Error()
			}
		}
		pid, err = r.fork(c, files, &pidfd)
	})
	if terr != nil {
		e.Restrict = terr.Error()
		return e
	}
	if err != nil {
		t.Close()
		e.Start = (&os.PathError{Op: "fork/exec", Path: c.Path, Err: err}).Error()
		return e
	}
	r.wait(pid, pidfd)
	unix.Close(pidfd)
	// Before wait4, no other group can get this number.
	_ = unix.Kill(-pid, unix.SIGKILL)
	var status unix.WaitStatus
	var used unix.Rusage
	for errors.Is(wait4(pid, &status, &used), unix.EINTR) {
	}
	if err := endChildren(); err != nil {
		e.Left = err.Error()
	}
	t.Close()
	e.StreamRefused, e.DatagramRefused, e.NetworkKnown = t.NetworkRefused()
	if e.Memory = peak(&used); status.Signaled() {
		e.Code = 128 + int(status.Signal())
	} else {
		e.Code = status.ExitStatus()
	}
	return e
}

func wait4(pid int, status *unix.WaitStatus, used *unix.Rusage) error {
	_, err := unix.Wait4(pid, status, 0, used)
	return err
}

// thread calls start on a thread for the command. The thread stays until the command has ended: the kernel sends a
// child's death signal when the thread that started it ends.
func (r *runner) thread(c *Command, start func()) (*sandbox.Thread, error) {
	if c.Access == nil {
		return sandbox.Start(nil, sandbox.Access{}, true, c.Mounts, start)
	}
	if r.base == nil {
		var err error
		if r.base, err = sandbox.Open(); err != nil {
			return nil, err
		}
	}
	c.Access.Shared = r.shared
	return sandbox.Start(r.base, *c.Access, c.Network, c.Mounts, start)
}

// fixAddresses disables address space randomization for processes that the calling thread starts. Containers often
// refuse it.
func fixAddresses() error {
	const query, noRandomAddresses = 0xffffffff, 0x0040000 // personality(2)
	was, _, errno := unix.RawSyscall(unix.SYS_PERSONALITY, query, 0, 0)
	if errno == 0 {
		_, _, errno = unix.RawSyscall(unix.SYS_PERSONALITY, was|noRandomAddresses, 0, 0)
	}
	if errno != 0 {
		return os.NewSyscallError("personality", errno)
	}
	return nil
}

// fork starts the command in a session of its own, with the mark. It retries for a moment if another process has the
// program open for writing, such as an installer.
func (r *runner) fork(c *Command, files []int, pidfd *int) (pid int, err error) {
	attr := &syscall.ProcAttr{
		Dir: c.Dir, Env: c.Env,
		Files: []uintptr{uintptr(files[0]), uintptr(files[1]), uintptr(files[2])},
		Sys:   &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL, PidFD: pidfd},
	}
	defer marked(r.mark)()
	for pause := time.Millisecond; ; pause *= 2 {
		pid, err = syscall.ForkExec(c.Path, c.Args, attr)
		if !errors.Is(err, syscall.ETXTBSY) || pause > 500*time.Millisecond {
			return pid, err
		}
		time.Sleep(pause)
	}
}

// wait waits until the process has ended. It signals the process when hexmage asks for it, and kills it when hexmage
// has ended. Before Linux 5.4 a pidfd does not report the end of its process, so wait polls.
func (r *runner) wait(pid, pidfd int) {
	fds := [2]unix.PollFd{{Fd: int32(r.conn.Fd()), Events: unix.POLLIN}, {Fd: int32(pidfd), Events: unix.POLLIN}}
	timeout := -1
	if pidfd < 0 {
		timeout = 5 // milliseconds
	}
	for {
		n, err := unix.Poll(fds[:], timeout)
		switch {
		case err == nil && fds[1].Revents != 0, n == 0 && ended(pid):
			return
		case err != nil || fds[0].Revents == 0: // EINTR
		default:
			if _, err := r.conn.ReadByte(); err == nil {
				_ = unix.Kill(-pid, unix.SIGTERM)
			} else {
				_ = unix.Kill(-pid, unix.SIGKILL)
				fds[0].Fd = -1
			}
		}
	}
}

// ended tells whether the child has ended. The child stays a zombie.
func ended(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && info.Signo != 0
}

// peak returns the peak memory, in bytes, of the child or of the largest descendant that it waited for, or 0 if it is
// unknown. Between fork and exec a child shares this process's memory, and the kernel attributes that to the child. So
// a peak up to this process's own is unknown.
func peak(ended *unix.Rusage) int64 {
	var own unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &own); err != nil || ended.Maxrss <= own.Maxrss {
		return 0
	}
	return int64(ended.Maxrss) << 10
}

// endChildren kills all children and the orphans that they leave, and waits for them. The kernel reparents orphans
// before their parent can be waited for, so a process without children has no descendants.
func endChildren() error {
	pause := 50 * time.Microsecond
	for until := time.Now().Add(patience); ; {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		switch {
		case errors.Is(err, unix.ECHILD):
			return nil
		case pid > 0 || err != nil:
			continue
		case time.Now().After(until):
			return errors.New("the processes of the command do not end after SIGKILL")
		}
		for _, pid := range children() {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		time.Sleep(pause)
		pause = min(2*pause, 10*time.Millisecond)
	}
}

// children returns this process's children, including adopted orphans. Their numbers are not reused before wait4.
func children() (pids []int) {
	files, _ := filepath.Glob("/proc/self/task/*/children")
	for _, f := range files {
		b, _ := os.ReadFile(f)
		for _, number := range bytes.Fields(b) {
			if pid, err := strconv.Atoi(string(number)); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

func closeAll(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}
