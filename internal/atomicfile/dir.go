package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hexmage/hexmage/internal/stat"
)

// Dir is a folder below which files are made and looked at. Nothing of it syncs. Names are slash paths relative to the
// folder.
type Dir struct{ path string }

// OpenDir returns the folder, which must exist.
func OpenDir(path string) (*Dir, error) {
	st, err := os.Stat(path)
	if err == nil && !st.IsDir() {
		err = fmt.Errorf("%s: not a folder", path)
	}
	return &Dir{path}, err
}

// Path returns where name is.
func (d *Dir) Path(name string) string { return filepath.Join(d.path, filepath.FromSlash(name)) }

// TempName returns a name in the folder dir (a slash path; "" is the Dir itself) that no other process and no other call
// uses, and of which Sweep can tell whether its maker lives.
func (d *Dir) TempName(dir, prefix string) string {
	name := TempName(prefix) + strconv.FormatUint(rand.Uint64(), 36)
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// Stat returns the Stamp of what is at name, which is not followed if it is a symlink.
func (d *Dir) Stat(name string) (stat.Stamp, error) { return stat.Lstat(d.Path(name)) }

// CreateStamped makes the new file name with content b, exactly the permissions perm, and the modification time (the
// zero time: now). If tmp is not "", it makes the file under that name and then moves it to name, replacing a file that
// is there. It returns the Stamp that the file has in its place. When it fails, it leaves no file.
func (d *Dir) CreateStamped(name, tmp string, b []byte, perm fs.FileMode, mtime time.Time) (stat.Stamp, error) {
	at := name
	if tmp != "" {
		at = tmp
	}
	f, err := os.OpenFile(d.Path(at), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return stat.Stamp{}, err
	}
	_, err = f.Write(b)
	if err == nil {
		err = SetFile(f, perm, mtime)
	}
	if err = errors.Join(err, f.Close()); err == nil && at != name {
		err = os.Rename(d.Path(at), d.Path(name))
	}
	if err != nil {
		return stat.Stamp{}, errors.Join(err, os.Remove(d.Path(at)))
	}
	return d.Stat(name)
}

// Remove removes the file or the empty folder name.
func (d *Dir) Remove(name string) error { return os.Remove(d.Path(name)) }

// SetFile gives an open file the permissions and, unless it is zero, the modification time.
func SetFile(f *os.File, perm fs.FileMode, mtime time.Time) error {
	if err := f.Chmod(perm); err != nil || mtime.IsZero() {
		return err
	}
	return setTime(f, mtime)
}

// OpenRegular opens a regular file that is no symlink, and returns what the file system says of it.
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
		err = &fs.PathError{Op: "open", Path: path, Err: errors.New("replaced while it was opened")}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, opened, nil
}
