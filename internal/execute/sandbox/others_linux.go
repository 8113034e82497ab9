package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// mayChange returns an error unless the thread, or the group as a negative number, belongs to the caller's command. All
// descendants of this process belong to one command: a worker runs one at a time and adopts orphans.
func (q *question) mayChange(pid int) error {
	switch pid {
	case -1:
		return unix.EPERM // all processes
	case 0:
		return nil // the caller or its group
	}
	nested, err := q.nested()
	if err != nil {
		return err
	}
	if nested {
		return nil // in a PID namespace of its own, the number is one of that namespace
	}
	if pid < 0 {
		// A command begins in a session of its own, so a group never mixes its processes with others.
		if pid = memberOf(-pid); pid == 0 {
			return unix.ESRCH
		}
	}
	for range 3 { // a parent may end between two steps
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

// nested tells whether the caller's process runs in a PID namespace of its own.
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
