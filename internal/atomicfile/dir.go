package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// Dir is a folder that is kept open, below which files are made, moved and looked at with as few system calls as the
// system allows: a store of small files spends its time in those. Nothing of it syncs. Names are slash paths relative to
// the folder, or absolute ones. It is closed when nothing refers to it any more.
type Dir struct {
	path string
	f    *os.File
	pid  string
	mask fs.FileMode // what the process's umask takes from new files; all bits where it is not known
}

// ErrUnfit is what Read returns, wrapped, for what is no regular file, or too large.
var ErrUnfit = errors.New("it is no regular file, or too large")

// OpenDir opens the folder, which must be there.
func OpenDir(path string) (*Dir, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if st, err := f.Stat(); err != nil || !st.IsDir() {
		f.Close()
		return nil, fmt.Errorf("%s is no folder", path)
	}
	return &Dir{path: path, f: f, pid: strconv.Itoa(os.Getpid()), mask: umask()}, nil
}

// Path returns where name is.
func (d *Dir) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(d.path, filepath.FromSlash(name))
}

// TempName returns a name in the folder dir (a slash path; "" is the Dir itself) that no other process and no other call
// uses, and of which Sweep can tell whether its maker lives.
func (d *Dir) TempName(dir, prefix string) string {
	name := prefix + "-" + d.pid + "-" + strconv.FormatUint(rand.Uint64(), 36)
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// makeFolder makes the folder that name is in.
func (d *Dir) makeFolder(name string) error {
	dir := filepath.Dir(d.Path(name))
	if err := os.Mkdir(dir, 0o755); !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.MkdirAll(dir, 0o755) // which looks at it first: as a rule only the last folder is missing
}
