package series

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
)

// File is a file as a Tree has it.
type File struct {
	Data    []byte
	Mode    fs.FileMode // 0o644 or 0o755
	Deleted bool
}

// same says how two files differ; nil if they don't.
func (f File) same(g File) error {
	if f.Mode != g.Mode || f.Deleted != g.Deleted || !bytes.Equal(f.Data, g.Data) {
		return errors.New("they differ")
	}
	return nil
}

// Tree is a source tree with changes in memory over a base that stays as it is.
type Tree struct {
	base    fs.FS
	changes map[string]File
}

// NewTree returns the tree without changes. Symbolic links in base are never followed.
func NewTree(base fs.FS) *Tree { return &Tree{base: base, changes: map[string]File{}} }

// Clone returns a tree whose changes are its own.
func (t *Tree) Clone() *Tree { return t.clone() }

func (t *Tree) clone() *Tree { return &Tree{base: t.base, changes: maps.Clone(t.changes)} }

// Changes returns the slash paths of the changed files, sorted, each with what became of it.
func (t *Tree) Changes() ([]string, map[string]File) {
	return slices.Sorted(maps.Keys(t.changes)), t.changes
}

// Read returns a file's bytes with the changes so far.
func (t *Tree) Read(name string) ([]byte, error) {
	f, err := t.read(name)
	return f.Data, err
}

// Write replaces the bytes of a file that exists.
func (t *Tree) Write(name string, data []byte) error {
	f, err := t.read(name)
	if err != nil {
		return err
	}
	f.Data = data
	t.changes[name] = f
	return nil
}

// Put makes a file, in the place of one that may be there.
func (t *Tree) Put(name string, data []byte) error {
	if !safe(name) {
		return fmt.Errorf("%q is no path inside a source tree", name)
	}
	t.changes[name] = File{Data: data, Mode: 0o644}
	return nil
}

// Walk calls fn for each regular file of the tree with its changes, in order of path.
func (t *Tree) Walk(fn func(name string) error) error {
	var names []string
	err := fs.WalkDir(t.base, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if _, changed := t.changes[name]; !changed && d.Type().IsRegular() {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for name, f := range t.changes {
		if !f.Deleted {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if err := fn(name); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tree) read(name string) (File, error) {
	if f, ok := t.changes[name]; ok {
		if f.Deleted {
			return File{}, errors.New("an earlier change deletes it")
		}
		return f, nil
	}
	info, err := t.lstat(name)
	if err != nil {
		return File{}, err
	}
	if !info.Mode().IsRegular() {
		return File{}, fmt.Errorf("it is not a regular file (%s)", info.Mode().Type())
	}
	if info.Size() > MaxFile {
		return File{}, fmt.Errorf("it is larger than %d bytes", MaxFile)
	}
	r, err := t.base.Open(name)
	if err != nil {
		return File{}, plain(err)
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err != nil {
		return File{}, plain(err)
	}
	if len(data) > MaxFile {
		return File{}, fmt.Errorf("it is larger than %d bytes", MaxFile)
	}
	mode := fs.FileMode(0o644)
	if info.Mode()&0o100 != 0 {
		mode = 0o755
	}
	return File{Data: data, Mode: mode}, nil
}

// lstat looks at a file of the base, none of whose folders may be a symbolic link: a change behind a link would be
// written at another place than the one the patch names.
func (t *Tree) lstat(name string) (fs.FileInfo, error) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		info, err := fs.Lstat(t.base, dir)
		if err != nil {
			return nil, plain(err)
		}
		if !info.IsDir() {
			return nil, fmt.Errorf("%s is not a folder (%s)", dir, info.Mode().Type())
		}
	}
	info, err := fs.Lstat(t.base, name)
	return info, plain(err)
}

// free says why a new file cannot be at name.
func (t *Tree) free(name string) error {
	if f, ok := t.changes[name]; ok {
		if f.Deleted {
			return nil
		}
		return errors.New("it exists already")
	}
	_, err := t.lstat(name)
	switch {
	case err == nil:
		return errors.New("it exists already")
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

// plain takes the path from an error whose report names it already.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
