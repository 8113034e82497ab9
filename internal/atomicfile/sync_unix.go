//go:build unix

package atomicfile

import (
	"bytes"
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// SyncDir makes the names in dir survive a crash.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
		return err // EINVAL, ENOTSUP: a file system whose folders cannot be synced has nothing more to give
	}
	return nil
}

// Alive tells whether a process of that id runs on this machine, as far as this process can see. One that has ended
// and that nobody waits for, as under an init of a container that does not, runs no more.
func Alive(pid int) bool {
	if err := unix.Kill(pid, 0); err != nil && !errors.Is(err, unix.EPERM) {
		return false
	}
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat") // "12 (name) Z …"
	if err != nil {
		return true // elsewhere than on Linux
	}
	state := bytes.TrimSpace(b[bytes.LastIndexByte(b, ')')+1:])
	return !bytes.HasPrefix(state, []byte("Z")) && !bytes.HasPrefix(state, []byte("X"))
}
