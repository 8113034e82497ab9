// Package srctree holds changes of a source tree in memory, over an unchanged base. So a dry run and a real run do the
// same work.
//
// A tree with its changes can be copied to another folder or written back. The package never follows symbolic links and
// omits version control folders. It does not know the meaning of the sources or of changes.
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

const MaxFile = 64 << 20

// File is a file in a Tree.
type File struct {
	Data    []byte
	Mode    fs.FileMode // 0o644 or 0o755
	Deleted bool
}

// Equal reports whether both files have the same content and mode.
func (f File) Equal(g File) bool {
	return f.Mode == g.Mode && f.Deleted == g.Deleted && bytes.Equal(f.Data, g.Data)
}

// Mode converts permissions to the Mode of a File.
func Mode(perm fs.FileMode) fs.FileMode {
	if perm&0o100 != 0 {
		return 0o755
	}
	return 0o644
}

// Safe reports whether a name stays inside a tree, and outside the tree's version control folders.
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

// Tree is a source tree. It keeps changes in memory, and its base stays unchanged.
type Tree struct {
	base    fs.FS
	changes map[string]File
}

// New returns a tree without changes.
func New(base fs.FS) *Tree { return &Tree{base: base, changes: map[string]File{}} }

// Clone returns a tree with the same base and a copy of the changes.
func (t *Tree) Clone() *Tree { return &Tree{base: t.base, changes: maps.Clone(t.changes)} }

// Changes returns the sorted slash paths of the changed files, and the files by path.
func (t *Tree) Changes() ([]string, map[string]File) {
	return slices.Sorted(maps.Keys(t.changes)), t.changes
}

// Read returns a file's content, including changes.
func (t *Tree) Read(name string) ([]byte, error) {
	f, err := t.File(name)
	return f.Data, err
}

// Write replaces the content of an existing file.
func (t *Tree) Write(name string, data []byte) error {
	f, err := t.File(name)
	if err != nil {
		return err
	}
	f.Data = data
	t.Set(name, f)
	return nil
}

// Set replaces or adds a file. Safe must accept the name.
func (t *Tree) Set(name string, f File) { t.changes[name] = f }

// Walk calls fn for each regular file of the changed tree, sorted by path.
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

// File returns a file, including changes.
func (t *Tree) File(name string) (File, error) {
	if f, ok := t.changes[name]; ok {
		if f.Deleted {
			return File{}, errors.New("an earlier change deleted the file")
		}
		return f, nil
	}
	info, err := t.lstat(name)
	if err != nil {
		return File{}, err
	}
	if !info.Mode().IsRegular() {
		return File{}, fmt.Errorf("not a regular file (%s)", info.Mode().Type())
	}
	data, err := read(t.base, name)
	return File{Data: data, Mode: Mode(info.Mode())}, plain(err)
}

// Original returns a file of the base, or a File with Deleted set if the base does not contain the file.
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

// lstat returns the FileInfo of a base file. It rejects a symbolic link among the file's folders, because a change
// behind a link would go to another path.
func (t *Tree) lstat(name string) (fs.FileInfo, error) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		info, err := fs.Lstat(t.base, dir)
		if err != nil {
			return nil, plain(err)
		}
		if !info.IsDir() {
			return nil, fmt.Errorf("%s: not a folder (%s)", dir, info.Mode().Type())
		}
	}
	info, err := fs.Lstat(t.base, name)
	return info, plain(err)
}

// Free returns an error if a new file cannot use the name.
func (t *Tree) Free(name string) error {
	if f, ok := t.changes[name]; ok {
		if f.Deleted {
			return nil
		}
		return errors.New("file already exists")
	}
	_, err := t.lstat(name)
	switch {
	case err == nil:
		return errors.New("file already exists")
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

// plain removes the path from an error, because the message already names it.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// CopyTo writes the changed tree to the folder out, which must be empty or missing. It omits version control folders.
//
// It copies symbolic links that stay inside the tree. Other links and special files are errors. If the copy fails, the
// files written so far remain.
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
		return errors.Join(err, fmt.Errorf("output folder %s is not empty", out))
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
			return nil // WriteBack writes or deletes it
		}
		switch {
		case d.IsDir():
			if d.Name() == ".git" {
				return fs.SkipDir
			}
			if info, err := d.Info(); err != nil || os.SameFile(info, here) {
				return errors.Join(err, fmt.Errorf("output folder %s is inside the source", out))
			}
			return target.Mkdir(name, 0o755)
		case d.Type() == fs.ModeSymlink:
			return t.copyLink(target, name)
		case d.Type().IsRegular():
			return t.copyFile(target, name)
		}
		return fmt.Errorf("%s: not a file, folder or symbolic link", name)
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
		return fmt.Errorf("symbolic link %s: target %s is outside the source", name, to)
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
