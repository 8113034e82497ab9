package worker

import (
	"errors"
	"hash/fnv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// mark returns the value of RLIMIT_RTTIME that stands for a folder: too long to matter, and not unlimited. Children
// inherit the limit and programs do not change it. A process without its environment, session and parents keeps it.
func mark(dir string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(filepath.Clean(dir)))
	return 1<<62 | h.Sum64()>>2
}

// marked sets the mark for this process, so that its children inherit it, until undo is called. A hard limit stays.
func marked(mark uint64) (undo func()) {
	var own unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_RTTIME, &own); err == nil {
		_ = unix.Setrlimit(unix.RLIMIT_RTTIME, &unix.Rlimit{Cur: mark, Max: own.Max})
	}
	return func() { _ = unix.Setrlimit(unix.RLIMIT_RTTIME, &own) }
}

// patience limits the search for processes that start others faster than they are killed, or that do not end.
const patience = 10 * time.Second

// End kills the remaining processes of commands whose folders are below dirs. Call it after the workers were killed. No
// other worker may use the folders during the call.
func End(dirs ...string) {
	marks := map[string]bool{}
	for _, dir := range dirs {
		marks[strconv.FormatUint(mark(dir), 10)] = true
	}
	for clean, until := 0, time.Now().Add(patience); clean < 2 && time.Now().Before(until); clean++ {
		if clean > 0 {
			time.Sleep(5 * time.Millisecond) // a process may just have been starting another
		}
		all, _ := filepath.Glob("/proc/[0-9]*")
		for _, proc := range all {
			if marks[limit(proc)] && end(proc, marks) {
				clean = -1
			}
		}
	}
}

// end kills the process if it still has a mark: another process may have its number by now.
func end(proc string, marks map[string]bool) bool {
	pid, _ := strconv.Atoi(filepath.Base(proc))
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return errors.Is(err, unix.ENOSYS) && unix.Kill(pid, unix.SIGKILL) == nil
	}
	defer unix.Close(fd)
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	if n, _ := unix.Poll(poll, 0); n > 0 {
		return false // a zombie
	}
	return marks[limit(proc)] && unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil
}

// limit returns the process's RLIMIT_RTTIME in decimal, or "".
func limit(proc string) string {
	b, err := os.ReadFile(proc + "/limits")
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(b), "\nMax realtime timeout ")
	soft, _, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	return soft
}
