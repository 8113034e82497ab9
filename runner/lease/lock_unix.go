//go:build unix && !solaris && !aix && !illumos

package lease

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes the file's lock if nobody has it.
func tryLock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
