package execute

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks one byte of the file, until unlock, or until f is closed in all processes that have it. It is false
// when the byte is locked through another open file, of this process or another. Where the file system has no locks,
// it is true.
func tryLock(f *os.File, at int64) (bool, error) {
	l := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Start: at, Len: 1}
	for {
		err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &l)
		switch {
		case err == nil, errors.Is(err, unix.ENOLCK), errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.EINVAL):
			return true, nil
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EACCES):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, os.NewSyscallError("fcntl", err)
		}
	}
}

// unlock releases the lock of tryLock. It fails only on file systems without locks.
func unlock(f *os.File, at int64) {
	l := unix.Flock_t{Type: unix.F_UNLCK, Whence: io.SeekStart, Start: at, Len: 1}
	for errors.Is(unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &l), unix.EINTR) {
	}
}
