package srctree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

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
			return nil // written below, or gone
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
	names, changes := t.Changes()
	for _, name := range names {
		f := changes[name]
		if f.Deleted {
			continue
		}
		if err := target.MkdirAll(path.Dir(name), 0o755); err != nil {
			return err
		}
		if err := target.WriteFile(name, f.Data, f.Mode); err != nil {
			return err
		}
	}
	return nil
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
