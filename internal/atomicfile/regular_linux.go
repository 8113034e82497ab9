package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/internal/stat"
)

// Regular is a regular file that is open for reading, by fewer system calls than an os.File. It is used by one goroutine,
// which closes it.
type Regular struct {
	stat.Stamp        // when it was opened
	Path       string // that it was opened by
	Links      uint64 // how many names it had
	fd         int
}

// OpenRegular opens the file, which must be a regular one and no symlink.
func OpenRegular(path string) (*Regular, error) {
	var fd int
	err := again(func() (err error) {
		// Not blocking: opening a named pipe would wait for somebody to write to it.
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		return err
	})
	if errors.Is(err, unix.ELOOP) {
		err = errors.New("not a regular file but a symlink")
	}
	if err != nil {
		return nil, pathError("open", path, err)
	}
	var st unix.Stat_t
	err = again(func() error { return unix.Fstat(fd, &st) })
	if err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = errors.New("not a regular file")
	}
	if err != nil {
		unix.Close(fd)
		return nil, pathError("open", path, err)
	}
	return &Regular{Stamp: stat.FromUnix(&st), Path: path, Links: uint64(st.Nlink), fd: fd}, nil
}

// Read implements io.Reader.
func (r *Regular) Read(b []byte) (n int, err error) {
	if len(b) == 0 {
		return 0, nil
	}
	err = again(func() (err error) { n, err = unix.Read(r.fd, b); return err })
	switch {
	case err != nil:
		return 0, pathError("read", r.Path, err)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// Seek implements io.Seeker.
func (r *Regular) Seek(offset int64, whence int) (at int64, err error) {
	err = again(func() (err error) { at, err = unix.Seek(r.fd, offset, whence); return err })
	return at, pathError("seek", r.Path, err)
}

// Again returns the file's Stamp as it is now.
func (r *Regular) Again() (stat.Stamp, error) {
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstat(r.fd, &st) }); err != nil {
		return stat.Stamp{}, pathError("fstat", r.Path, err)
	}
	return stat.FromUnix(&st), nil
}

// Set gives the file the permissions and the modification time.
func (r *Regular) Set(perm fs.FileMode, mtime time.Time) error {
	if r.Mode&0o7777 != uint32(perm) {
		if err := again(func() error { return unix.Fchmod(r.fd, uint32(perm)) }); err != nil {
			return pathError("chmod", r.Path, err)
		}
	}
	return pathError("utimensat", r.Path, setTime(r.fd, mtime))
}

// Close closes the file.
func (r *Regular) Close() error { return pathError("close", r.Path, unix.Close(r.fd)) }
