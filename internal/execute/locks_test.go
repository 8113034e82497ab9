package execute_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/execute"
)

// locked is an executor of another process on the same stores.
func (w world) locked(lock string) execute.Executor {
	return execute.Cached(w.fake,
		execute.CacheOptions{Results: w.results, Blobs: w.blobs, Fn: fn, Locks: execute.NewLocks(lock)})
}

// Two Locks on one path stand for two processes: their open files are as separate as those of processes.
func TestExclusive(t *testing.T) {
	w := newWorld(t, nil)
	lock := filepath.Join(t.TempDir(), "state", "actions.lock")
	started, finish := make(chan bool, 10), make(chan bool)
	w.fake.Commands["slow"] = func(_ context.Context, out map[string]string) (int, error) {
		started <- true
		<-finish
		out["a.o"], out["inc/a.h"] = "object", "header"
		return 0, nil
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			r, err := w.locked(lock).Execute(t.Context(), &execute.Request{Action: w.action("slow")})
			if err != nil || len(r.Files) != 1 || len(r.Dirs) != 1 {
				t.Errorf("%v, %v", r, err)
			}
		})
	}
	<-started
	// Another action does not wait.
	if _, err := w.locked(lock).Execute(t.Context(), &execute.Request{Action: w.action("cc")}); err != nil {
		t.Fatal(err)
	}
	// Who waits can be canceled.
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	if r, err := w.locked(lock).Execute(ctx, &execute.Request{Action: w.action("slow")}); !errors.Is(err,
		context.DeadlineExceeded) {
		t.Errorf("%v, %v; want DeadlineExceeded", r, err)
	}
	close(finish)
	wg.Wait()
	if ran := w.fake.Ran(); len(ran) != 2 {
		t.Errorf("ran %v, want slow and cc once each", ran)
	}
}

// A request that waits says for whom.
func TestExclusiveWaitsFor(t *testing.T) {
	w := newWorld(t, nil)
	lock := filepath.Join(t.TempDir(), "actions.lock")
	started, finish := make(chan bool, 10), make(chan bool)
	w.fake.Commands["slow"] = func(_ context.Context, out map[string]string) (int, error) {
		started <- true
		<-finish
		out["a.o"], out["inc/a.h"] = "object", "header"
		return 0, nil
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(finish)
	first := w.locked(lock)
	wg.Go(func() {
		if _, err := first.Execute(t.Context(), &execute.Request{Action: w.action("slow")}); err != nil {
			t.Error(err)
		}
	})
	<-started
	for want, e := range map[string]execute.Executor{"another step": first, "another hexmage process": w.locked(lock)} {
		ctx, cancel := context.WithCancel(t.Context())
		var said string
		_, err := e.Execute(ctx, &execute.Request{Action: w.action("slow"),
			Progress: func(_, _ int64, message string) {
				said = message
				cancel()
			}})
		if cancel(); err == nil || said != "waits for "+want+" that runs the same action" {
			t.Errorf("%s: %q, %v", want, said, err)
		}
	}
}

// What is not remembered has to be run by each, one after the other.
func TestExclusiveNotRemembered(t *testing.T) {
	w := newWorld(t, nil)
	var mu sync.Mutex
	running, most := 0, 0
	w.fake.Commands["fail"] = func(context.Context, map[string]string) (int, error) {
		mu.Lock()
		running++
		most = max(most, running)
		mu.Unlock()
		time.Sleep(150 * time.Millisecond)
		mu.Lock()
		running--
		mu.Unlock()
		return 1, nil
	}
	lock := filepath.Join(t.TempDir(), "actions.lock")
	run := func(a *action.Action) int {
		most = 0
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if r, err := w.locked(lock).Execute(t.Context(), &execute.Request{Action: a}); err != nil ||
					r.ExitCode != 1 {
					t.Errorf("%v, %v", r, err)
				}
			})
		}
		wg.Wait()
		return most
	}
	if most := run(w.action("fail")); most != 1 {
		t.Errorf("%d ran at once", most)
	}
	each := w.action("fail")
	each.DoNotCache = true
	if most := run(each); most < 2 {
		t.Error("actions that are to be run each time waited for each other")
	}
	if ran := w.fake.Ran(); len(ran) != 6 {
		t.Errorf("ran %d times, want 6", len(ran))
	}
}

// Another process executes the action between this one's lookup and its lock: it is not executed again, unless it is
// forced.
func TestExclusiveAfterALookup(t *testing.T) {
	w := newWorld(t, nil)
	lock := filepath.Join(t.TempDir(), "actions.lock")
	here, there := w.locked(lock), w.locked(lock)
	for _, force := range []bool{false, true} {
		ran := len(w.fake.Ran())
		a := w.action("cc")
		a.Command.Env = map[string]string{"FORCE": fmt.Sprint(force)}
		r, err := here.Execute(t.Context(),
			&execute.Request{Action: a, Force: force, Start: func(*execute.Request) error {
				_, err := there.Execute(t.Context(), &execute.Request{Action: a})
				return err
			}})
		if err != nil || r.ExitCode != 0 || r.Cached == force {
			t.Fatalf("%v, %v", r, err)
		}
		want := 1
		if force {
			want = 2
		}
		if got := len(w.fake.Ran()) - ran; got != want {
			t.Errorf("force %v: ran %d times, want %d", force, got, want)
		}
	}
}

// Of two processes that force an action, the second takes the result of the first, but no older one: if the first
// fails, the second runs.
func TestExclusiveForced(t *testing.T) {
	for _, fails := range []bool{false, true} {
		w := newWorld(t, nil)
		lock := filepath.Join(t.TempDir(), "actions.lock")
		started, finish, code := make(chan bool, 2), make(chan bool), 0
		w.fake.Commands["flash"] = func(_ context.Context, out map[string]string) (int, error) {
			out["a.o"], out["inc/a.h"] = "object", "header"
			started <- true
			<-finish
			return code, nil
		}
		a := w.action("flash")
		go func() { finish <- true }()
		if _, err := w.locked(lock).Execute(t.Context(), &execute.Request{Action: a}); err != nil {
			t.Fatal(err)
		}
		<-started
		if fails {
			code = 1
		}
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				waits := make(chan bool, 1)
				r, err := w.locked(lock).Execute(t.Context(), &execute.Request{Action: a, Force: true,
					Progress: func(int64, int64, string) { waits <- true }})
				if err != nil || r.Cached == fails && len(waits) > 0 {
					t.Errorf("fails %v: %+v, %v", fails, r, err)
				}
			})
		}
		<-started
		time.Sleep(100 * time.Millisecond) // the other one waits
		close(finish)
		wg.Wait()
		want := 2
		if fails {
			want = 3
		}
		if ran := w.fake.Ran(); len(ran) != want {
			t.Errorf("fails %v: ran %d times, want %d", fails, len(ran), want)
		}
	}
}
