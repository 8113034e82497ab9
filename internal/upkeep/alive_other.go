//go:build !unix

package upkeep

import (
	"errors"
	"os"
)

func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	p.Release()
	return true
}

// unsupported tells whether the error says that the file system has no locks.
func unsupported(err error) bool { return errors.Is(err, errors.ErrUnsupported) }
