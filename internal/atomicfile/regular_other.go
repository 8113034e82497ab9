//go:build !linux

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/hexmage/hexmage/internal/stat"
)

// Regular is a regular file that is open for reading. It is used by one goroutine, which closes it.
type Regular struct {
	stat.Stamp        // when it was opened
	Path       string // that it was opened by
	Links      uint64 // how many names it had; 0 where the system does not say
	f          *os.File
}

// OpenRegular opens the file, which must be a regular one and no symlink.
func OpenRegular(path string) (*Regular, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	if err != nil || !os.SameFile(st, opened) {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.Join(err, errors.New("it was replaced while being opened"))}
	}
	return &Regular{Stamp: stat.Of(opened), Path: path, Links: links(opened), f: f}, nil
}

// Read implements io.Reader.
func (r *Regular) Read(b []byte) (int, error) { return r.f.Read(b) }

// Seek implements io.Seeker.
func (r *Regular) Seek(offset int64, whence int) (int64, error) { return r.f.Seek(offset, whence) }

// Again returns the file's Stamp as it is now.
func (r *Regular) Again() (stat.Stamp, error) {
	info, err := r.f.Stat()
	if err != nil {
		return stat.Stamp{}, err
	}
	return stat.Of(info), nil
}

// Set gives the file the permissions and the modification time.
func (r *Regular) Set(perm fs.FileMode, mtime time.Time) error { return SetFile(r.f, perm, mtime) }

// Close closes the file.
func (r *Regular) Close() error { return r.f.Close() }
