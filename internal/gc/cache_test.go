package gc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// cache is a cache folder with what a build has open on it.
type cache struct {
	root    string
	blobs   *disk.Blobs
	results *disk.Results
	trees   *merkle.Trees
	fn      digest.Function
}

func open(t testing.TB, root string) *cache {
	t.Helper()
	blobs, err := disk.NewBlobs(root)
	if err != nil {
		t.Fatal(err)
	}
	results, err := disk.NewResults(root)
	if err != nil {
		t.Fatal(err)
	}
	return &cache{root, blobs, results, merkle.NewTrees(root), digest.BLAKE3}
}

// writer is an Executor whose actions write what their arguments say: path=content pairs in the folder "dir", and one
// file. With took=40m that is how long it took.
type writer struct{ c *cache }

func (w writer) Execute(ctx context.Context, a *execute.Request) (*action.Result, error) {
	tmp, err := os.MkdirTemp(filepath.Join(w.c.root, "tmp"), "exec-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	r := &action.Result{Worker: "test"}
	for _, arg := range a.Command.Args {
		path, content, _ := strings.Cut(arg, "=")
		if path == "took" {
			if r.Duration, err = time.ParseDuration(content); err != nil {
				return nil, err
			}
			continue
		}
		path = filepath.Join(tmp, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		perm := os.FileMode(0o644)
		if strings.HasSuffix(path, ".sh") {
			perm = 0o755
		}
		if err := os.WriteFile(path, []byte(content), perm); err != nil {
			return nil, err
		}
	}
	r.Files, r.Dirs, err = merkle.Capture(ctx, w.c.blobs, w.c.fn, tmp, a.Command.Outputs)
	return r, err
}

// build is what a build has its actions executed by.
func (c *cache) build() execute.Executor {
	return execute.Cached(writer{c},
		execute.CacheOptions{Results: c.results, Blobs: c.blobs, Fn: c.fn, Installed: c.trees.Has})
}

// newAction returns an action that writes the files, given as path=content; those below dir/ are one output folder.
// It is so large that its messages are blobs of their own, and not kept beside its result.
func newAction(files ...string) *action.Action {
	a := &action.Action{Command: action.Command{Args: files,
		Env: map[string]string{"PAD": strings.Repeat("x", 17<<10)}}, InputRoot: digest.BLAKE3.Bytes(nil)}
	seen := map[string]bool{}
	for _, f := range files {
		path, _, _ := strings.Cut(f, "=")
		if top, _, ok := strings.Cut(path, "/"); ok {
			path = top
		}
		if !seen[path] && path != "took" {
			seen[path] = true
			a.Command.Outputs = append(a.Command.Outputs, path)
		}
	}
	return a
}

// run executes the action as a build does, with the result last used at the time.
func (c *cache) run(t testing.TB, used time.Time, files ...string) (*action.Action, *action.Result) {
	t.Helper()
	a := newAction(files...)
	r, err := c.build().Execute(t.Context(), &execute.Request{Action: a})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.blobs.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.use(t, a, used)
	return a, r
}

// use sets the time of the result's last use.
func (c *cache) use(t testing.TB, a *action.Action, at time.Time) {
	t.Helper()
	if err := os.Chtimes(c.path(a), at, at); err != nil {
		t.Fatal(err)
	}
}

// path is the file of the action's result.
func (c *cache) path(a *action.Action) string {
	return layout.Root(c.root).File(layout.Results, a.Key(c.fn))
}

// known tells whether a build would find the action's result. If so, all that it names must be there and be right.
func (c *cache) known(t testing.TB, a *action.Action) bool {
	t.Helper()
	r, ok, err := execute.Lookup(t.Context(), c.build(), &execute.Request{Action: a})
	if err != nil {
		t.Fatalf("look up %s: %v", a.Command.Args, err)
	}
	if ok {
		if err := c.layOut(t.Context(), r, t.TempDir()); err != nil {
			t.Errorf("the result of %s is known, but %v", a.Command.Args, err)
		}
	}
	return ok
}

// remembered tells whether there is a result, whatever it names.
func (c *cache) remembered(t *testing.T, a *action.Action) bool {
	t.Helper()
	_, err := c.results.Get(t.Context(), a.Key(c.fn))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

// layOut writes all outputs of a result, verified, into a folder.
func (c *cache) layOut(ctx context.Context, r *action.Result, dir string) error {
	for i, f := range r.Files {
		if err := store.CopyFile(ctx, c.blobs, f.Digest, filepath.Join(dir, fmt.Sprint("file", i)), 0o644); err != nil {
			return err
		}
	}
	for i, d := range r.Dirs {
		if err := merkle.Materialize(ctx, c.blobs, merkle.Ref(d.Root), filepath.Join(dir, fmt.Sprint("dir", i)),
			true); err != nil {
			return err
		}
	}
	return nil
}

func (c *cache) put(t testing.TB, content string) digest.Digest {
	t.Helper()
	d := c.fn.Bytes([]byte(content))
	if err := c.blobs.Put(t.Context(), d, strings.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	if err := c.blobs.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d
}

func (c *cache) has(t testing.TB, content string) bool {
	t.Helper()
	missing, err := c.blobs.Missing(t.Context(), []digest.Digest{c.fn.Bytes([]byte(content))})
	if err != nil {
		t.Fatal(err)
	}
	return len(missing) == 0
}

// flip changes one bit of a file, as a disk does: its times stay.
func flip(t *testing.T, path string) {
	t.Helper()
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil || len(b) == 0 {
		t.Fatal(len(b), err)
	}
	old := bytes.Clone(b)
	b[len(b)/2] ^= 1
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(b)
	if err := errors.Join(err, f.Close(), os.Chmod(path, st.Mode()),
		os.Chtimes(path, time.Time{}, st.ModTime())); err != nil {
		t.Fatal(err)
	}
	if now, err := os.ReadFile(path); err != nil || bytes.Equal(now, old) {
		t.Fatalf("%s did not change: %v", path, err)
	}
}

var _ store.Blobs = (*disk.Blobs)(nil)
