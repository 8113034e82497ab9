package gc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/internal/store/layout"
)

// Who may be at work in a cache folder at once.
//
// A build relies on blobs between the moment it finds them in the store and the moment it reads them, which may be
// hours later, and finding leaves no trace on the disk that could be told from "not used". So nothing is collected
// while any build runs: builds hold the file state/in-use.lock shared, a collection holds it alone. The kernel gives
// the lock back when a process ends, however it ends, so no process can leave it behind; and as it is the file's
// lock, not an entry in it, there is nothing in it that a crash could damage. A build that starts during a collection
// waits for its end.
//
// What was found by one build is nothing to the next: each looks again. So it does not matter what a collection
// removes between two builds, nor where it is killed: a blob that is gone is a result that is not known.

// ErrInUse is what UseAlone returns, wrapped, when a build runs.
var ErrInUse = errors.New("the cache is in use")

// soon is how long a lock may take before it counts as held by somebody. A free lock is had within microseconds.
const soon = 300 * time.Millisecond

func lockFile(root string) string { return layout.Root(root).State().InUseLock() }

// Use says that the calling process relies on what is in the cache folder, until it calls done or ends. It waits
// while a collection runs, and calls waiting, if not nil, once when it has to. On file systems without locks it
// returns at once.
func Use(ctx context.Context, root string, waiting func()) (done func(), err error) {
	done, err = lock(ctx, root, atomicfile.Share)
	if !errors.Is(err, ErrInUse) {
		return done, err
	}
	if waiting != nil {
		waiting()
	}
	return atomicfile.Share(ctx, lockFile(root))
}

// UseAlone says that no other process may use the cache folder until done is called. It fails with ErrInUse when one
// does.
func UseAlone(ctx context.Context, root string) (done func(), err error) {
	if done, err = lock(ctx, root, atomicfile.Lock); err != nil {
		return nil, err
	}
	// On a file system without locks, and for a build that holds none, its scratch folder tells.
	pids, err := running(root)
	if err == nil && len(pids) > 0 {
		err = fmt.Errorf("%s: %w by process %d: wait until it has ended", root, ErrInUse, pids[0])
	}
	if err != nil {
		done()
		return nil, err
	}
	return done, nil
}

// lock takes the lock if it is had soon; else it fails with ErrInUse.
func lock(ctx context.Context, root string, take func(context.Context, string) (func(), error)) (func(), error) {
	if err := os.MkdirAll(filepath.Dir(lockFile(root)), 0o755); err != nil {
		return nil, fmt.Errorf("lock the cache: %w", err)
	}
	inUse := fmt.Errorf("%s: %w: wait until the other hexmage has ended", root, ErrInUse)
	now, cancel := context.WithTimeoutCause(ctx, soon, inUse)
	defer cancel()
	done, err := take(now, lockFile(root))
	switch {
	case unsupported(err):
		return func() {}, nil
	case err != nil && !errors.Is(err, ErrInUse) && ctx.Err() == nil:
		err = fmt.Errorf("lock the cache: %w", err)
	}
	return done, err
}

// running returns the processes, other than this one, that have a scratch folder and live.
func running(root string) ([]int, error) {
	runs, err := layout.Root(root).Runs()
	var pids []int
	for _, r := range runs {
		if r.PID != os.Getpid() && atomicfile.Alive(r.PID) && !free(r.Lock()) {
			pids = append(pids, r.PID)
		}
	}
	return pids, err
}

// TidyRuns removes the scratch folders of processes that have ended. end is called with them before: it ends
// processes that are still at work in them. One process does so at a time, so that nothing is removed over which
// another one is busy. It may be called in a build.
func TidyRuns(ctx context.Context, root string, end func(dirs ...string)) {
	dead := func() (left []string) {
		runs, _ := layout.Root(root).Runs()
		for _, run := range runs {
			if free(run.Lock()) {
				left = append(left, run.Path)
			}
		}
		return left
	}
	if len(dead()) == 0 {
		return
	}
	at := layout.Root(root).State().TidyLock()
	if os.MkdirAll(filepath.Dir(at), 0o755) != nil {
		return
	}
	unlock, err := atomicfile.Lock(ctx, at)
	if err != nil {
		return // the next build tries again
	}
	defer unlock()
	removeAll(dead(), end)
}

func removeAll(dirs []string, end func(dirs ...string)) {
	if len(dirs) > 0 {
		end(dirs...)
	}
	for _, dir := range dirs {
		_ = os.RemoveAll(dir)
	}
}

// Tidy removes the scratch folders that killed builds left in the cache folder, which may be large. A build calls it
// before Use. A folder that cannot be removed does no harm. end is called with the folders first: it ends processes
// that still work in them. A folder without a lock stays while another build runs, because nothing tells whose it is.
func Tidy(ctx context.Context, root string, end func(dirs ...string)) {
	r := layout.Root(root)
	if runs, _ := r.Runs(); len(runs) == 0 {
		return
	}
	TidyRuns(ctx, root, end)
	runs, _ := r.Runs()
	if len(runs) == 0 {
		return
	}
	if pids, err := running(root); err != nil || len(pids) > 0 {
		return // asking for the lock would take a while
	}
	done, err := UseAlone(ctx, root)
	if err != nil {
		return
	}
	defer done()
	var left []string
	for _, run := range runs {
		left = append(left, run.Path)
	}
	removeAll(left, end)
}
