package bench

import (
	"bytes"
	"os"
	"runtime/debug"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// awaitEnd waits until the process has ended, leaves it to be waited for, and returns how many bytes it and what it
// started have read and written; -1 where that is not known.
func awaitEnd(pid int) (read, written int64) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err == nil {
			break
		}
		if err != unix.EINTR {
			return -1, -1
		}
	}
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/io")
	if err != nil {
		return -1, -1
	}
	return ioField(b, "rchar: "), ioField(b, "wchar: ")
}

func ioField(b []byte, name string) int64 {
	_, after, ok := bytes.Cut(b, []byte(name))
	line, _, _ := bytes.Cut(after, []byte("\n"))
	n, err := strconv.ParseInt(string(line), 10, 64)
	if !ok || err != nil {
		return -1
	}
	return n
}

func maxRSS(s *os.ProcessState) int64 {
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss << 10
	}
	return 0
}

// settle writes out what earlier runs left to be written, for which the next one should not pay.
func settle() { unix.Sync() }

// shrink gives back what memory this process no longer needs, and forgets that it did. The kernel counts what a
// process has had as had by each program that it starts.
func shrink() {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}
