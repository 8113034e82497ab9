package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// groups are the process groups that a command's processes made for themselves, in the command's session or in one of
// their own. A process that is to outlive its command has to make one, as the command's own group ends with it, and
// the kernel asks first: so they are all known, and their processes are, whatever environment, parents and files
// these have by then.
type groups struct {
	mu     sync.Mutex
	known  map[int]int // by number: a descriptor of the process that made it
	ending bool        // none are made any more
}

const (
	manyGroups = 64   // from here on those that ended are forgotten
	maxGroups  = 1024 // each has a descriptor
)

// endLimit is how long processes are waited for that were killed. Some may wait for a disk.
const endLimit = 5 * time.Second

// pidfdGroup has a signal go to the process group that the descriptor's process made, which may have ended itself
// (Linux 6.9).
const pidfdGroup = 1 << 2

// signal sends a signal to a group's processes, 0: none. It returns ESRCH if there are none. Numbers are given to
// others when they are free; a group's is not.
func (g *groups) signal(number int, sig unix.Signal, as func(int) int) error {
	fd := as(g.known[number])
	if err := unix.PidfdSendSignal(fd, sig, nil, pidfdGroup); !errors.Is(err, unix.EINVAL) {
		return err
	}
	return signalByNumber(number, fd, sig, as)
}

// signalByNumber is for kernels that know groups by their numbers alone.
func signalByNumber(number, fd int, sig unix.Signal, as func(int) int) error {
	if unix.PidfdSendSignal(fd, 0, nil, 0) != nil && !errors.Is(unix.Kill(as(number), 0), unix.ESRCH) {
		return unix.ESRCH // the number is another process's by now
	}
	return unix.Kill(as(-number), sig)
}

func same(n int) int { return n }

// make notes the group that a process is about to make or to enter: itself or a child of its own, as the kernel
// checks too.
func (g *groups) make(caller, pid, number int) error {
	if now, err := unix.Getpgid(pid); err != nil || now == number {
		return err // nothing changes
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.ending:
		return unix.EPERM
	case number != pid && g.known[number] == 0:
		return unix.EPERM // of somebody else: hexmage's own is in the command's session
	case number != pid:
		return g.signal(number, 0, same)
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err
	}
	if pid != caller && parentOf(pid) != caller || unix.PidfdSendSignal(fd, 0, nil, 0) != nil {
		unix.Close(fd)
		return unix.ESRCH
	}
	if len(g.known) >= manyGroups {
		// A group whose process is there may be about to be made: the kernel does it after we have answered.
		g.forget(func(number int) bool {
			return unix.PidfdSendSignal(g.known[number], 0, nil, 0) != nil && g.signal(number, 0, same) != nil
		})
	}
	if len(g.known) >= maxGroups {
		unix.Close(fd)
		return unix.EAGAIN
	}
	if old := g.known[number]; old != 0 {
		unix.Close(old)
	}
	if g.known == nil {
		g.known = map[int]int{}
	}
	g.known[number] = fd
	return nil
}

// has tells whether a group is among them.
func (g *groups) has(number int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.known[number] != 0 && g.signal(number, 0, same) == nil
}

func (g *groups) forget(which func(number int) bool) {
	for number, fd := range g.known {
		if which(number) {
			unix.Close(fd)
			delete(g.known, number)
		}
	}
}

// end ends all processes of the groups, and of the command's own group, and waits until they are gone. It tells
// whether there were any beside the command's own, and fails if some do not go. Numbers are used as what as makes of
// them.
func (g *groups) end(own int, as func(int) int) (found bool, err error) {
	g.mu.Lock()
	none := len(g.known) == 0
	g.ending = !none
	g.mu.Unlock()
	if none {
		return false, nil
	}
	// A process may still be on its way from one group to another, and is seen in neither then, but not twice: nobody
	// sets out any more.
	pause := 100 * time.Microsecond
	for clean, until := 0, time.Now().Add(endLimit); clean < 2; clean++ {
		_ = unix.Kill(as(-own), unix.SIGKILL)
		for number := range g.known {
			if g.signal(number, unix.SIGKILL, as) != nil {
				continue
			}
			found, clean = true, -1
			for pid, err := 1, error(nil); pid > 0 && err == nil; { // those that became our children
				pid, err = unix.Wait4(-number, nil, unix.WNOHANG, nil)
			}
		}
		if clean >= 0 {
			continue
		}
		if time.Now().After(until) {
			err = errors.New("processes were killed and do not end")
			break
		}
		time.Sleep(pause)
		pause = min(2*pause, 10*time.Millisecond)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forget(func(int) bool { return true })
	g.ending = false
	return found, err
}

// regroup notes the process group that the caller makes or enters.
func (q *question) regroup() error {
	caller, nested, err := q.process()
	if err != nil {
		return err
	}
	pid, number := caller, caller
	if q.nr == q.setpgid {
		p, n := int(q.int(0)), int(q.int(1))
		if nested && (p != 0 || n != 0) {
			return unix.EPERM // numbers mean others there
		}
		if p != 0 {
			pid = p
		}
		if number = pid; n != 0 {
			number = n
		}
	}
	if err := q.still(); err != nil {
		return err
	}
	return q.s.groups.make(caller, pid, number)
}

// mayChange returns an error unless a thread, or a group as a negative number, is of the same command as the caller.
func (q *question) mayChange(pid int) error {
	switch pid {
	case -1:
		return unix.EPERM // everybody
	case 0:
		return nil // the caller's own, or nobody
	}
	group := -pid
	if pid > 0 {
		if unix.Access(fmt.Sprintf("/proc/%d/task/%d", q.pid, pid), unix.F_OK) == nil {
			return nil
		}
		var err error
		if group, err = unix.Getpgid(pid); err != nil {
			group = 0 // there is none, or none that this process sees
		}
	}
	caller, nested, err := q.process()
	if err != nil {
		return err
	}
	if nested {
		return nil // it sees no others, and the number is one of its own
	}
	if group == 0 {
		return unix.ESRCH
	}
	// A command's own group is that of its first process.
	for p := caller; p > 1; p = parentOf(p) {
		if own, err := unix.Getpgid(p); err == nil && own == group {
			return q.still()
		}
		if parentOf(p) == os.Getpid() {
			break
		}
	}
	if q.s.groups.has(group) {
		return q.still()
	}
	return unix.EPERM
}

// signal sends the signal that the caller asks for to the process that a descriptor of the caller's stands for, which
// could be another's by the time that the kernel looks.
func (q *question) signal() error {
	if q.args[2] != 0 || q.args[3] != 0 {
		return unix.EPERM // what it is to be told about the signal is in the caller's memory
	}
	caller, _, err := q.process()
	if err != nil {
		return err
	}
	of, err := unix.PidfdOpen(caller, 0)
	if err != nil {
		return err
	}
	defer unix.Close(of)
	fd, err := unix.PidfdGetfd(of, int(q.int(0)), 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	info, err := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(fd))
	if err != nil {
		return err
	}
	_, number, _ := bytes.Cut(info, []byte("\nPid:"))
	number, _, _ = bytes.Cut(number, []byte("\n"))
	pid, err := strconv.Atoi(string(bytes.TrimSpace(number)))
	if err != nil {
		return unix.EBADF
	}
	if pid <= 0 {
		return unix.ESRCH
	}
	if err := q.mayChange(pid); err != nil {
		return err
	}
	return unix.PidfdSendSignal(fd, unix.Signal(q.int(1)), nil, 0)
}

// process returns the number of the caller's process, and whether the process itself knows another one.
func (q *question) process() (pid int, nested bool, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", q.pid))
	if err != nil {
		return 0, false, unix.ESRCH
	}
	for line := range bytes.Lines(status) {
		switch f := bytes.Fields(line); {
		case len(f) == 2 && string(f[0]) == "Tgid:":
			pid, err = strconv.Atoi(string(f[1]))
		case len(f) > 2 && string(f[0]) == "NSpid:":
			nested = true
		}
	}
	return pid, nested, err
}

// parentOf returns the number of a process's parent, or 0.
func parentOf(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // its name may have blanks
	if err != nil || len(f) < 2 {
		return 0
	}
	ppid, _ := strconv.Atoi(string(f[1]))
	return ppid
}
