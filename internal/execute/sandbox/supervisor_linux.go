package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/internal/stat"
)

// supervisor decides the calls of one command that change attributes of files, or other processes, or that make network
// sockets, which it refuses and records. It reads the caller's memory once and carries the call out itself, on a file
// that it has opened: the caller cannot change the arguments between check and use.
type supervisor struct {
	asked  *os.File // the kernel's questions; after it is closed, such calls get ENOSYS
	own    string   // the folder of files that may be changed; absolute, without symlinks
	shared func(stat.Stamp) bool
	arch   *arch

	streamRefused   atomic.Bool // a socket of the network
	datagramRefused atomic.Bool

	answering sync.Mutex // held while a question is answered
	closed    bool       // no question is answered any more; guarded by answering
}

// notification is the kernel's struct seccomp_notif, and response struct seccomp_notif_resp.
type (
	notification struct {
		id   uint64
		pid  uint32 // of the thread
		_    uint32
		nr   uint32
		arch uint32
		_    uint64
		args [6]uint64
	}
	response struct {
		id    uint64
		_     int64
		errno int32 // negative
		flags uint32
	}
)

// newSupervisor starts to answer the questions of the descriptor, which the supervisor closes at its end.
func newSupervisor(fd int, a Access, arch *arch) (*supervisor, error) {
	own, err := realPath(a.Own)
	if err == nil {
		err = unix.SetNonblock(fd, true) // a waiting goroutine then occupies no thread
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	s := &supervisor{asked: os.NewFile(uintptr(fd), "seccomp"), own: own, shared: a.Shared, arch: arch}
	wait, err := s.asked.SyscallConn()
	if err != nil {
		return nil, errors.Join(err, s.asked.Close())
	}
	go func() {
		_ = wait.Read(func(fd uintptr) bool { // until it is closed
			for s.next(fd) {
			}
			return false
		})
	}()
	return s, nil
}

// close waits for the current answer. Later calls get ENOSYS.
func (s *supervisor) close() {
	s.answering.Lock()
	s.closed = true
	s.answering.Unlock()
	_ = s.asked.Close()
}

// next answers one question, and tells whether there may be another.
func (s *supervisor) next(fd uintptr) bool {
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	if n, err := unix.Poll(poll, 0); errors.Is(err, unix.EINTR) {
		return true
	} else if n == 0 || poll[0].Revents&unix.POLLIN == 0 {
		return false
	}
	s.answering.Lock()
	defer s.answering.Unlock()
	var n notification
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, fd, unix.SECCOMP_IOCTL_NOTIF_RECV,
		uintptr(unsafe.Pointer(&n))); errno != 0 {
		return true // ENOENT: the caller has ended
	}
	r := response{id: n.id}
	q := question{notification: &n, s: s, fd: fd, arch: s.arch}
	if err := q.answer(&r); err != nil {
		errno := unix.EPERM
		errors.As(err, &errno)
		r.errno = -int32(errno)
	}
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, fd, unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&r)))
	return true
}

// question is a call that waits for an answer.
type question struct {
	*notification
	s  *supervisor
	fd uintptr
	*arch
}

// answer carries the call out, or returns the unix.Errno that the caller gets.
func (q *question) answer(r *response) error {
	if q.s.closed {
		return unix.EPERM
	}
	if c, ok := q.changes[q.nr]; ok {
		return q.change(c)
	}
	var err error
	switch {
	case q.nr == q.socket:
		if q.int(1)&0xf == unix.SOCK_DGRAM {
			q.s.datagramRefused.Store(true)
		} else {
			q.s.streamRefused.Store(true)
		}
		return unix.EACCES
	case q.nr == q.tgkill, slices.Contains(q.signals, q.nr):
		err = q.mayChange(int(q.int(0)))
	case q.nr == q.fcntl:
		err = q.mayChange(int(q.int(2)))
	default:
		p, ok := q.processes[q.nr]
		if pid := int(q.int(int(p.pid))); !ok || p.kind && uint32(q.args[0]) != p.first || pid <= 0 {
			return unix.EPERM
		} else if err = q.mayChange(pid); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	r.flags = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE // safe: numbers are passed by value
	return nil
}

// int is an argument of type int.
func (q *question) int(i int) int32 { return int32(uint32(q.args[i])) }

// still returns an error if the caller has ended: another process may have its number.
func (q *question) still() error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, q.fd, unix.SECCOMP_IOCTL_NOTIF_ID_VALID,
		uintptr(unsafe.Pointer(&q.id))); errno != 0 {
		return unix.ESRCH
	}
	return nil
}

// read fills b from the caller's memory.
func (q *question) read(addr uint64, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	local := []unix.Iovec{{Base: &b[0]}}
	local[0].SetLen(len(b))
	n, err := unix.ProcessVMReadv(int(q.pid), local, []unix.RemoteIovec{{Base: uintptr(addr), Len: len(b)}}, 0)
	if err == nil && n != len(b) {
		err = unix.EFAULT
	}
	return err
}

// text reads a string from the caller's memory, one page at a time: the next page may not be mapped.
func (q *question) text(addr uint64) (string, error) {
	const page = 4096 // the smallest
	var buf [unix.PathMax]byte
	for have := 0; have < len(buf); {
		end := min(len(buf), have+page-int((addr+uint64(have))%page))
		if err := q.read(addr+uint64(have), buf[have:end]); err != nil {
			return "", err
		}
		if i := bytes.IndexByte(buf[have:end], 0); i >= 0 {
			return string(buf[:have+i]), nil
		}
		have = end
	}
	return "", unix.ENAMETOOLONG
}

// canSupervise returns the reason why a thread of this process cannot have a supervisor, or nil.
func canSupervise() error {
	mode, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	if scope := strings.TrimSpace(string(mode)); err == nil && (scope == "3" || scope == "2" && os.Geteuid() != 0) {
		return errors.New("the setting kernel.yama.ptrace_scope forbids reading the memory of other processes")
	}
	if state, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0); err == nil && state == 0 {
		return nil // Landlock is of a later kernel
	}
	// This process has a filter already. A thread can have one supervisor, and the filter's owner may have taken it.
	err = onThread(func() error {
		err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		if err == nil {
			var fd int
			if fd, err = (filter{{Code: unix.BPF_RET | unix.BPF_K, K: uint32(allow)}}).install(true); err == nil {
				unix.Close(fd)
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("hexmage cannot supervise system calls, perhaps because hexmage runs in another sandbox: "+
			"%w", err)
	}
	return nil
}

// realPath returns the path of a folder without symlinks.
func realPath(path string) (string, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	return pathOf(fd)
}

// pathOf returns the path of the open file.
func pathOf(fd int) (string, error) { return os.Readlink(proc(fd)) }

// proc returns a path that always leads to the open file.
func proc(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }
