package gc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/store/layout"
)

// Items that cannot be removed do not keep the others of their kind, but what they may refer to.
func TestCollectUnremovable(t *testing.T) {
	dir := t.TempDir()
	p := &plan{s: &survey{root: layout.Root(dir)}}
	add := func(kind layout.Kind, name string, removable bool) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o444); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if !removable {
			path = filepath.Join(path, name) // below a file, so that lstat fails
		}
		it, err := newItem(layout.Item{Kind: kind, Path: path, Info: info})
		if err != nil {
			t.Fatal(err)
		}
		p.chosen = append(p.chosen, it)
	}
	add(layout.Results, "r1", false)
	add(layout.Results, "r2", false)
	add(layout.Results, "r3", true)
	add(layout.Blobs, "b1", true)
	err := p.carryOut(t.Context())
	if err == nil || !strings.Contains(err.Error(), "r1") || !strings.Contains(err.Error(), "and 1 more") {
		t.Errorf("%v", err)
	}
	for name, want := range map[string]bool{"r1": true, "r3": false, "b1": true} {
		if _, err := os.Lstat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
