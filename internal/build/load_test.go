package build_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/snapshot"
	"github.com/hexmage/hexmage/internal/snapshot/snapshottest"
	"github.com/hexmage/hexmage/internal/stat"
)

// Wherever among many files the one stands that changed, and whether it did before or not, there is something to do.
func TestLoadWide(t *testing.T) {
	workspace, path := wideSnapshot(t, 3000)
	machine, o := build.Machine{Workspace: workspace}, build.Options{Snapshot: &build.Snapshot{Path: path}}
	same := func() bool {
		t.Helper()
		r, err := build.LoadTouched(t.Context(), machine, o)
		if err != nil {
			t.Fatal(err)
		}
		all, err := build.Load(machine, o)
		if err != nil {
			t.Fatal(err)
		}
		if r.Unchanged() != all.Unchanged() || r.Changed() != all.Changed() {
			t.Errorf("LoadTouched says %v, %d; Load %v, %d", r.Unchanged(), r.Changed(), all.Unchanged(), all.Changed())
		}
		return r.Unchanged()
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
}

// A file with another time and the same content is no change, as often as that happens; one with other content of the same size is.
func TestLoadTouched(t *testing.T) {
	workspace := t.TempDir()
	path, src := filepath.Join(t.TempDir(), "snapshot"), filepath.Join(workspace, "src")
	content := []byte("one")
	save := func(when time.Time) {
		t.Helper()
		if err := errors.Join(os.WriteFile(src, content, 0o644), os.Chtimes(src, when, when)); err != nil {
			t.Fatal(err)
		}
	}
	first := time.Now().Add(-time.Hour)
	save(first)
	s, err := stat.Lstat(src)
	if err != nil {
		t.Fatal(err)
	}
	m := &snapshottest.Build{Fn: fn, Title: snapshot.Title{Pipeline: "p"},
		Hosts: []snapshot.Host{{Path: "src", Digest: fn.Bytes(content), Files: []snapshot.File{{Path: "src", Stamp: s, Clean: true}}}}}
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	machine, o := build.Machine{Workspace: workspace, Fn: fn}, build.Options{Snapshot: &build.Snapshot{Path: path}, Sink: discard{}}
	for i := range 3 {
		save(first.Add(time.Duration(i) * time.Minute))
		r, err := build.LoadTouched(t.Context(), machine, o)
		if err != nil || !r.Unchanged() {
			t.Fatalf("time %d: there is something to do, %v", i, err)
		}
		r.Finish(o, time.Now())
		now, err := snapshot.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		is, _ := stat.Lstat(src)
		if h, err := now.Host(0); err != nil || h.Files[0].Stamp != is {
			t.Errorf("time %d: the next run does not know of it: %+v, %v", i, h, err)
		}
	}
	content = []byte("two")
	save(first)
	if r, err := build.LoadTouched(t.Context(), machine, o); err != nil || r.Unchanged() {
		t.Errorf("another content: %v, %v", r, err)
	}
	if err := os.Truncate(src, 3<<20); err != nil {
		t.Fatal(err)
	}
	if r, err := build.LoadTouched(t.Context(), machine, o); err != nil || r.Unchanged() {
		t.Errorf("a large file: %v, %v", r, err)
	}
}

// discard is an event.Sink.
type discard struct{}

func (discard) Send(event.Event) {}
