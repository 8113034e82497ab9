package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/state"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// host is an input from the workspace that has the same path in the exec root.
func host(p string) action.Input { return action.Input{Path: p, Host: &action.HostPath{Path: p}} }

// The state file notes everything that actions read and leave: each thing that changes is found, and the run that
// follows is right.
func TestStateFile(t *testing.T) {
	w := newWorld(t)
	tools := t.TempDir()
	w.write(map[string]string{"src": "one\n", "tree/a": "a\n", "tree/b": "b\n", "real": "real\n"})
	if err := os.Symlink("real", filepath.Join(w.Workspace, "link")); err != nil {
		t.Fatal(err)
	}
	all := sh("all", "cat src tree/* link > out", host("src"), host("tree"), host("link"))
	all.Specs[0].Env = map[string]string{"PATH": tools + ":/usr/bin:/bin"}
	all.Specs[0].Programs = []string{"cat"}
	p := planOf([]plan.Output{output("all", "all", ""), output("name", "all", "")}, all)
	past := time.Now().Add(-time.Hour)
	age := func() { // what was just written is racy
		for _, name := range []string{"src", "tree/a", "tree/b", "tree", "real"} {
			if err := os.Chtimes(filepath.Join(w.Workspace, name), past, past); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2100 * time.Millisecond) // nothing sets a ctime
	}
	age()
	w.ok(p, 1)
	holds := func() error {
		t.Helper()
		f, err := state.Read(w.StateFile)
		if err != nil {
			t.Fatal(err)
		}
		return f.Holds(state.Machine{})
	}
	if err := holds(); err != nil {
		t.Fatalf("nothing changed: %v", err)
	}
	in := func(name string) string { return filepath.Join(w.Workspace, name) }
	for name, change := range map[string]func() error{
		"an input":             func() error { return os.WriteFile(in("src"), []byte("two\n"), 0o644) },
		"a file of a folder":   func() error { return os.WriteFile(in("tree/a"), []byte("A\n"), 0o644) },
		"a file in a folder":   func() error { return os.WriteFile(in("tree/c"), nil, 0o644) },
		"no file in a folder":  func() error { return os.Remove(in("tree/b")) },
		"the target of a link": func() error { return os.WriteFile(in("real"), []byte("changed\n"), 0o644) },
		"a link": func() error {
			return errors.Join(os.Remove(in("link")),
				os.Symlink("src", in("link")))
		},
		"a program before": func() error {
			return os.WriteFile(filepath.Join(tools, "cat"),
				[]byte("#!/bin/sh\necho no\n"), 0o755)
		},
		"an output":             func() error { return os.WriteFile(filepath.Join(w.Out, "all"), nil, 0o644) },
		"no folder for outputs": func() error { return os.RemoveAll(w.Out) },
		"an input's time":       func() error { return os.Chtimes(in("src"), time.Now(), time.Now()) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if err := holds(); !errors.Is(err, state.ErrChanged) {
			t.Errorf("%s: %v", name, err)
		}
		_ = os.Remove(filepath.Join(tools, "cat"))
		if r, err := w.run(p); err != nil || r.Failed > 0 {
			t.Fatalf("%s: %+v, %v", name, r.BuildFinished, err)
		}
	}
}

// Of a step that runs every time or has side effects the file says so, and never holds.
func TestStateFileOfEffects(t *testing.T) {
	for name, change := range map[string]func(n *plan.Instance){
		"runs every time": func(n *plan.Instance) { n.Specs[0].NoCache = true },
		"side effects":    func(n *plan.Instance) { n.SideEffects = true },
	} {
		w := newWorld(t)
		n := sh("a", "echo a > out")
		change(n)
		w.ok(planOf(nil, n), 1)
		f, err := state.Read(w.StateFile)
		if err != nil || !f.Always || f.Holds(state.Machine{}) == nil {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

// A build that failed leaves no state file, and still says what it looked at.
func TestStateFileOfFailure(t *testing.T) {
	w := newWorld(t)
	w.write(map[string]string{"src": "one\n"})
	r, err := w.run(planOf(nil, sh("a", "cat src; exit 1", host("src"))))
	if err != nil || r.Failed != 1 {
		t.Fatalf("%+v, %v", r.BuildFinished, err)
	}
	if _, err := os.Lstat(w.StateFile); err == nil {
		t.Error("there is a state file")
	}
	if !slices.ContainsFunc(r.Inputs,
		func(s state.Seen) bool { return s.Path == "src" && s.Stamp.Exists() && s.Racy }) {
		t.Errorf("inputs %+v", r.Inputs)
	}
}

// If an action that runs again makes the same output, no dependent runs.
func TestEarlyCutOff(t *testing.T) {
	w := newWorld(t)
	w.write(map[string]string{"src": "one\n", "text": "some\n"})
	p := planOf([]plan.Output{output("all", "link", "")},
		sh("compile", "grep -v '#' src > out", host("src")),
		sh("link", "cat obj text > out", action.Input{Path: "obj", Artifact: out("compile")}, host("text")),
		sh("pack", "cat lib > out", action.Input{Path: "lib", Artifact: out("link")}))
	w.ok(p, 3)
	for _, c := range []struct {
		name     string
		files    map[string]string
		executed int
	}{
		{"nothing", nil, 0},
		{"a comment", map[string]string{"src": "# first\none\n"}, 1},
		{"a source", map[string]string{"src": "two\n"}, 3},
		{"an input of the link", map[string]string{"text": "other\n"}, 2},
		{"a comment, and an input of the link", map[string]string{"src": "# again\ntwo\n", "text": "more\n"}, 3},
		{"back", map[string]string{"text": "other\n"}, 0},
	} {
		w.write(c.files)
		if r, err := w.run(p); err != nil || r.Failed > 0 || r.Executed != c.executed || r.Executed+r.Cached != 3 {
			t.Errorf("%s: %+v, %v; want %d executed", c.name, r.BuildFinished, err, c.executed)
		}
	}
	if b, err := os.ReadFile(filepath.Join(w.Out, "all")); err != nil || string(b) != "two\nother\n" {
		t.Errorf("%q, %v", b, err)
	}
}

// Outputs that were removed come back as they were, also if an action has to run again for them.
func TestRemovedOutputsComeBack(t *testing.T) {
	w := newWorld(t)
	p := planOf([]plan.Output{output("f", "f", ""), output("part", "d", "sub/x"), outputTree("d", "d"),
		{Name: "text", Literal: "text"}},
		sh("f", "echo file > out; chmod +x out"), shTree("d", "mkdir -p out/sub; echo x > out/sub/x"))
	w.ok(p, 2)
	want := list(t, w.Out)
	for _, c := range []struct {
		name     string
		lost     string // the content of a blob that is no longer in the store
		executed int
	}{{"all there", "", 0}, {"no text", "text\n", 0}, {"no file", "file\n", 1}} {
		if err := os.RemoveAll(w.Out); err != nil {
			t.Fatal(err)
		}
		if c.lost != "" {
			if err := os.Remove(layout.Root(w.cache).File(layout.Blobs, fn.Bytes([]byte(c.lost)))); err != nil {
				t.Fatal(err)
			}
		}
		w.ok(p, c.executed)
		if d := cmp.Diff(want, list(t, w.Out)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
		if st, err := os.Stat(filepath.Join(w.Out, "f")); err != nil || st.Mode().Perm() != 0o755 {
			t.Errorf("%s: mode %v, %v", c.name, st.Mode(), err)
		}
	}
}
