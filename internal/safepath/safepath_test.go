package safepath_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/internal/safepath"
	"github.com/hexmage/hexmage/internal/stat"
)

// world is a folder with files and links, beside one that is none of its business.
func world(t *testing.T) (root string) {
	t.Helper()
	base := t.TempDir()
	root = filepath.Join(base, "root")
	for name, text := range map[string]string{"root/a/file": "in", "root/b/c/file": "in", "outside/file": "out"} {
		at := filepath.Join(base, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"one": "a/file", "two": "one", "three": "b/../two", "folder": "b", "b/up": "../a/file",
		"b/c/back": "../../folder/c",
		"absolute": filepath.Join(root, "a/file"), "loop": "loop", "nothing": "a/none",
		"up-nothing": "none/../../outside/file",
		"out":        "../outside/file", "out-absolute": filepath.Join(base, "outside/file"), "out-chain": "b/chain",
		"b/chain":    "../out",
		"out-folder": "../outside", "again": "../root/a/file", "sneaky": "b/c/back/../../../outside/file",
	} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(root, filepath.Join(base, "alias")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(base, "alias", "a"), filepath.Join(root, "by-alias")); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestResolve(t *testing.T) {
	root := world(t)
	for _, c := range []struct {
		name, at string
		links    []string
	}{
		{".", "", nil},
		{"a/file", "a/file", nil},
		{"a/none/deeper", "a/none/deeper", nil},
		{"a/file/below", "a/file/below", nil},
		{"one", "a/file", []string{"one"}},
		{"two", "a/file", []string{"two", "one"}},
		{"three", "a/file", []string{"three", "two", "one"}},
		{"folder/c/file", "b/c/file", []string{"folder"}},
		{"folder/up", "a/file", []string{"folder", "b/up"}},
		{"b/c/back/back/file", "b/c/file", []string{"b/c/back", "folder", "b/c/back", "folder"}},
		{"absolute", "a/file", []string{"absolute"}},
		{"nothing", "a/none", []string{"nothing"}},
	} {
		got, err := safepath.Resolve(root, c.name)
		var want []string
		for _, l := range c.links {
			want = append(want, filepath.Join(root, l))
		}
		is, _ := stat.Lstat(got.Path)
		if err != nil || got.Path != filepath.Join(root, c.at) || !slices.Equal(got.Links, want) || got.Stamp != is ||
			is.Exists() != !strings.Contains(c.at, "none") && c.name != "a/file/below" {
			t.Errorf("%s: %+v, %v; there is %+v", c.name, got, err, is)
		}
	}
	// The root may be reached by a link, and links may name it as it really is.
	if got, err := safepath.Resolve(filepath.Join(filepath.Dir(root), "alias"), "absolute"); err != nil ||
		got.Path != filepath.Join(filepath.Dir(root), "alias", "a/file") {
		t.Errorf("by another name of the root: %+v, %v", got, err)
	}
	for name, link := range map[string]string{
		"out": "out", "out-absolute": "out-absolute", "out-chain": "out", "out-folder/file": "out-folder",
		"folder/chain": "out", "again": "again",
		"../outside/file": "", "sneaky": "", "by-alias/file": "by-alias",
	} {
		got, err := safepath.Resolve(root, name)
		var outside *safepath.OutsideError
		if !errors.As(err, &outside) || outside.Path != name || outside.Link != link && name != "sneaky" ||
			got.Path != "" {
			t.Errorf("%s: %q, %v", name, got.Path, err)
		}
	}
	for _, name := range []string{"loop", "up-nothing"} {
		if got, err := safepath.Resolve(root, name); err == nil || got.Path != "" {
			t.Errorf("%s: %q, %v", name, got.Path, err)
		}
	}
	// From the root of the file system nothing leads out.
	if got, err := safepath.Resolve("/", filepath.Join(root, "out-chain")); err != nil ||
		filepath.Base(filepath.Dir(got.Path)) != "outside" || len(got.Links) < 3 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestFS(t *testing.T) {
	root := world(t)
	if err := unix.Mkfifo(filepath.Join(root, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	fsys := safepath.FS(root)
	for _, name := range []string{"a/file", "three", "folder/up", "absolute"} {
		b, err := fs.ReadFile(fsys, name)
		info, serr := fs.Stat(fsys, name)
		if err != nil || serr != nil || string(b) != "in" || info.Size() != 2 || !info.Mode().IsRegular() {
			t.Errorf("%s: %q, %v, %v", name, b, err, serr)
		}
	}
	if found, err := fs.Glob(fsys, "folder/*/file"); err != nil || !slices.Equal(found, []string{"folder/c/file"}) {
		t.Errorf("%q, %v", found, err)
	}
	for _, name := range []string{"out", "out-folder/file", "out-chain", "pipe", "../outside/file"} {
		if b, err := fs.ReadFile(fsys, name); err == nil {
			t.Errorf("%s: %q", name, b)
		}
	}
	if _, err := fs.ReadDir(fsys, "out-folder"); err == nil {
		t.Error("a folder outside was listed")
	}
	if _, err := fs.Stat(fsys, "out"); !errors.As(err, new(*safepath.OutsideError)) {
		t.Errorf("%v", err)
	}
}
