package executetest_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/execute/executetest"
	"github.com/hexmage/hexmage/internal/execute/local"
	"github.com/hexmage/hexmage/internal/execute/sandbox"
	"github.com/hexmage/hexmage/internal/execute/verify"
	"github.com/hexmage/hexmage/internal/execute/worker"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/trace"
)

// TestMain makes the test's own program a worker, as hexmage is.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "tool" && os.Args[2] == worker.Tool {
		worker.Main(os.Args[3], store.MayBeLink)
		return
	}
	os.Exit(m.Run())
}

func open(t *testing.T, restricted bool) executetest.Setup {
	t.Helper()
	root := t.TempDir()
	blobs, err := disk.NewBlobs(root)
	if err != nil {
		t.Fatal(err)
	}
	files := store.WithHostFiles(blobs)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := local.Options{Dir: filepath.Join(root, "tmp"), Store: files, Trees: merkle.NewTrees(root), Fn: digest.BLAKE3,
		Self: self}
	if restricted {
		if o.Base, err = sandbox.Open(); err != nil {
			t.Skip(err)
		}
	}
	x := local.New(o)
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return executetest.Setup{Executor: x, Store: files, Fn: digest.BLAKE3, Alive: executetest.ProcessAlive}
}

func TestLocal(t *testing.T) {
	for name, restricted := range map[string]bool{"strict": true, "staged": false} {
		t.Run(name, func(t *testing.T) {
			executetest.Run(t, "*local.Executor", func(t *testing.T) executetest.Setup { return open(t, restricted) })
		})
	}
}

// decorators returns the executors that have another executor do the work.
func decorators() map[string]func(*testing.T, executetest.World) execute.Executor {
	return map[string]func(*testing.T, executetest.World) execute.Executor{
		"*execute.cached": func(t *testing.T, w executetest.World) execute.Executor {
			locks := execute.NewLocks(filepath.Join(t.TempDir(), "actions.lock"))
			return execute.Cached(w.Next,
				execute.CacheOptions{Results: w.Results, Blobs: w.Blobs, Fn: w.Fn, Locks: locks})
		},
		"*verify.Verifier": func(_ *testing.T, w executetest.World) execute.Executor {
			return verify.New(verify.Options{Next: w.Next, Again: w.Next, Store: w.Blobs})
		},
		"*trace.traced": traced,
		"execute.route": func(_ *testing.T, w executetest.World) execute.Executor {
			return execute.Route(map[string]execute.Executor{action.ExecutorLocal: w.Next})
		},
	}
}

// notVerified returns a Verifier that verifies another step.
func notVerified(_ *testing.T, w executetest.World) execute.Executor {
	other := func(string) bool { return false }
	return verify.New(verify.Options{Next: w.Next, Again: w.Next, Store: w.Blobs, Select: other})
}

func traced(t *testing.T, w executetest.World) execute.Executor {
	tr, err := trace.Create(filepath.Join(t.TempDir(), "trace.json"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		tr.Send(event.BuildFinished{})
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
	})
	return tr.Executor(w.Next)
}

func TestDecorators(t *testing.T) {
	for name, wrap := range decorators() {
		t.Run(name, func(t *testing.T) { executetest.Decorator(t, name, wrap) })
	}
	t.Run("not verified", func(t *testing.T) { executetest.Decorator(t, "*verify.Verifier", notVerified) })
}

// Cached calls Start itself: TestCached checks it.
func TestStart(t *testing.T) {
	executetest.Start(t, "*verify.Verifier", notVerified)
	executetest.Start(t, "*trace.traced", traced)
}

// Where there is no executor, or none of the name, an action could not run.
func TestRouteToNowhere(t *testing.T) {
	for _, by := range []map[string]execute.Executor{nil, {"elsewhere": failing{}}} {
		if r, err := execute.Route(by).Execute(t.Context(), &execute.Request{Action: &action.Action{}}); r != nil ||
			err == nil {
			t.Errorf("%v, %v", r, err)
		}
	}
}

type failing struct{ execute.Executor }

func (failing) Execute(context.Context, *execute.Request) (*action.Result, error) {
	panic("it was not asked")
}
