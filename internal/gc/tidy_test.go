package gc_test

import (
	"os"
	"path/filepath"
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
	there := func(path string) bool { _, err := os.Stat(path); return err == nil }

	done, err := gc.Use(t.Context(), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	gc.Tidy(t.Context(), root)
	if !there(dead) {
		t.Errorf("a folder was removed while a build ran")
	}
	done()
	gc.Tidy(t.Context(), root)
	if there(dead) || !there(other) {
		t.Errorf("left by a dead build: %v; something else: %v", there(dead), there(other))
	}

	mine := filepath.Join(root, "tmp", "run-1-1") // process 1 lives
	if err := os.MkdirAll(mine, 0o755); err != nil {
		t.Fatal(err)
	}
	gc.Tidy(t.Context(), root)
	if !there(mine) {
		t.Error("the folder of a living process was removed")
	}
}
