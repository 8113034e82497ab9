package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/stat"
)

func TestWriteFileReplacesAndMakesFolders(t *testing.T) {
	tmp := t.TempDir()
	path := filepath.Join(tmp, "a", "b", "f")
	for _, want := range []string{"one", "two, longer", ""} {
		if err := atomicfile.WriteFile(tmp, path, []byte(want), 0o444); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Fatalf("got %q, %v; want %q", got, err, want)
		}
		if st, err := os.Stat(path); err != nil || st.Mode() != 0o444 {
			t.Fatalf("mode %v, %v", st.Mode(), err)
		}
	}
	left, err := os.ReadDir(tmp)
	if err != nil || len(left) != 1 {
		t.Fatalf("temporary files left: %v, %v", left, err)
	}
}

func TestFailureLeavesWhatWasThere(t *testing.T) {
	tmp := t.TempDir()
	path := filepath.Join(tmp, "dir")
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.WriteFile(tmp, path, []byte("x"), 0o644); err == nil {
		t.Fatal("a file replaced a folder")
	}
	if left, _ := os.ReadDir(tmp); len(left) != 1 {
		t.Fatalf("temporary file left: %v", left)
	}
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	dead := exec.Command(os.Args[0], "-test.run=^$")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	names := map[string]struct {
		name string
		old  bool
		stay bool
	}{
		"dead and old":   {"put-" + strconv.Itoa(dead.Process.Pid) + "-1", true, false},
		"dead and young": {"put-" + strconv.Itoa(dead.Process.Pid) + "-2", false, true},
		"folder's form":  {"run-" + strconv.Itoa(dead.Process.Pid), true, false},
		"alive and old":  {atomicfile.TempName("put") + "3", true, true},
		"not ours":       {"notes.txt", true, true},
		"not ours, pid":  {"a-b-c", true, true},
	}
	for _, n := range names {
		p := filepath.Join(dir, n.name)
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if n.old {
			old := time.Now().Add(-2 * time.Hour)
			if err := os.Chtimes(p, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := atomicfile.Sweep(dir, time.Hour); err != nil {
		t.Fatal(err)
	}
	for what, n := range names {
		_, err := os.Stat(filepath.Join(dir, n.name))
		if (err == nil) != n.stay {
			t.Errorf("%s: stays %v, want %v", what, err == nil, n.stay)
		}
	}
}

func TestNamesOfAnyLength(t *testing.T) {
	root := t.TempDir()
	d, err := atomicfile.OpenDir(root)
	if err != nil {
		t.Fatal(err)
	}
	folder := strings.Repeat("f", 200)
	if err := os.Mkdir(filepath.Join(root, folder), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 53, 54, 55, 56, 200, 255} { // with the folder, 254 to 257 bytes, and more
		name := folder + "/" + strings.Repeat("n", n)
		if err := d.Create(name, []byte("x"), 0o644, time.Time{}); err != nil {
			t.Fatal(n, err)
		}
		s, err := d.Stat(name)
		b, _, rerr := d.Read(name, 0, 1)
		is, lerr := os.Lstat(filepath.Join(root, name))
		if err != nil || rerr != nil || lerr != nil || string(b) != "x" || s != stat.Of(is) {
			t.Errorf("%d: %v, %q, %v, %v, %v", n, s, b, err, rerr, lerr)
		}
		if err := d.Remove(name); err != nil {
			t.Error(n, err)
		}
		if _, err := d.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%d: it is there after it was removed: %v", n, err)
		}
	}
	for _, name := range []string{"x\x00y", strings.Repeat("n", 300) + "\x00"} {
		if err := d.Create(name, nil, 0o644, time.Time{}); err == nil {
			t.Errorf("%q was made", name)
		}
		if _, err := d.Stat(name); err == nil {
			t.Errorf("%q is there", name)
		}
		if err := d.Remove(name); err == nil {
			t.Errorf("%q was removed", name)
		}
	}
	if err := d.RemoveFolder(folder); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) > 0 {
		t.Error(entries, err)
	}
}
