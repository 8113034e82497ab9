package build

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/stat"
)

// exported remembers what stands at an output's place, so that an unchanged output costs one stat a file.
type exported struct {
	id    string // what it is, as identity says
	dir   bool
	files []fileStamp
}

// fileStamp is what the file system says of an exported file. A tampered, replaced or deleted one has another stamp.
type fileStamp struct {
	path  string // slash path relative to the output's place; "" for a file
	stamp stat.Stamp
}

// stamps returns those of all files below a folder that was just exported.
func stamps(dir string) ([]fileStamp, error) {
	var out []fileStamp
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		st, err := stat.Lstat(p)
		out = append(out, fileStamp{filepath.ToSlash(rel), st})
		return err
	})
	return out, err
}

// intact tells of each of names whether what was exported under it to the folder out is still there, every file with
// its stamp. It looks at many files at once.
func intact(out string, names []string, known map[string]exported) ([]bool, error) {
	there := make([]bool, len(names))
	var paths []string
	for _, name := range names {
		e := known[name]
		if e.dir || len(e.files) == 0 {
			paths = append(paths, name)
		}
		for _, f := range e.files {
			paths = append(paths, path.Join(name, f.path))
		}
	}
	found, err := stat.Lstats(out, paths, 0)
	if errors.Is(err, fs.ErrPermission) {
		err = nil // what cannot be looked at does not stand: exporting it says what is wrong
	}
	for i, name := range names {
		e := known[name]
		ok := true
		if e.dir || len(e.files) == 0 {
			ok = e.dir && found[0].IsDir()
			found = found[1:]
		}
		for _, f := range e.files {
			ok = ok && found[0] == f.stamp && found[0].Exists()
			found = found[1:]
		}
		there[i] = ok
	}
	return there, err
}
