package gc_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/gc"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// What a killed build left goes away; what a running one has stays, and so does everything while one runs.
func TestTidy(t *testing.T) {
	root := t.TempDir()
	dead := filepath.Join(root, "tmp", "run-4194304-1", "exec-1")
	other := filepath.Join(root, "tmp", "blob-4194304-1")
	for _, dir := range []string{dead, other} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var ended []string
	end := func(dirs ...string) { ended = append(ended, dirs...) }
	there := func(path string) bool { _, err := os.Stat(path); return err == nil }

	done, err := gc.LockShared(t.Context(), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	gc.RemoveStale(t.Context(), root, end)
	if !there(dead) || len(ended) > 0 {
		t.Errorf("a folder was removed while a build ran")
	}
	done()
	gc.RemoveStale(t.Context(), root, end)
	if there(dead) || !there(other) || !slices.Equal(ended, []string{filepath.Dir(dead)}) {
		t.Errorf("left by a dead build: %v; something else: %v", there(dead), there(other))
		t.Errorf("processes were ended in %q", ended)
	}

	for _, mode := range []os.FileMode{0o555, 0} { // as tools leave folders behind
		closed := filepath.Join(dead, "closed", "inner")
		if err := errors.Join(os.MkdirAll(closed, 0o755), os.WriteFile(closed+"/f", nil, 0o444),
			os.Chmod(closed, mode), os.Chmod(filepath.Dir(closed), mode)); err != nil {
			t.Fatal(err)
		}
		if _, err := gc.Read(t.Context(), root); err != nil {
			t.Errorf("mode %v: %v", mode, err)
		}
		gc.RemoveStale(t.Context(), root, end)
		if there(dead) {
			t.Errorf("a folder with mode %v stays", mode)
		}
	}

	mine := filepath.Join(root, "tmp", "run-1-1") // process 1 lives
	if err := os.MkdirAll(mine, 0o755); err != nil {
		t.Fatal(err)
	}
	gc.RemoveStale(t.Context(), root, end)
	if !there(mine) {
		t.Error("the folder of a living process was removed")
	}
}

// Whose folder has a lock is known to be dead as soon as it is, whatever its id says and whoever else runs.
func TestTidyBesideABuild(t *testing.T) {
	r := layout.Root(t.TempDir())
	if err := r.Prepare(time.Hour); err != nil {
		t.Fatal(err)
	}
	done, err := gc.LockShared(t.Context(), string(r), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	lives, unlock, err := r.NewRun()
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	dead, end, err := r.NewRun()
	if err != nil {
		t.Fatal(err)
	}
	end()
	var ended []string
	gc.RemoveStale(t.Context(), string(r), func(dirs ...string) { ended = append(ended, dirs...) })
	if !slices.Equal(ended, []string{dead}) {
		t.Errorf("processes were ended in %q", ended)
	}
	if _, err := os.Stat(dead); err == nil {
		t.Error("the folder of a dead build is left")
	}
	if _, err := os.Stat(lives); err != nil {
		t.Error(err)
	}
}
