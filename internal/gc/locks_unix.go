//go:build unix

package gc

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// unsupported reports whether the file system has no locks.
func unsupported(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, unix.ENOLCK) || errors.Is(err, unix.ENOTSUP)
}

// free reports whether the file exists and is not locked.
func free(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}
