package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// SetFile sets the permissions of an open file. If mtime is not zero, SetFile also sets the modification time.
func SetFile(f *os.File, perm fs.FileMode, mtime time.Time) error {
	if err := f.Chmod(perm); err != nil || mtime.IsZero() {
		return err
	}
	return setTime(f, mtime)
}

// OpenRegular opens a regular file and returns the file's metadata. It fails for symbolic links.
func OpenRegular(path string) (*os.File, fs.FileInfo, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return nil, nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	opened, err := f.Stat()
	if err == nil && !os.SameFile(st, opened) {
		err = &fs.PathError{Op: "open", Path: path, Err: errors.New("another process replaced the file while " +
			"hexmage opened it")}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, opened, nil
}
