package local_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/cas"
	"github.com/hexmage/hexmage/internal/cas/disk"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/execute/local"
	"github.com/hexmage/hexmage/internal/tree"
)

type fixture struct {
	x     *local.Executor
	store cas.Store
	dir   string
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	root := t.TempDir()
	store, err := disk.New(root)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "tmp", "run")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return fixture{local.New(local.Options{Dir: dir, Store: store, Trees: tree.NewTrees(root), Fn: digest.BLAKE3}), store, dir}
}

// root stores a tree with these files and returns its digest.
func (f fixture) root(t *testing.T, files map[string]string) digest.Digest {
	t.Helper()
	d := &tree.Dir{}
	for p, content := range files {
		dg := digest.BLAKE3.Bytes([]byte(content))
		if err := f.store.Put(t.Context(), dg, strings.NewReader(content)); err != nil {
			t.Fatal(err)
		}
		if err := d.Insert(t.Context(), f.store, p, tree.File{Digest: dg}); err != nil {
			t.Fatal(err)
		}
	}
	root, err := d.Put(t.Context(), f.store, digest.BLAKE3)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func TestToolchainsAreLinked(t *testing.T) {
	f := newFixture(t)
	a := &action.Action{
		Command: action.Command{
			Args:    []string{"sh", "-c", "readlink toolchains/sdk > link && cat toolchains/sdk/include/x.h in.txt > both; test ! -L in.txt"},
			Outputs: []string{"link", "both"},
		},
		InputRoot: f.root(t, map[string]string{"toolchains/sdk/include/x.h": "x\n", "in.txt": "in\n"}),
	}
	for range 2 {
		res, err := f.x.Execute(t.Context(), a)
		if err != nil || res.ExitCode != 0 || len(res.Files) != 2 {
			t.Fatalf("%+v, %v", res, err)
		}
		if res.Files[0].Digest.Size() == 0 {
			t.Error("toolchains/sdk is no link")
		}
	}
	if left, _ := os.ReadDir(f.dir); len(left) > 0 {
		t.Errorf("exec roots were left behind: %v", left)
	}
}

func TestTimeoutEndsTheWholeGroup(t *testing.T) {
	f := newFixture(t)
	marker := filepath.Join(t.TempDir(), "late")
	a := &action.Action{
		Command:   action.Command{Args: []string{"sh", "-c", "(sleep 1; echo x > " + marker + ") & sleep 60"}},
		InputRoot: f.root(t, nil),
		Timeout:   100 * time.Millisecond,
	}
	start := time.Now()
	_, err := f.x.Execute(t.Context(), a)
	if err == nil || !strings.Contains(err.Error(), "timeout") || time.Since(start) > 30*time.Second {
		t.Errorf("err = %v after %v, want the timeout", err, time.Since(start))
	}
	time.Sleep(1200 * time.Millisecond)
	if _, err := os.Stat(marker); err == nil {
		t.Error("a child of the command outlived it")
	}
}

func TestProgressAndErrors(t *testing.T) {
	f := newFixture(t)
	var seen []string
	ctx := execute.WithProgress(t.Context(), func(done, total int64, text string) { seen = append(seen, text) })
	a := &action.Action{
		Command:   action.Command{Args: []string{"sh", "-c", "echo progress 1 2 half >&2; echo progress is no number >&2; exit 3"}},
		InputRoot: f.root(t, nil),
	}
	res, err := f.x.Execute(ctx, a)
	if err != nil || res.ExitCode != 3 || string(res.Stderr) != "progress is no number\n" || len(seen) != 1 || seen[0] != "half" {
		t.Errorf("%+v, %v, progress %q", res, err, seen)
	}
	a.Command.Args = []string{"no-such-program"}
	var e *execute.Error
	if _, err := f.x.Execute(t.Context(), a); !errors.As(err, &e) || e.Remedy == "" {
		t.Errorf("err = %v, want one with a remedy", err)
	}
	a.Command.Args = nil
	if _, err := f.x.Execute(t.Context(), a); err == nil {
		t.Error("an action without arguments ran")
	}
}

func TestCancel(t *testing.T) {
	f := newFixture(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("stop")
	time.AfterFunc(100*time.Millisecond, func() { cancel(cause) })
	a := &action.Action{Command: action.Command{Args: []string{"sleep", "60"}}, InputRoot: f.root(t, nil)}
	if _, err := f.x.Execute(ctx, a); !errors.Is(err, cause) {
		t.Errorf("err = %v, want the cause", err)
	}
}
