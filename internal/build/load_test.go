package build_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/snapshot"
	"github.com/hexmage/hexmage/internal/stat"
)

// Wherever among many files the one stands that changed, and whether it did before or not, there is something to do.
func TestLoadUnchanged(t *testing.T) {
	workspace, path := wideSnapshot(t, 3000)
	machine, o := build.Machine{Workspace: workspace}, build.Options{Snapshot: &build.Snapshot{Path: path}}
	same := func() bool {
		t.Helper()
		r, err := build.LoadUnchanged(machine, o)
		if err != nil {
			t.Fatal(err)
		}
		all, err := build.Load(machine, o)
		if err != nil {
			t.Fatal(err)
		}
		if (r != nil) != all.Unchanged() {
			t.Errorf("LoadUnchanged says %v, Load %v", r != nil, all.Unchanged())
		}
		return r != nil
	}
	for range 2 {
		if !same() {
			t.Error("something is to be done where nothing changed")
		}
		for _, i := range []int{0, 7, 2047, 2048, 2999} {
			m, err := snapshot.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			h, err := m.Host(i)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Join(workspace, h.Path)
			if err := os.WriteFile(name, []byte("more"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(name, int64(len(h.Path)%3)); err != nil {
				t.Fatal(err)
			}
			if same() {
				t.Errorf("nothing is to be done where file %d changed", i)
			}
			if h.Files[0].Stamp, err = stat.Lstat(name); err != nil { // as the build leaves it
				t.Fatal(err)
			}
			if err := m.Save(path, snapshot.Update{Hosts: map[int]snapshot.Host{i: h}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if m, err := snapshot.Open(path); err != nil || len(m.RecentHosts()) == 0 {
		t.Errorf("no file is known to have changed before: %v", err)
	}
}
