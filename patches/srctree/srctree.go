// Package srctree is a source tree with changes in memory over a base that stays as it is, so that to try a change and to make it are
// the same work; it is then copied elsewhere or written back. One enters it with New. Symbolic links are never followed, and version
// control folders are no part of a tree. It does not know what the sources are, nor who changes them.
package srctree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/boundedfile"
)

// MaxFile bounds, in bytes, a file that is read into memory.
const MaxFile = 64 << 20

// File is a file as a Tree has it.
type File struct {
	Data    []byte
	Mode    fs.FileMode // 0o644 or 0o755
	Deleted bool
}

// Equal tells whether the files are the same.
func (f File) Equal(g File) bool {
	return f.Mode == g.Mode && f.Deleted == g.Deleted && bytes.Equal(f.Data, g.Data)
}

// Mode is the mode of a File with these permissions.
func Mode(perm fs.FileMode) fs.FileMode {
	if perm&0o100 != 0 {
		return 0o755
	}
	return 0o644
}

// Safe tells whether a name stays inside a tree and outside its version control.
func Safe(name string) bool {
	if !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\\\x00") {
		return false
	}
	for elem := range strings.SplitSeq(name, "/") {
		if strings.EqualFold(elem, ".git") {
			return false
		}
	}
	return true
}

// Tree is a source tree with changes in memory over a base that stays as it is.
type Tree struct {
	base    fs.FS
	changes map[string]File
}

// New returns the tree without changes.
func New(base fs.FS) *Tree { return &Tree{base: base, changes: map[string]File{}} }

// Clone returns a tree whose changes are its own.
func (t *Tree) Clone() *Tree { return &Tree{base: t.base, changes: maps.Clone(t.changes)} }

// Changes returns the slash paths of the changed files, sorted, each with what became of it.
func (t *Tree) Changes() ([]string, map[string]File) {
	return slices.Sorted(maps.Keys(t.changes)), t.changes
}

// Read returns a file's bytes with the changes so far.
func (t *Tree) Read(name string) ([]byte, error) {
	f, err := t.File(name)
	return f.Data, err
}

// Write replaces the bytes of a file that exists.
func (t *Tree) Write(name string, data []byte) error {
	f, err := t.File(name)
	if err != nil {
		return err
	}
	f.Data = data
	t.Set(name, f)
	return nil
}

// Set makes the file what f is; the name is Safe.
func (t *Tree) Set(name string, f File) { t.changes[name] = f }

// Walk calls fn for each regular file of the tree with its changes, in order of path.
func (t *Tree) Walk(fn func(name string) error) error {
	var names []string
	err := fs.WalkDir(t.base, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" && d.IsDir() {
			return fs.SkipDir
		}
		if _, changed := t.changes[name]; !changed && d.Type().IsRegular() && d.Name() != ".git" {
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

// File returns a file with the changes so far.
func (t *Tree) File(name string) (File, error) {
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
	data, err := read(t.base, name)
	return File{Data: data, Mode: Mode(info.Mode())}, plain(err)
}

// Original returns a file as it was before the changes: Deleted where there was none.
func (t *Tree) Original(name string) (File, error) {
	f, err := New(t.base).File(name)
	if errors.Is(err, fs.ErrNotExist) {
		return File{Deleted: true}, nil
	}
	return f, err
}

func read(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return boundedfile.ReadAll(f, "it", MaxFile)
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

// Free says why a new file cannot be at name.
func (t *Tree) Free(name string) error {
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

// CopyTo writes the tree with its changes to the folder out, which must be empty or not exist. Version control folders
// stay behind. Symbolic links are copied as such when they stay inside the tree; what is neither file, folder nor such a
// link is an error. A failed copy leaves what it wrote.
func (t *Tree) CopyTo(ctx context.Context, out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	target, err := os.OpenRoot(out)
	if err != nil {
		return err
	}
	defer target.Close()
	if entries, err := fs.ReadDir(target.FS(), "."); err != nil || len(entries) > 0 {
		return errors.Join(err, fmt.Errorf("%s is not empty", out))
	}
	here, err := target.Stat(".")
	if err != nil {
		return err
	}
	err = fs.WalkDir(t.base, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, changed := t.changes[name]; changed {
			return nil // WriteBack writes it, or it is gone
		}
		switch {
		case d.IsDir():
			if d.Name() == ".git" {
				return fs.SkipDir
			}
			if info, err := d.Info(); err != nil || os.SameFile(info, here) {
				return errors.Join(err, fmt.Errorf("the copy %s is inside its source", out))
			}
			return target.Mkdir(name, 0o755)
		case d.Type() == fs.ModeSymlink:
			return t.copyLink(target, name)
		case d.Type().IsRegular():
			return t.copyFile(target, name)
		}
		return fmt.Errorf("%s is neither file, folder nor symbolic link", name)
	})
	if err != nil {
		return err
	}
	return t.WriteBack(out)
}

func (t *Tree) copyLink(target *os.Root, name string) error {
	to, err := fs.ReadLink(t.base, name)
	if err != nil {
		return err
	}
	if path.IsAbs(to) || !fs.ValidPath(path.Join(path.Dir(name), to)) {
		return fmt.Errorf("symbolic link %s leads out of the source, to %s", name, to)
	}
	return target.Symlink(to, name)
}

func (t *Tree) copyFile(target *os.Root, name string) error {
	in, err := t.base.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := target.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, Mode(info.Mode()))
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
