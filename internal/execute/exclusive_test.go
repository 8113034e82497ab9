package execute_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/execute"
)

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
			r, err := execute.Exclusive(w.x, execute.NewLocks(lock), fn).Execute(t.Context(), &execute.Request{Action: w.action("slow")})
			if err != nil || len(r.Files) != 1 || len(r.Dirs) != 1 {
				t.Errorf("%v, %v", r, err)
			}
		})
	}
	<-started
	// Another action does not wait.
	if _, err := execute.Exclusive(w.x, execute.NewLocks(lock), fn).Execute(t.Context(), &execute.Request{Action: w.action("cc")}); err != nil {
		t.Fatal(err)
	}
	// Who waits can be cancelled.
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	if r, err := execute.Exclusive(w.x, execute.NewLocks(lock), fn).Execute(ctx, &execute.Request{Action: w.action("slow")}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, %v; want DeadlineExceeded", r, err)
	}
	close(finish)
	wg.Wait()
	if ran := w.fake.Ran(); len(ran) != 2 {
		t.Errorf("ran %v, want slow and cc once each", ran)
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
				if r, err := execute.Exclusive(w.x, execute.NewLocks(lock), fn).Execute(t.Context(), &execute.Request{Action: a}); err != nil || r.ExitCode != 1 {
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

// Another process executes the action between this one's lookup and its lock: it is not executed again, unless who asks
// has not looked.
func TestExclusiveAfterALookup(t *testing.T) {
	w := newWorld(t, nil)
	lock := filepath.Join(t.TempDir(), "actions.lock")
	a := w.action("cc")
	here, there := execute.Exclusive(w.x, execute.NewLocks(lock), fn), execute.Exclusive(w.x, execute.NewLocks(lock), fn)
	if _, ok, err := here.Lookup(t.Context(), &execute.Request{Action: a}); ok || err != nil {
		t.Fatalf("known before it ran: %v, %v", ok, err)
	}
	if _, err := there.Execute(t.Context(), &execute.Request{Action: a}); err != nil {
		t.Fatal(err)
	}
	for want := 1; want <= 2; want++ { // the second time nobody has looked
		if r, err := here.Execute(t.Context(), &execute.Request{Action: a}); err != nil || r.ExitCode != 0 || r.Cached != (want == 1) {
			t.Fatalf("%v, %v", r, err)
		}
		if ran := w.fake.Ran(); len(ran) != want {
			t.Errorf("ran %d times, want %d", len(ran), want)
		}
	}
}
