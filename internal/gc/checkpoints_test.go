package gc_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/gc"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// What actions left to go on from goes before all else when room is wanted, and when it is old, whatever else may stay.
func TestCheckpoints(t *testing.T) {
	for name, c := range map[string]struct {
		o    gc.CollectOptions
		goes bool
	}{
		"room enough":   {gc.CollectOptions{MaxSize: 1 << 30}, false},
		"thirteen days": {gc.CollectOptions{Now: time.Now().Add(13 * 24 * time.Hour)}, false},
		"fifteen days":  {gc.CollectOptions{Now: time.Now().Add(15 * 24 * time.Hour)}, true},
		"a little less": {gc.CollectOptions{MaxSize: 8 << 10}, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := layout.Root(t.TempDir())
			kept, other := filepath.Join(r.Checkpoints(), "blake3-1", "files"), r.Downloads()
			for _, dir := range []string{other, kept} {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, "x"), make([]byte, 5000), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			old := time.Now().Add(-time.Hour)
			if err := os.Chtimes(filepath.Join(other, "x"), old, old); err != nil {
				t.Fatal(err)
			}
			if _, err := gc.Collect(t.Context(), string(r), c.o); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Dir(kept)); (err != nil) != c.goes {
				t.Errorf("what was left is there: %v", err == nil)
			}
			if _, err := os.Stat(filepath.Join(other, "x")); err != nil {
				t.Error("an older file went that is of more use")
			}
		})
	}
}
