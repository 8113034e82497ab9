//go:build unix

package atomicfile

import (
	"bytes"
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// SyncDir syncs the folder dir, so that the names of files in it survive a crash.
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

// Alive reports whether a process with this ID runs on this machine, as far as the current process can see. It returns
// false for zombies, because some containers never remove them.
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
