package build_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/build"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/plan"
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
