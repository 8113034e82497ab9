//go:build unix

package upkeep

import (
	"errors"

	"golang.org/x/sys/unix"
)

func alive(pid int) bool {
	err := unix.Kill(pid, 0)
	return err == nil || errors.Is(err, unix.EPERM)
}

// unsupported tells whether the error says that the file system has no locks.
func unsupported(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, unix.ENOLCK) || errors.Is(err, unix.ENOTSUP)
}
