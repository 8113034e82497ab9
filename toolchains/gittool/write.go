package gittool

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/hexmage/hexmage/internal/archive"
)

const maxFiles = 1_000_000

// write puts the tree's files into a folder beside out and renames it. Links are made last, so nothing is written
// through one.
func write(ctx context.Context, tree *object.Tree, out string) error {
	if names, err := os.ReadDir(out); err == nil && len(names) > 0 {
		return fmt.Errorf("the folder %s is not empty: remove it first", out)
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(out), ".checkout-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	root, err := os.OpenRoot(tmp)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := writeFiles(ctx, tree, root); err != nil {
		return err
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	_ = os.Remove(out) // an empty folder
	return os.Rename(tmp, out)
}

func writeFiles(ctx context.Context, tree *object.Tree, root *os.Root) error {
	walker := object.NewTreeWalker(tree, true, nil)
	defer walker.Close()
	links := map[string]string{}
	for n := 0; ; n++ {
		name, entry, err := walker.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if n > maxFiles {
			return fmt.Errorf("more than %d files", maxFiles)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := checkName(name); err != nil {
			return err
		}
		switch entry.Mode {
		case filemode.Dir:
			err = root.MkdirAll(name, 0o755)
		case filemode.Submodule:
			// As `git clone` leaves it: an empty folder. A step `git` of its own brings the submodule.
			err = root.MkdirAll(name, 0o755)
		case filemode.Symlink:
			var b []byte
			if b, err = blob(tree, &entry); err == nil {
				links[name] = string(b)
			}
		default:
			err = writeFile(tree, &entry, root, name)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := archive.CheckLinks(links); err != nil {
		return err
	}
	for name, target := range links {
		if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return err
		}
		if err := root.Symlink(target, name); err != nil {
			return err
		}
	}
	return nil
}

func checkName(name string) error {
	for _, e := range strings.Split(name, "/") {
		if e == "" || e == "." || e == ".." || strings.EqualFold(e, ".git") {
			return fmt.Errorf("the commit has an unsafe path: %q", name)
		}
	}
	return nil
}

func reader(tree *object.Tree, entry *object.TreeEntry) (io.ReadCloser, error) {
	f, err := tree.TreeEntryFile(entry)
	if err != nil {
		return nil, err
	}
	return f.Reader()
}

func blob(tree *object.Tree, entry *object.TreeEntry) ([]byte, error) {
	r, err := reader(tree, entry)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, 4096))
}

func writeFile(tree *object.Tree, entry *object.TreeEntry, root *os.Root, name string) error {
	r, err := reader(tree, entry)
	if err != nil {
		return err
	}
	defer r.Close()
	perm := os.FileMode(0o644)
	if entry.Mode == filemode.Executable {
		perm = 0o755
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}
