package executetest_test

import (
	"context"
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
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/trace"
)

func open(t *testing.T, restricted bool) executetest.Setup {
	t.Helper()
	root := t.TempDir()
	blobs, err := disk.NewBlobs(root)
	if err != nil {
		t.Fatal(err)
	}
	files := store.WithHostFiles(blobs)
	o := local.Options{Dir: filepath.Join(root, "tmp"), Store: files, Trees: merkle.NewTrees(root), Fn: digest.BLAKE3}
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

// The stack of the program, with and without what only --verify has, to the outermost decorator.
func TestStack(t *testing.T) {
	for name, twice := range map[string]bool{"build": false, "verify": true} {
		t.Run(name, func(t *testing.T) {
			executetest.Run(t, "*trace.traced", func(t *testing.T) executetest.Setup {
				_, err := sandbox.Open()
				s := open(t, err == nil) // as builds have it, where the machine can
				root := t.TempDir()
				results, err := disk.NewResults(root)
				if err != nil {
					t.Fatal(err)
				}
				route := execute.Route(map[string]execute.Executor{action.ExecutorLocal: s.Executor})
				x := exclusive(t, executetest.World{Next: execute.Cached(route, results, s.Store, s.Fn, nil), Fn: s.Fn})
				if twice {
					x = verify.New(verify.Options{Next: x, Again: route, Store: s.Store})
				}
				s.Executor = traced(t, x)
				return s
			})
		})
	}
}

// decorators are those that have an Executor do the work.
func decorators() map[string]func(*testing.T, executetest.World) execute.Caching {
	return map[string]func(*testing.T, executetest.World) execute.Caching{
		"*execute.CachedExecutor": cached,
		"*execute.exclusive":      exclusive,
		"*verify.Verifier":        notVerified,
		"*trace.traced":           func(t *testing.T, w executetest.World) execute.Caching { return traced(t, w.Next) },
	}
}

func cached(_ *testing.T, w executetest.World) execute.Caching {
	return execute.Cached(w.Next, w.Results, w.Blobs, w.Fn, nil)
}

func exclusive(t *testing.T, w executetest.World) execute.Caching {
	return execute.Exclusive(w.Next, execute.NewLocks(filepath.Join(t.TempDir(), "actions.lock")), w.Fn)
}

// notVerified is a Verifier that is to verify another step.
func notVerified(_ *testing.T, w executetest.World) execute.Caching {
	return verify.New(verify.Options{Next: w.Next, Again: w.Next, Store: w.Blobs, Select: func(string) bool { return false }})
}

func traced(t *testing.T, next execute.Caching) execute.Caching {
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
	return tr.Executor(next)
}

func TestDecorators(t *testing.T) {
	for name, wrap := range decorators() {
		t.Run(name, func(t *testing.T) {
			wrapped := func(t *testing.T, w executetest.World) execute.Executor { return wrap(t, w) }
			executetest.Decorator(t, name, wrapped, executetest.Passes{NoLookup: name == "*execute.CachedExecutor"})
			executetest.Caching(t, name, func(t *testing.T, w executetest.World) execute.Caching {
				if name != "*execute.CachedExecutor" {
					w.Next = cached(t, w)
				}
				return wrap(t, w)
			})
		})
	}
	t.Run("verified", func(t *testing.T) {
		executetest.Decorator(t, "*verify.Verifier", func(_ *testing.T, w executetest.World) execute.Executor {
			return verify.New(verify.Options{Next: w.Next, Again: w.Next, Store: w.Blobs})
		}, executetest.Passes{NoLookup: true})
	})
	t.Run("route", func(t *testing.T) {
		executetest.Decorator(t, "execute.route", func(_ *testing.T, w executetest.World) execute.Executor {
			return execute.Route(map[string]execute.Executor{action.ExecutorLocal: w.Next})
		}, executetest.Passes{NoLookup: true})
	})
}

// Where there is no executor, or none of the name, an action could not run.
func TestRouteToNowhere(t *testing.T) {
	for _, by := range []map[string]execute.Executor{nil, {"elsewhere": failing{}}} {
		if r, err := execute.Route(by).Execute(t.Context(), &execute.Request{Action: &action.Action{}}); r != nil || err == nil {
			t.Errorf("%v, %v", r, err)
		}
	}
}

type failing struct{ execute.Executor }

func (failing) Execute(context.Context, *execute.Request) (*action.Result, error) {
	panic("it was not asked")
}
