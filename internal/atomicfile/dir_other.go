//go:build !linux

package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/hexmage/hexmage/internal/stat"
)

func umask() fs.FileMode { return fs.ModePerm }

// Stat returns the Stamp of what is at name, which is not followed if it is a symlink.
func (d *Dir) Stat(name string) (stat.Stamp, error) { return stat.Lstat(d.Path(name)) }

// Create makes the new file name with content b, exactly the permissions perm, and the modification time (the zero time:
// now). When it fails, there is no such file, unless there was one before.
func (d *Dir) Create(name string, b []byte, perm fs.FileMode, mtime time.Time) error {
	f, err := os.OpenFile(d.Path(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = SetFile(f, perm, mtime)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
	}
	return err
}

// CreateStamped is Create under the name tmp, if that is not "", and then moves the file to name, replacing a file that is
// there. It returns the Stamp that the file has in its place.
func (d *Dir) CreateStamped(name, tmp string, b []byte, perm fs.FileMode, mtime time.Time) (stat.Stamp, error) {
	at := name
	if tmp != "" {
		at = tmp
	}
	if err := d.Create(at, b, perm, mtime); err != nil {
		return stat.Stamp{}, err
	}
	if at != name {
		if err := os.Rename(d.Path(at), d.Path(name)); err != nil {
			os.Remove(d.Path(at))
			return stat.Stamp{}, err
		}
	}
	return d.Stat(name)
}

// SetTime sets the modification time of what is at name.
func (d *Dir) SetTime(name string, mtime time.Time) error {
	return os.Chtimes(d.Path(name), time.Time{}, mtime)
}

// SetFile gives an open file the permissions and the modification time.
func SetFile(f *os.File, perm fs.FileMode, mtime time.Time) error {
	if err := f.Chmod(perm); err != nil || mtime.IsZero() {
		return err
	}
	return os.Chtimes(f.Name(), time.Time{}, mtime)
}

// Rename moves from to the file to, replacing what is there, and makes its folder when that is missing.
func (d *Dir) Rename(from, to string) error { return Rename(d.Path(from), d.Path(to)) }

// RenameNew is Rename for a place where nothing is: it fails with fs.ErrExist if something is there. A moment lies between
// looking and renaming.
func (d *Dir) RenameNew(from, to string) error {
	if _, err := os.Lstat(d.Path(to)); err == nil {
		return &fs.PathError{Op: "rename", Path: d.Path(to), Err: fs.ErrExist}
	}
	return d.Rename(from, to)
}

// Link gives the file name the further name to, where nothing may be.
func (d *Dir) Link(name, to string) error { return os.Link(d.Path(name), d.Path(to)) }

// Read returns the content of the file name and its Stamp, in few system calls when it has at most the expected number
// of bytes, and fails if it has more than limit.
func (d *Dir) Read(name string, expect int, limit int64) ([]byte, stat.Stamp, error) {
	return read(d.Path(name), limit)
}

// Read returns the content of a regular file that is no symlink, and the Stamp that it had when it was opened. It fails if it has more than limit
// bytes.
func Read(path string, limit int64, _ []byte) ([]byte, stat.Stamp, error) {
	if st, err := stat.Lstat(path); err != nil {
		return nil, st, err
	} else if !st.IsRegular() {
		return nil, st, &fs.PathError{Op: "read", Path: path, Err: ErrUnfit}
	}
	return read(path, limit)
}

// ReadWhole returns the content of the file name, which must have that many bytes.
func (d *Dir) ReadWhole(name string, size int64, _ []byte) ([]byte, error) {
	return ReadWhole(d.Path(name), size)
}

// ReadWhole is that of a Dir for any path that is no symlink.
func ReadWhole(path string, size int64) ([]byte, error) {
	b, _, err := Read(path, size, nil)
	if err == nil && int64(len(b)) != size {
		err = &fs.PathError{Op: "read", Path: path, Err: ErrUnfit}
	}
	return b, err
}

func read(path string, limit int64) ([]byte, stat.Stamp, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, stat.Stamp{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, stat.Stamp{}, err
	}
	s := stat.Of(info)
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && (!s.IsRegular() || int64(len(b)) > limit) {
		err = &fs.PathError{Op: "read", Path: f.Name(), Err: ErrUnfit}
	}
	return b, s, err
}

// Remove removes the file name.
func (d *Dir) Remove(name string) error { return os.Remove(d.Path(name)) }

// RemoveFolder removes the folder name, which must be empty.
func (d *Dir) RemoveFolder(name string) error { return os.Remove(d.Path(name)) }
