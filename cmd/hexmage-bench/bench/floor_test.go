package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/execute/sandbox"
	"github.com/hexmage/hexmage/internal/stat"
)

// The floor runs what content asks for, and makes links of its store; if it is isolated, copies.
func TestFloor(t *testing.T) {
	t.Run("plain", func(t *testing.T) { testFloor(t, false) })
	t.Run("isolated", func(t *testing.T) {
		if _, err := sandbox.Open(); err != nil {
			t.Skip(err)
		}
		testFloor(t, true)
	})
}

func testFloor(t *testing.T, isolated bool) {
	t.Chdir(t.TempDir())
	old := time.Now().Add(-time.Hour)
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	// It copies the first lines of its inputs, and notes that it ran.
	write("tools/first", "#!/bin/sh\necho ran >>ran\nto=$1\nshift\nhead -qn1 \"$@\" >$to\n")
	write("src/a", "a\n")
	write("src/b", "b\n")
	write(floorGraph, "tools/first\nsrc/a\nsrc/b\nobj/a\nout/b\nout/all\n\n3 0 1\n4 0 2\n\n5 0 3 4\n")
	for _, c := range []struct {
		what   string
		before func()
		runs   int
		all    string
	}{
		{"cold", func() {}, 3, "a\nb\n"},
		{"no-op", func() {}, 0, "a\nb\n"},
		{"changed", func() { write("src/a", "A\n") }, 2, "A\nb\n"},
		{"comment", func() { write("src/a", "A\n// of which nothing depends\n") }, 1, "A\nb\n"},
		{"back", func() { write("src/a", "a\n") }, 0, "a\nb\n"},
		{"touched", func() { write("src/b", "b\n") }, 0, "a\nb\n"},
		{"an output changed", func() { write("y/x", "wrong\n"); _ = os.Rename("y/x", "out/all") }, 0, "a\nb\n"},
		{"outputs removed", func() { _ = os.RemoveAll("out") }, 0, "a\nb\n"},
	} {
		c.before()
		_ = os.Remove("ran")
		_ = os.RemoveAll("new")
		if err := buildFloor(2, isolated); err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		n := 0
		roots, _ := filepath.Glob("new/root*/ran")
		for _, path := range append(roots, "ran") {
			ran, _ := os.ReadFile(path)
			n += strings.Count(string(ran), "ran\n")
		}
		if n != c.runs {
			t.Errorf("%s: %d actions ran, not %d", c.what, n, c.runs)
		}
		for path, want := range map[string]string{"out/all": c.all, "out/b": "b\n"} {
			if b, err := os.ReadFile(path); err != nil || string(b) != want {
				t.Errorf("%s: %s is %q, %v, not %q", c.what, path, b, err, want)
			}
		}
	}
	out, err := os.Stat("out/b")
	files, _ := os.ReadDir("store")
	shared := false
	for _, f := range files {
		info, _ := f.Info()
		shared = shared || os.SameFile(out, info)
	}
	if err != nil || shared == isolated {
		t.Errorf("out/b is in the store: %v, %v", shared, err)
	}
	// What is as it was is not looked at twice.
	f := floorRun{names: []string{"src/a", "obj/a", "out/all"}}
	check := func(sources, dirty int) {
		t.Helper()
		f.made, f.dirty = make([]made, 3), make([]bool, 3)
		f.load()
		found, same, err := f.check(1)
		n := 0
		for _, d := range f.dirty {
			if d {
				n++
			}
		}
		if err != nil || len(found) != sources || n != dirty || same != (dirty == 0) {
			t.Errorf("%d sources and in all %d are dirty, the same %v, %v; not %d and %d", len(found), n, same, err, sources, dirty)
		}
	}
	f.made = make([]made, 3)
	for i, path := range f.names {
		f.made[i].stamp, _ = stat.Lstat(path)
	}
	if err := f.save(); err != nil {
		t.Fatal(err)
	}
	check(0, 0)
	_ = os.Remove("out/all")
	check(0, 1)
	write("src/a", "another\n")
	check(1, 2)
	if err := os.RemoveAll("state"); err != nil {
		t.Fatal(err)
	}
	write("tools/first", "#!/bin/sh\nexit 3\n")
	if err := buildFloor(2, isolated); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("an action that fails: %v", err)
	}
	if _, err := os.Lstat("state"); err == nil {
		t.Error("what a failed build did is remembered")
	}
}
