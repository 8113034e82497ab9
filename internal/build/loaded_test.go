package build_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// counting counts what is looked up.
type counting struct {
	execute.Caching
	lookups int
}

func (c *counting) Lookup(ctx context.Context, a *execute.Request) (*action.Result, bool, error) {
	c.lookups++
	return c.Caching.Lookup(ctx, a)
}

// Where an action that runs again makes the same as before, what needs it is as before, and is not looked up.
func TestEarlyCutOff(t *testing.T) {
	w := newWorld(t)
	host := func(p string) action.Input { return action.Input{Path: p, Host: &action.HostPath{Path: p}} }
	w.write(map[string]string{"src": "one\n", "text": "some\n"})
	p := planOf([]plan.Output{output("all", "link", "")},
		sh("compile", "grep -v '#' src > out", host("src")),
		sh("link", "cat obj text > out", action.Input{Path: "obj", Artifact: out("compile")}, host("text")),
		sh("pack", "cat lib > out", action.Input{Path: "lib", Artifact: out("link")}))
	count := &counting{Caching: w.Executor}
	w.Executor, w.Jobs = count, 1
	w.Snapshot = &build.Snapshot{Path: filepath.Join(w.cache, "snapshot")}
	w.ok(p, 3)
	for _, c := range []struct {
		name              string
		files             map[string]string
		executed, lookups int
	}{
		{"nothing", nil, 0, 0},
		{"a comment", map[string]string{"src": "# first\none\n"}, 1, 1},
		{"what is compiled", map[string]string{"src": "two\n"}, 3, 3},
		{"what is linked", map[string]string{"text": "other\n"}, 2, 2},
		{"a comment, and what is linked", map[string]string{"src": "# again\ntwo\n", "text": "more\n"}, 3, 3},
		{"back", map[string]string{"text": "other\n"}, 0, 2},
	} {
		count.lookups = 0
		w.write(c.files)
		last, err := build.Load(build.Machine{Workspace: w.Workspace, Fn: fn}, w.Options)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		r, err := last.Run(t.Context(), w.Options)
		if err != nil || r.Failed > 0 || r.Executed != c.executed || r.Actions != 3 || r.Executed+r.Cached != 3 || count.lookups != c.lookups {
			t.Errorf("%s: %+v, %d lookups, %v; want %d executed, %d lookups", c.name, r.BuildFinished, count.lookups, err, c.executed, c.lookups)
		}
	}
	if b, err := os.ReadFile(filepath.Join(w.Out, "all")); err != nil || string(b) != "two\nother\n" {
		t.Errorf("%q, %v", b, err)
	}
}

// Of an action with many inputs, what changed of them is exchanged in the tree of the last build. That is the tree that a build of the whole plan makes,
// as its action is known then.
func TestSomeOfManyInputsChange(t *testing.T) {
	w := newWorld(t)
	host := func(at, p string) action.Input {
		return action.Input{Path: at, Host: &action.HostPath{Path: p}}
	}
	files := map[string]string{"tree/one": "1\n", "tree/two": "2\n"}
	inputs := []action.Input{{Path: "obj/compiled", Artifact: out("compile")}, host("tree", "tree")}
	for i := range 80 {
		name := fmt.Sprint("f", i)
		files[name] = fmt.Sprintf("text %d\n", i)
		inputs = append(inputs, host("obj/"+name, name), host("obj/deep/"+name, name))
	}
	files["src"], files["top"] = "one\n", "top\n"
	w.write(files)
	inputs = append(inputs, host("top", "top"))
	p := planOf([]plan.Output{output("all", "link", "")},
		sh("compile", "cat src > out", host("src", "src")),
		sh("link", "cat $(find . -type f ! -name out | sort) > out", inputs...))
	w.Snapshot = &build.Snapshot{Path: filepath.Join(w.cache, "snapshot")}
	w.ok(p, 2)
	for _, c := range []struct {
		name     string
		change   func()
		executed int
	}{
		{"what is compiled, beside a folder", func() { w.write(map[string]string{"src": "two\n"}) }, 2},
		{"a file in two folders", func() { w.write(map[string]string{"f7": "a longer text than there was\n"}) }, 1},
		{"files", func() { w.write(map[string]string{"f0": "", "f79": "last\n", "top": "other\n"}) }, 1},
		{"a mode", func() {
			if err := os.Chmod(filepath.Join(w.Workspace, "f3"), 0o755); err != nil {
				t.Fatal(err)
			}
		}, 1},
		{"a folder", func() { w.write(map[string]string{"tree/two": "3\n", "tree/three": "3\n"}) }, 1},
		{"back", func() { w.write(map[string]string{"tree/two": "2\n", "src": "one\n", "f7": "text 7\n"}) }, 2},
	} {
		c.change()
		last, err := build.Load(build.Machine{Workspace: w.Workspace, Fn: fn}, w.Options)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if r, err := last.Run(t.Context(), w.Options); err != nil || r.Failed > 0 || r.Executed > c.executed || r.Executed == 0 {
			t.Errorf("%s: %+v, %v; want %d executed", c.name, r.BuildFinished, err, c.executed)
		}
		snapshot := *w.Snapshot
		w.Snapshot = nil
		w.ok(p, 0)
		w.Snapshot = &snapshot
	}
}

// Outputs that were removed come back as they were, also where their content has to be made again.
func TestRemovedOutputsComeBack(t *testing.T) {
	w := newWorld(t)
	w.Snapshot = &build.Snapshot{Path: filepath.Join(w.cache, "snapshot")}
	w.ok(planOf([]plan.Output{output("f", "f", ""), output("part", "d", "sub/x"), outputTree("d", "d"), {Name: "text", Literal: "text"}},
		sh("f", "echo file > out; chmod +x out"), shTree("d", "mkdir -p out/sub; echo x > out/sub/x")), 2)
	want := list(t, w.Out)
	for _, c := range []struct {
		name     string
		lost     string // the content of a blob that is no longer in the store
		executed int
	}{{"all there", "", 0}, {"no text", "text\n", 0}, {"no file", "file\n", 1}} {
		t.Run(c.name, func(t *testing.T) {
			if err := os.RemoveAll(w.Out); err != nil {
				t.Fatal(err)
			}
			if c.lost != "" {
				if err := os.Remove(layout.Root(w.cache).File(layout.Blobs, fn.Bytes([]byte(c.lost)))); err != nil {
					t.Fatal(err)
				}
			}
			last, err := build.Load(build.Machine{Workspace: w.Workspace, Fn: fn}, w.Options)
			if err != nil {
				t.Fatal(err)
			}
			if r, err := last.Run(t.Context(), w.Options); err != nil || r.Failed > 0 || r.Executed != c.executed {
				t.Errorf("%+v, %v; want %d executed", r.BuildFinished, err, c.executed)
			}
			if d := cmp.Diff(want, list(t, w.Out)); d != "" {
				t.Error(d)
			}
			if st, err := os.Stat(filepath.Join(w.Out, "f")); err != nil || st.Mode().Perm() != 0o755 {
				t.Errorf("mode %v, %v", st, err)
			}
		})
	}
}
