//go:build linux && (amd64 || arm64 || riscv64)

package stat

import (
	"errors"
	"io/fs"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// folder is the open folder that relative paths start from; no is that of one which is not there.
type folder struct{ fd int }

const no = -1

func openRoot(root string) (folder, error) {
	if root == "" {
		return folder{unix.AT_FDCWD}, nil
	}
	for {
		fd, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		switch {
		case err == nil:
			return folder{fd}, nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ENOTDIR):
			return folder{no}, fs.ErrNotExist
		default:
			return folder{no}, err
		}
	}
}

func (f folder) close() {
	if f.fd >= 0 {
		unix.Close(f.fd)
	}
}

func (f folder) prober() *prober { return &prober{fd: f.fd, path: make([]byte, 0, 256)} }

// prober asks for one file after another, with memory of its own.
type prober struct {
	fd   int
	path []byte
	st   unix.Stat_t
}

func (l *prober) lstat(path string, s *Stamp) error {
	if l.fd == no && !strings.HasPrefix(path, "/") {
		return nil
	}
	if strings.IndexByte(path, 0) >= 0 {
		return unix.EINVAL
	}
	if path == "" {
		path = "."
	}
	l.path = append(append(l.path[:0], path...), 0)
	switch errno := fstatat(l.fd, &l.path[0], &l.st); errno {
	case 0:
		*s = FromUnix(&l.st)
		return nil
	case unix.ENOENT, unix.ENOTDIR:
		return nil
	default:
		return errno
	}
}

// fstatat looks at the name, which ends with a zero, below the open folder.
func fstatat(fd int, name *byte, st *unix.Stat_t) unix.Errno {
	for {
		_, _, errno := unix.Syscall6(unix.SYS_NEWFSTATAT, uintptr(fd), uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(st)), unix.AT_SYMLINK_NOFOLLOW, 0, 0)
		if errno != unix.EINTR {
			return errno
		}
	}
}

// Lstat returns the Stamp of what is at path; of nothing, the zero Stamp and an error that is fs.ErrNotExist.
func Lstat(path string) (Stamp, error) {
	s, err := LstatAt(unix.AT_FDCWD, path)
	if err != nil {
		err = &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	return s, err
}

// LstatAt is Lstat of what is at path below an open folder. The error is the system's.
func LstatAt(dir int, path string) (Stamp, error) {
	var st unix.Stat_t
	var short [256]byte // most paths have room in it
	name := short[:]
	if len(path) >= len(short) {
		name = make([]byte, len(path)+1)
	}
	copy(name, path)
	errno := unix.EINVAL
	if strings.IndexByte(path, 0) < 0 {
		errno = fstatat(dir, &name[0], &st)
	}
	if errno != 0 {
		return Stamp{}, errno
	}
	return FromUnix(&st), nil
}
