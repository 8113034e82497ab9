package patches

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/hexmage/hexmage/patches/series"
)

// copyTree writes the source with its changes to out. Version control folders stay behind. Symbolic links are copied as
// such when they stay inside the tree; anything else that is not a file or folder is an error.
func copyTree(ctx context.Context, source *os.Root, out string, tree *series.Tree) error {
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
	names, changes := tree.Changes()
	err = fs.WalkDir(source.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		switch {
		case name == ".":
			return nil
		case d.IsDir():
			if d.Name() == ".git" {
				return fs.SkipDir
			}
			if info, err := d.Info(); err != nil || os.SameFile(info, here) {
				return errors.Join(err, fmt.Errorf("the copy %s is inside the source", out))
			}
			return target.Mkdir(name, 0o755)
		case slices.Contains(names, name): // few, and written below
			return nil
		case d.Type() == fs.ModeSymlink:
			return copyLink(source, target, name)
		case d.Type().IsRegular():
			return copyFile(source, target, name)
		}
		return fmt.Errorf("%s is neither file, folder nor symbolic link", name)
	})
	if err != nil {
		return err
	}
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

func copyLink(source, target *os.Root, name string) error {
	to, err := source.Readlink(name)
	if err != nil {
		return err
	}
	if path.IsAbs(to) || !fs.ValidPath(path.Join(path.Dir(name), to)) {
		return fmt.Errorf("symbolic link %s leads out of the source, to %s", name, to)
	}
	return target.Symlink(to, name)
}

func copyFile(source, target *os.Root, name string) error {
	in, err := source.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if info.Mode()&0o100 != 0 {
		mode = 0o755
	}
	out, err := target.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
