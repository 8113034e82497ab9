package srctree_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/patches/srctree"
)

// folder makes a folder with files, a program, a link and a version control folder.
func folder(t *testing.T) (string, fs.FS) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"a.txt": "a", "src/b.cpp": "b", "src/run.sh": "#!/bin/sh", ".git/config": "c", "sub/.git": "gitdir: x", "src/gone.h": "g"} {
		at := filepath.Join(dir, name)
		mode := fs.FileMode(0o640)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o750
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), mode)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("src/b.cpp", filepath.Join(dir, "link")); err != nil {
		t.Skip("this file system has no symbolic links")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return dir, root.FS()
}

// change makes one change of each sort.
func change(t *testing.T, tree *srctree.Tree) {
	t.Helper()
	if err := tree.Write("src/run.sh", []byte("#!/bin/dash")); err != nil {
		t.Fatal(err)
	}
	tree.Set("new/d.txt", srctree.File{Data: []byte("d"), Mode: 0o644})
	tree.Set("src/gone.h", srctree.File{Deleted: true})
}

func load(t *testing.T, dir string) map[string]srctree.File {
	t.Helper()
	files := map[string]srctree.File{}
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, at)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || name == "sub"):
			return fs.SkipDir
		case d.Type().IsRegular():
			info, err := d.Info()
			if err != nil {
				return err
			}
			data, err := os.ReadFile(at)
			files[name] = srctree.File{Data: data, Mode: srctree.Mode(info.Mode())}
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestTree(t *testing.T) {
	changed := map[string]srctree.File{
		"a.txt": {Data: []byte("a"), Mode: 0o644}, "src/b.cpp": {Data: []byte("b"), Mode: 0o644},
		"src/run.sh": {Data: []byte("#!/bin/dash"), Mode: 0o755}, "new/d.txt": {Data: []byte("d"), Mode: 0o644},
	}
	dir, fsys := folder(t)
	tree := srctree.New(fsys)
	clone := tree.Clone()
	change(t, tree)
	if names, _ := clone.Changes(); len(names) > 0 {
		t.Errorf("the clone has the changes %q", names)
	}
	if before, err := tree.Original("src/run.sh"); err != nil || string(before.Data) != "#!/bin/sh" || before.Mode != 0o755 {
		t.Errorf("before: %+v, %v", before, err)
	}
	if before, err := tree.Original("new/d.txt"); err != nil || !before.Deleted {
		t.Errorf("before there was none: %+v, %v", before, err)
	}

	out := filepath.Join(t.TempDir(), "out")
	if err := tree.CopyTo(context.Background(), out); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(changed, load(t, out)); diff != "" {
		t.Errorf("the copy (-want +got):\n%s", diff)
	}
	if to, err := os.Readlink(filepath.Join(out, "link")); err != nil || to != "src/b.cpp" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	if _, err := os.Lstat(filepath.Join(out, ".git")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf(".git is copied (%v)", err)
	}
	if err := tree.CopyTo(context.Background(), out); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("over another copy: %v", err)
	}
	if err := tree.CopyTo(context.Background(), filepath.Join(dir, "src", "copy")); err == nil ||
		!strings.Contains(err.Error(), "is inside the source") {
		t.Errorf("into itself: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "src", "copy")); err != nil {
		t.Fatal(err)
	}

	if err := tree.WriteBack(dir); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(changed, load(t, dir)); diff != "" {
		t.Errorf("in place (-want +got):\n%s", diff)
	}
	if info, err := os.Stat(filepath.Join(dir, "src", "run.sh")); err != nil || info.Mode() != 0o750 {
		t.Errorf("a file in place has other permissions: %v, %v", info.Mode(), err)
	}
}

func TestRefused(t *testing.T) {
	dir, fsys := folder(t)
	if err := os.Symlink("src", filepath.Join(dir, "folder")); err != nil {
		t.Fatal(err)
	}
	tree := srctree.New(fsys)
	for name, says := range map[string]string{"link": "not a regular file", "folder/b.cpp": "not a folder", "src": "not a regular file"} {
		if f, err := tree.File(name); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
		if err := tree.Free(name); err == nil {
			t.Errorf("%s is free", name)
		}
	}
	for _, name := range []string{"", ".", "../x", "/x", "a/../b", ".git/hooks/x", "sub/.GIT/x", `a\b`, "a\x00"} {
		if srctree.Safe(name) {
			t.Errorf("%q is safe", name)
		}
	}
	change(t, tree)
	if err := tree.Free("src/gone.h"); err != nil {
		t.Errorf("a file that is gone: %v", err)
	}
	if _, err := tree.Read("src/gone.h"); err == nil {
		t.Error("a file that is gone is read")
	}
	var names []string
	if err := tree.Walk(func(name string) error { names = append(names, name); return nil }); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a.txt", "new/d.txt", "src/b.cpp", "src/run.sh"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	if err := tree.CopyTo(context.Background(), t.TempDir()); err == nil ||
		!strings.Contains(err.Error(), "is outside the source") {
		t.Errorf("a link that leads out: %v", err)
	}
	large := fstest.MapFS{"x": {Data: make([]byte, srctree.MaxFile+1)}}
	if _, err := srctree.New(large).File("x"); err == nil || !strings.HasPrefix(err.Error(), "it is larger than") {
		t.Errorf("a large file: %v", err)
	}
}
