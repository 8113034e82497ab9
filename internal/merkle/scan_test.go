//go:build unix

package merkle_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/memory"
)

func paths(d *merkle.Dir) []string {
	got := []string{}
	d.Walk(func(p string, e merkle.Entry) error {
		if e.Dir == nil || len(e.Dir.Files)+len(e.Dir.Dirs)+len(e.Dir.Symlinks) == 0 {
			got = append(got, p)
		}
		return nil
	})
	return got
}

func TestScan(t *testing.T) {
	dir := t.TempDir()
	for _, p := range []string{"src/a.cpp", "src/ops/b.cpp", "src/ops/b.h", "include/c.h", ".git/config", "README.md"} {
		write(t, filepath.Join(dir, p), p)
	}
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a.cpp", filepath.Join(dir, "src", "link.cpp")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, ".git", "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := merkle.Scan(t.Context(), merkle.HashFiles(fn), dir, merkle.ScanOptions{}); err == nil ||
		!strings.Contains(err.Error(), ".git/pipe") {
		t.Errorf("a pipe was taken: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, ".git", "pipe")); err != nil {
		t.Fatal(err)
	}
	d, err := merkle.Scan(t.Context(), merkle.HashFiles(fn), dir, merkle.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(paths(d), " "),
		".git/config README.md empty include/c.h src/a.cpp src/link.cpp src/ops/b.cpp src/ops/b.h"; got != want {
		t.Errorf("all of it is %q, want %q", got, want)
	}
	if _, err := merkle.Scan(t.Context(), merkle.HashFiles(fn), filepath.Join(dir, "none"),
		merkle.ScanOptions{}); err == nil {
		t.Error("a folder that is not there was read")
	}
}

func TestScanSymlinksOut(t *testing.T) {
	for _, target := range []string{"/etc/passwd", "../x", "a/../../x"} {
		dir := t.TempDir()
		if err := os.Symlink(target, filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
		if _, err := merkle.Scan(t.Context(), merkle.HashFiles(fn), dir, merkle.ScanOptions{}); err == nil ||
			!strings.Contains(err.Error(), "link") {
			t.Errorf("a symlink to %s: %v, want an error that names it", target, err)
		}
	}
}

func TestMaterializeRefusesWhatEscapes(t *testing.T) {
	blobs := memory.NewBlobs()
	for name, d := range map[string]*merkle.Dir{
		"symlink up":       {Symlinks: map[string]string{"l": "../x"}},
		"symlink absolute": {Symlinks: map[string]string{"l": "/etc"}},
		"name up":          {Symlinks: map[string]string{"../l": "x"}},
		"folder up":        {Dirs: map[string]*merkle.Dir{"..": {}}},
		"file up":          {Files: map[string]*merkle.File{"../f": {Digest: putText(t, blobs, "x")}}},
	} {
		top := t.TempDir()
		dest := filepath.Join(top, "a", "dest")
		if err := os.Mkdir(filepath.Dir(dest), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := merkle.Materialize(t.Context(), blobs, d, dest, false); err == nil {
			t.Errorf("%s: written", name)
		}
		if got := listHost(t, top); len(got) != 1 || got[0] != "a/dest/" {
			t.Errorf("%s: written %v", name, got)
		}
	}
}

func TestMaterializeCopy(t *testing.T) {
	blobs := diskStore(t)
	d, _ := build(t, blobs, "bin/a*=1", "b=2")
	dest := filepath.Join(t.TempDir(), "out")
	if err := merkle.Materialize(t.Context(), blobs, d, dest, true); err != nil {
		t.Fatal(err)
	}
	want(t, listHost(t, dest), "b=2", "bin/a*=1")
	for p, mode := range map[string]os.FileMode{"bin/a": 0o755, "b": 0o644} {
		if st, err := os.Stat(filepath.Join(dest, p)); err != nil || st.Mode() != mode {
			t.Errorf("%s has mode %v, %v; want %v", p, st.Mode(), err, mode)
		}
	}
	write(t, filepath.Join(dest, "b"), "changed")
	want(t, list(t, blobs, d), "b=2", "bin/a*=1")
}

func TestCapture(t *testing.T) {
	for name, blobs := range map[string]store.Blobs{"memory": memory.NewBlobs(), "disk": diskStore(t)} {
		root := t.TempDir()
		write(t, filepath.Join(root, "out/prog"), "elf")
		if err := os.Chmod(filepath.Join(root, "out/prog"), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(root, "out/empty"), "")
		write(t, filepath.Join(root, "tree/a/f"), "1")
		if err := os.Mkdir(filepath.Join(root, "tree/none"), 0o755); err != nil {
			t.Fatal(err)
		}
		for link, target := range map[string]string{"tree/l": "a/f", "lib.so": "out/prog", "loop": "loop",
			"away": "/etc/hostname", "up": ".."} {
			if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
				t.Fatal(err)
			}
		}
		files, dirs, err := merkle.Capture(t.Context(), blobs, fn, root,
			[]string{"out/prog", "lib.so", "missing", "tree", "out/empty", "missing/too"})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		elf := fn.Bytes([]byte("elf"))
		if len(files) != 3 || files[0] != (action.OutputFile{Path: "out/prog", Digest: elf, Executable: true}) ||
			files[1].Path != "lib.so" || files[1].Digest != elf ||
			files[2] != (action.OutputFile{Path: "out/empty", Digest: fn.Bytes(nil)}) {
			t.Errorf("%s: files %v", name, files)
		}
		if len(dirs) != 1 || dirs[0].Path != "tree" {
			t.Fatalf("%s: folders %v", name, dirs)
		}
		want(t, list(t, blobs, merkle.Ref(dirs[0].Root)), "a/f=1", "l->a/f", "none/")
		whole, err := merkle.LoadTree(t.Context(), blobs, dirs[0].Tree)
		if err != nil {
			t.Fatal(err)
		}
		if r, _ := whole.Encode(fn); r != dirs[0].Root {
			t.Errorf("%s: Tree has root %v, want %v", name, r, dirs[0].Root)
		}
		for _, bad := range []string{"away", "up", "../x", "/etc/hostname", "", ".", "loop"} {
			if files, dirs, err := merkle.Capture(t.Context(), blobs, fn, root, []string{bad}); err == nil {
				t.Errorf("%s: captured %q: %v %v", name, bad, files, dirs)
			}
		}
	}
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
