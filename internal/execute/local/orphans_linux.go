package local

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// adoptOrphans has processes that lose their parent become children of this process rather than of the system's
// first, so that what a command left behind in a session of its own can be found.
func adoptOrphans() {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// endOrphans kills the processes that a command left behind in groups of their own, and what they start meanwhile.
// They are children of this process's first thread, where the kernel puts orphans. A command's own have its exec root
// in the environment that they started with;
// where one threw that away, or gave itself another, and was restricted, it can only be told from other commands'
// when the others are done: alone says that no other command runs. spare is a child that is no command's.
//
// It reports whether a process may be left of a command that is restricted: one that belongs to no known command.
func endOrphans(list *os.File, root string, alone, strict bool, spare int) (left bool) {
	var until time.Time
	var gone []int
	for {
		again := false
		left = false
		for _, pid := range orphans(list) {
			switch {
			case pid == spare:
			case endOrphan(pid, root, alone):
				again = true
			case ended(pid):
				if !slices.Contains(gone, pid) {
					gone, again = append(gone, pid), true
				}
				if restricted(pid) {
					_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
				}
			case strict && restricted(pid):
				left = true
			}
		}
		if !again {
			return left
		}
		// Each that ended may have left others since the list was read. Some that start processes faster than they
		// are found are given up on.
		if now := time.Now(); until.IsZero() {
			until = now.Add(grace)
		} else if now.After(until) {
			return true
		}
	}
}

func endOrphan(pid int, root string, alone bool) bool {
	env, err := environment(pid)
	if err != nil {
		return false // most likely it has ended
	}
	env = append([]byte{0}, env...)
	mine := bytes.Contains(env, []byte("\x00HEXMAGE_ROOT="+root+"\x00"))
	if !mine && !(alone && !elsewhere(env, root) && restricted(pid)) {
		return false
	}
	_ = unix.Kill(pid, unix.SIGKILL)
	_, _ = unix.Wait4(pid, nil, 0, nil)
	return true
}

// elsewhere tells whether what a process started with says that it is of a command of another Executor of this
// process.
func elsewhere(env []byte, root string) bool {
	own := filepath.Dir(root)
	all := filepath.Join(filepath.Dir(own), execPrefix)
	return bytes.Contains(env, []byte("\x00HEXMAGE_ROOT="+all)) &&
		!bytes.Contains(env, []byte("\x00HEXMAGE_ROOT="+own[:strings.LastIndexByte(own, '-')+1]))
}

// environment is what the process started with: nothing for one that has ended. One that is just starting its program
// has none either, for a moment.
func environment(pid int) ([]byte, error) {
	for try := 0; ; try++ {
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil || len(env) > 0 || try == 50 {
			return env, err
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || bytes.Contains(stat, []byte(") Z ")) || bytes.Contains(stat, []byte(") X ")) {
			return nil, err
		}
		time.Sleep(time.Millisecond)
	}
}

// restricted tells whether the process was started by a restricted thread, which has a filter of system calls more
// than this process has. Nothing else that this process starts has.
func restricted(pid int) bool { return filters(strconv.Itoa(pid)) > filters("self") }

// filters counts the filters of a process that can gain no privileges.
func filters(pid string) int {
	status, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil || !bytes.Contains(status, []byte("\nNoNewPrivs:\t1\n")) {
		return 0
	}
	_, count, _ := bytes.Cut(status, []byte("\nSeccomp_filters:"))
	count, _, _ = bytes.Cut(count, []byte("\n"))
	n, _ := strconv.Atoi(string(bytes.TrimSpace(count)))
	return n
}

// orphanList opens the file that tells of orphans. It returns nil on a kernel without such a file.
func orphanList() *os.File {
	pid := strconv.Itoa(unix.Getpid())
	f, _ := os.Open("/proc/" + pid + "/task/" + pid + "/children")
	return f
}

// orphans are the children of the first thread.
func orphans(list *os.File) []int {
	if list == nil {
		return nil
	}
	var all []byte
	var buf [512]byte
	for { // the kernel makes it anew for who reads from its start
		n, err := list.ReadAt(buf[:], int64(len(all)))
		all = append(all, buf[:n]...)
		if err != nil {
			break
		}
	}
	var pids []int
	for _, f := range bytes.Fields(all) {
		if n, err := strconv.Atoi(string(f)); err == nil {
			pids = append(pids, n)
		}
	}
	return pids
}
