package atomicfile_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
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

// SetFile sets mode and time whatever the umask is.
func TestSetFile(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mtime := time.Unix(1_000_000_000, 0)
	err = atomicfile.SetFile(f, 0o666, mtime)
	is, serr := f.Stat()
	if err != nil || serr != nil || is.Mode() != 0o666 || !is.ModTime().Equal(mtime) {
		t.Errorf("%v, %v, %v", is, err, serr)
	}
}

// OpenRegular opens no folder and no missing file.
func TestOpenRegular(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, open := range []string{"folder", "none"} {
		if f, _, err := atomicfile.OpenRegular(filepath.Join(root, open)); err == nil {
			t.Errorf("%s was opened", f.Name())
		}
	}
}
