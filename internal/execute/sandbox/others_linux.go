package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// mayChange returns an error unless a thread, or a group as a negative number, belongs to the same command as the
// caller. A command's processes are the descendants of this process: it runs one command at a time, and adopts orphans.
func (q *question) mayChange(pid int) error {
	switch pid {
	case -1:
		return unix.EPERM // everybody
	case 0:
		return nil // the caller's own, or nobody
	}
	nested, err := q.nested()
	if err != nil {
		return err
	}
	if nested {
		return nil // it sees no others, and the number is one of its own
	}
	if pid < 0 {
		// A command begins in a session of its own: no group has its processes and others.
		if pid = memberOf(-pid); pid == 0 {
			return unix.ESRCH
		}
	}
	for range 3 { // a parent may end while it is asked for its own
		p := parentOf(pid)
		if p == 0 {
			return unix.ESRCH
		}
		for p > 1 && p != os.Getpid() {
			p = parentOf(p)
		}
		if p == os.Getpid() {
			return q.still()
		}
	}
	return unix.EPERM
}

// nested tells whether the caller's process itself knows another number of its own.
func (q *question) nested() (bool, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", q.pid))
	if err != nil {
		return false, unix.ESRCH
	}
	_, numbers, _ := bytes.Cut(status, []byte("\nNSpid:"))
	numbers, _, _ = bytes.Cut(numbers, []byte("\n"))
	return len(bytes.Fields(numbers)) > 1, nil
}

// memberOf returns a process of the group, or 0.
func memberOf(group int) int {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if of, err := unix.Getpgid(pid); err == nil && of == group {
			return pid
		}
	}
	return 0
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
