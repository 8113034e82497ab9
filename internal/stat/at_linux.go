//go:build linux && !(amd64 || arm64 || riscv64)

package stat

import (
	"errors"

	"golang.org/x/sys/unix"
)

// LstatAt is Lstat of what is at path below an open folder. The error is the system's.
func LstatAt(dir int, path string) (Stamp, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(dir, path, &st, unix.AT_SYMLINK_NOFOLLOW)
		switch {
		case err == nil:
			return FromUnix(&st), nil
		case !errors.Is(err, unix.EINTR):
			return Stamp{}, err
		}
	}
}
