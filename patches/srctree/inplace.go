package srctree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
)

// staged is the suffix of a new file that has not yet replaced the old one.
const staged = ".hexmage-new"

// WriteBack writes the tree's changes into its base folder. If it cannot write all new files, for example on a full
// disk, the folder stays unchanged.
func (t *Tree) WriteBack(dir string) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	names, changes := t.Changes()
	var made []string
	defer func() {
		for _, name := range made { // files that replaced another no longer exist
			_ = root.Remove(name + staged)
		}
	}()
	for _, name := range names {
		f := changes[name]
		if f.Deleted {
			continue
		}
		if err := root.MkdirAll(path.Dir(name), 0o777); err != nil {
			return err
		}
		if err := write(root, name, f); err != nil {
			return err
		}
		made = append(made, name)
	}
	for i, name := range names {
		if changes[name].Deleted {
			if err = root.Remove(name); errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		} else {
			err = root.Rename(name+staged, name)
		}
		if err != nil {
			return fmt.Errorf("%w; %d of %d files are already replaced", err, i, len(names))
		}
	}
	return nil
}

// write writes a new file beside the one to replace, with the same permissions. Without an old file, the user's
// umask decides the permissions.
func write(root *os.Root, name string, f File) error {
	perm, old := fs.FileMode(0o666), false
	if info, err := root.Lstat(name); err == nil {
		perm, old = info.Mode().Perm(), true
	}
	if f.Mode&0o100 != 0 {
		perm |= perm & 0o444 >> 2
	} else {
		perm &^= 0o111
	}
	out, err := root.OpenFile(name+staged, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s: left over from an earlier run: delete it", name+staged)
	}
	if err != nil {
		return err
	}
	_, err = out.Write(f.Data)
	if old {
		err = errors.Join(err, out.Chmod(perm))
	}
	if err = errors.Join(err, out.Close()); err != nil {
		_ = root.Remove(name + staged)
	}
	return err
}
