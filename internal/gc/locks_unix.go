//go:build unix

package gc

import (
	"errors"

	"golang.org/x/sys/unix"
)

// unsupported tells whether the error says that the file system has no locks.
func unsupported(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, unix.ENOLCK) || errors.Is(err, unix.ENOTSUP)
}
