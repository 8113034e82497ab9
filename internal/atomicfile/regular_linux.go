package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/internal/stat"
)

// Regular is a regular file that is open for reading. It is not an os.File, which asks the kernel of each file whether it can be waited for: five
// system calls beside the one that opens it. Who opens it closes it.
type Regular struct {
	stat.Stamp        // when it was opened
	Links      uint64 // how many names it had

	fd   int
	path string
}

// OpenRegular opens the file, which must be a regular one and no symlink.
func OpenRegular(path string) (*Regular, error) {
	fd, err := openRead(unix.AT_FDCWD, path)
	if errors.Is(err, unix.EAGAIN) { // another process has to give the file up first, which only happens to regular ones
		err = again(func() (err error) {
			fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
			return err
		})
	}
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) {
		return nil, unfit(path) // a symlink, a socket
	}
	if err != nil {
		return nil, pathError("open", path, err)
	}
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstat(fd, &st) }); err != nil {
		unix.Close(fd)
		return nil, pathError("stat", path, err)
	}
	r := &Regular{Stamp: stat.FromUnix(&st), Links: uint64(st.Nlink), fd: fd, path: path}
	if !r.IsRegular() {
		unix.Close(fd)
		return nil, unfit(path)
	}
	return r, nil
}

// Name returns the path that it was opened by.
func (r *Regular) Name() string { return r.path }

// Fd returns its descriptor.
func (r *Regular) Fd() uintptr { return uintptr(r.fd) }

// Read implements io.Reader.
func (r *Regular) Read(b []byte) (n int, err error) {
	if len(b) == 0 {
		return 0, nil
	}
	err = again(func() (err error) { n, err = unix.Read(r.fd, b); return err })
	if err != nil {
		return 0, pathError("read", r.path, err)
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Seek implements io.Seeker.
func (r *Regular) Seek(offset int64, whence int) (int64, error) {
	n, err := unix.Seek(r.fd, offset, whence)
	return n, pathError("seek", r.path, err)
}

// Close closes it.
func (r *Regular) Close() error {
	if r.fd < 0 {
		return fs.ErrClosed
	}
	fd := r.fd
	r.fd = -1
	return pathError("close", r.path, unix.Close(fd))
}

// Set gives the file the permissions and the modification time.
func (r *Regular) Set(perm fs.FileMode, mtime time.Time) error {
	if err := again(func() error { return unix.Fchmod(r.fd, uint32(perm.Perm())) }); err != nil {
		return pathError("chmod", r.path, err)
	}
	return os.NewSyscallError("utimensat", setTime(r.fd, mtime))
}

// OpenFile is os.OpenFile for what nobody waits for: regular files and folders.
func OpenFile(path string, flag int, perm fs.FileMode) (f *os.File, err error) {
	var fd int
	err = again(func() (err error) { fd, err = unix.Open(path, flag|unix.O_CLOEXEC, uint32(perm.Perm())); return err })
	if err != nil {
		return nil, pathError("open", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}
