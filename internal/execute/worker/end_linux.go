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

// mark is the limit on time without sleep for real-time processes that stands for a folder: too long to matter, and too
// short to be no limit. Children inherit it, no program changes it, and one that throws its environment away, leaves
// its session and loses its parents still has it.
func mark(dir string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(filepath.Clean(dir)))
	return 1<<62 | h.Sum64()>>2
}

// marked gives this process the mark, so that it starts others with it, until undo is called. Where there is a limit
// already, that stays.
func marked(mark uint64) (undo func()) {
	var own unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_RTTIME, &own); err == nil {
		_ = unix.Setrlimit(unix.RLIMIT_RTTIME, &unix.Rlimit{Cur: mark, Max: own.Max})
	}
	return func() { _ = unix.Setrlimit(unix.RLIMIT_RTTIME, &own) }
}

// patience is for how long processes are looked for that start others faster than they are found, or that do not end.
const patience = 10 * time.Second

// End ends the processes that are left of commands whose folders were below the folders, if their workers were killed,
// too. Nothing may run commands there.
func End(dirs ...string) {
	marks := map[string]bool{}
	for _, dir := range dirs {
		marks[strconv.FormatUint(mark(dir), 10)] = true
	}
	for clean, until := 0, time.Now().Add(patience); clean < 2 && time.Now().Before(until); clean++ {
		if clean > 0 {
			time.Sleep(5 * time.Millisecond) // for what was just being started
		}
		all, _ := filepath.Glob("/proc/[0-9]*")
		for _, proc := range all {
			if marks[limit(proc)] && end(proc, marks) {
				clean = -1
			}
		}
	}
}

// end kills the process if it still has a mark: its number may be another's by now.
func end(proc string, marks map[string]bool) bool {
	pid, _ := strconv.Atoi(filepath.Base(proc))
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return errors.Is(err, unix.ENOSYS) && unix.Kill(pid, unix.SIGKILL) == nil
	}
	defer unix.Close(fd)
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	if n, _ := unix.Poll(poll, 0); n > 0 {
		return false // it has ended, and nothing has waited for it
	}
	return marks[limit(proc)] && unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil
}

// limit is the process's limit on time without sleep, in decimal, or "".
func limit(proc string) string {
	b, err := os.ReadFile(proc + "/limits")
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(b), "\nMax realtime timeout ")
	soft, _, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	return soft
}
