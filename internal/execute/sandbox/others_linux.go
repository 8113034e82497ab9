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
	_, nested, err := q.process()
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
