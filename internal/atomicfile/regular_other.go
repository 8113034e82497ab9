//go:build !linux

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/hexmage/hexmage/internal/stat"
)

// Regular is a regular file that is open for reading.
type Regular struct {
	*os.File
	stat.Stamp        // when it was opened
	Links      uint64 // how many names it had; 0 where the system does not say
}

// OpenRegular opens the file, which must be a regular one and no symlink.
func OpenRegular(path string) (*Regular, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, unfit(path)
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
	return &Regular{File: f, Stamp: stat.Of(opened), Links: links(opened)}, nil
}

// Set gives the file the permissions and the modification time.
func (r *Regular) Set(perm fs.FileMode, mtime time.Time) error { return SetFile(r.File, perm, mtime) }

// OpenFile is os.OpenFile for what nobody waits for: regular files and folders.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag, perm)
}
