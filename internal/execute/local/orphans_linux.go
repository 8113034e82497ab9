package local

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// adoptOrphans has processes that lose their parent become children of this process rather than of the system's first, so
// that what a command left behind in a session of its own can be found.
func adoptOrphans() {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// endOrphans kills the processes that a command left behind in groups of their own, and what they start meanwhile, and
// tells whether there were any. They are children of this process's first thread, where the kernel puts orphans. A command's
// own have its exec root in the environment that they started with; where one threw that away, and was restricted, it can
// only be told from other commands' when the others are done: alone says that no other command runs. spare is a child that is no command's.
func endOrphans(root string, alone bool, spare int) bool {
	found := false
	var until time.Time
	for {
		left := false
		for _, pid := range orphans() {
			switch {
			case pid == spare:
			case endOrphan(pid, root, alone):
				found, left = true, true
			case restricted(pid):
				_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil) // if it has ended
			}
		}
		if !left {
			return found
		}
		// Each that ended may have left others. Some that start processes faster than they are found are given up on.
		if now := time.Now(); until.IsZero() {
			until = now.Add(grace)
		} else if now.After(until) {
			return true
		}
	}
}

func endOrphan(pid int, root string, alone bool) bool {
	env, err := environment(pid)
	if err != nil || len(env) == 0 && !(alone && restricted(pid)) {
		return false // most likely it has ended
	}
	env = append([]byte{0}, env...)
	mine := bytes.Contains(env, []byte("\x00HEXMAGE_ROOT="+root+"\x00"))
	if !mine && !(alone && !bytes.Contains(env, []byte("\x00HEXMAGE_ROOT=")) && restricted(pid)) {
		return false
	}
	_ = unix.Kill(pid, unix.SIGKILL)
	_, _ = unix.Wait4(pid, nil, 0, nil)
	return true
}

// environment is what the process started with: nothing for one that has ended. One that is just starting its program has
// none either, for a moment.
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

// restricted tells whether the process was started by a restricted thread. Nothing else that this process starts is, unless
// this process can gain no privileges itself, as in some containers: then nobody can tell.
func restricted(pid int) bool {
	if own, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil || own != 0 {
		return false
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return err == nil && bytes.Contains(status, []byte("\nNoNewPrivs:\t1\n"))
}

// orphans are the children of the first thread.
func orphans() []int {
	pid := strconv.Itoa(unix.Getpid())
	fd, err := unix.Open("/proc/"+pid+"/task/"+pid+"/children", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil // a kernel without this file
	}
	defer unix.Close(fd)
	var list []byte
	for buf := make([]byte, 512); ; {
		n, err := unix.Read(fd, buf)
		if err != nil || n == 0 {
			break
		}
		list = append(list, buf[:n]...)
	}
	var pids []int
	for _, f := range bytes.Fields(list) {
		if n, err := strconv.Atoi(string(f)); err == nil {
			pids = append(pids, n)
		}
	}
	return pids
}
