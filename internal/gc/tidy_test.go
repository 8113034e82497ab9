package gc_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hexmage/hexmage/internal/gc"
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

	done, err := gc.Use(t.Context(), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	gc.Tidy(t.Context(), root, end)
	if !there(dead) || len(ended) > 0 {
		t.Errorf("a folder was removed while a build ran")
	}
	done()
	gc.Tidy(t.Context(), root, end)
	if there(dead) || !there(other) || !slices.Equal(ended, []string{filepath.Dir(dead)}) {
		t.Errorf("left by a dead build: %v; something else: %v", there(dead), there(other))
		t.Errorf("processes were ended in %q", ended)
	}

	mine := filepath.Join(root, "tmp", "run-1-1") // process 1 lives
	if err := os.MkdirAll(mine, 0o755); err != nil {
		t.Fatal(err)
	}
	gc.Tidy(t.Context(), root, end)
	if !there(mine) {
		t.Error("the folder of a living process was removed")
	}
}
