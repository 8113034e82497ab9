package srctree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// staged ends the name of a file that is written before it takes the place of another.
const staged = ".hexmage-new"

// WriteBack writes the tree's changes into the folder that its base was read from. First all new files are written next to
// the old ones, then each takes its place; an error leaves the folder as it was, or says which files could not be put back.
func (t *Tree) WriteBack(dir string) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	names, changes := t.Changes()
	base := New(root.FS())
	old := map[string]File{}
	perm := map[string]fs.FileMode{}
	var made, folders, placed []string
	defer func() {
		for _, name := range made {
			_ = root.Remove(name)
		}
		if err == nil {
			return
		}
		for _, name := range placed {
			if back := putBack(root, name, old[name], perm[name]); back != nil {
				err = errors.Join(err, fmt.Errorf("%s could not be put back: %w", name, back))
			}
		}
		for i := len(folders) - 1; i >= 0; i-- {
			_ = root.Remove(folders[i])
		}
	}()
	for _, name := range names {
		if old[name], err = base.Original(name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		perm[name] = 0o666 // before umask
		if info, err := root.Lstat(name); err == nil {
			perm[name] = info.Mode().Perm()
		}
		f := changes[name]
		if f.Deleted {
			continue
		}
		if err := mkdirs(root, path.Dir(name), &folders); err != nil {
			return err
		}
		if err := write(root, name+staged, f, perm[name], old[name].Deleted); err != nil {
			return err
		}
		made = append(made, name+staged)
	}
	for _, name := range names {
		if changes[name].Deleted {
			if old[name].Deleted {
				continue
			}
			err = root.Remove(name)
		} else {
			err = root.Rename(name+staged, name)
		}
		if err != nil {
			return err
		}
		placed = append(placed, name)
	}
	return nil
}

// write makes a file. One that is new gets the permissions that the user's umask leaves.
func write(root *os.Root, name string, f File, perm fs.FileMode, isNew bool) error {
	if f.Mode&0o100 != 0 {
		perm |= perm & 0o444 >> 2
	} else {
		perm &^= 0o111
	}
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is in the way: delete it, an earlier run has left it", name)
	}
	if err != nil {
		return err
	}
	_, err = out.Write(f.Data)
	if !isNew {
		err = errors.Join(err, out.Chmod(perm))
	}
	if err = errors.Join(err, out.Close()); err != nil {
		_ = root.Remove(name)
	}
	return err
}

func putBack(root *os.Root, name string, f File, perm fs.FileMode) error {
	if f.Deleted {
		return root.Remove(name)
	}
	if err := write(root, name+staged, f, perm, false); err != nil {
		return err
	}
	return root.Rename(name+staged, name)
}

// mkdirs makes a folder and those it is in, and adds what it made to the list.
func mkdirs(root *os.Root, dir string, made *[]string) error {
	if dir == "." {
		return nil
	}
	parts := strings.Split(dir, "/")
	for i := range parts {
		name := strings.Join(parts[:i+1], "/")
		switch err := root.Mkdir(name, 0o777); {
		case err == nil:
			*made = append(*made, name)
		case !errors.Is(err, fs.ErrExist):
			return err
		}
	}
	return nil
}
