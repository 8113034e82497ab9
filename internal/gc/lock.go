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

// Locks of a cache folder.
//
// A build relies on blobs from the lookup to the read, which may be hours later, and a lookup leaves no trace on disk.
// So a collection may not run during a build: builds hold the file state/in-use.lock shared, a collection holds it
// exclusively. The kernel releases the lock when a process ends, also after a kill, and a crash cannot corrupt a lock
// that has no content. A build that starts during a collection waits for its end.
//
// Each build looks up its blobs again. So a collection may remove anything between two builds, and may be killed at any
// point: a removed blob is a cache miss.

// ErrInUse reports that a build is using the cache. LockExclusive returns an error that wraps it.
var ErrInUse = errors.New("the cache is in use")

// soon is the timeout after which a lock counts as held by another process. A free lock is taken within microseconds.
const soon = 300 * time.Millisecond

func lockFile(root string) string { return layout.Root(root).State().InUseLock() }

// LockShared protects the cache folder's content from removal until the caller calls done or the process ends. If
// another process is removing items, LockShared calls the function waiting, if not nil, and then waits. On file systems
// without locks, LockShared returns immediately.
func LockShared(ctx context.Context, root string, waiting func()) (done func(), err error) {
	done, err = lock(ctx, root, atomicfile.Share)
	if !errors.Is(err, ErrInUse) {
		return done, err
	}
	if waiting != nil {
		waiting()
	}
	return atomicfile.Share(ctx, lockFile(root))
}

// LockExclusive prevents other processes from using the cache folder until the caller calls done. It fails with
// ErrInUse if another process is using the folder.
func LockExclusive(ctx context.Context, root string) (done func(), err error) {
	if done, err = lock(ctx, root, atomicfile.Lock); err != nil {
		return nil, err
	}
	// Scratch folders show builds without a lock, as on file systems without locks.
	pids, err := running(root)
	if err == nil && len(pids) > 0 {
		err = fmt.Errorf("%s: %w by process %d; wait until the process ends", root, ErrInUse, pids[0])
	}
	if err != nil {
		done()
		return nil, err
	}
	return done, nil
}

// lock takes the lock, or fails with ErrInUse after the timeout soon.
func lock(ctx context.Context, root string, take func(context.Context, string) (func(), error)) (func(), error) {
	if err := os.MkdirAll(filepath.Dir(lockFile(root)), 0o755); err != nil {
		return nil, fmt.Errorf("lock the cache: %w", err)
	}
	inUse := fmt.Errorf("%s: %w; wait until the other hexmage process ends", root, ErrInUse)
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

// running returns the other live processes that have a scratch folder.
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

// RemoveStaleRuns removes the scratch folders of processes that have ended. It first passes the folders to the function
// end. This function must kill all processes that still work in the folders. RemoveStaleRuns is safe during a build.
// Only one process at a time removes folders.
func RemoveStaleRuns(ctx context.Context, root string, end func(dirs ...string)) {
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
		_ = atomicfile.RemoveAll(dir)
	}
}

// RemoveStale removes the scratch folders of killed builds. A build calls it before LockShared. RemoveStale first
// passes the folders to the function end. This function must kill all processes that still work in the folders.
// RemoveStale ignores folders that it cannot remove. While another build runs, it keeps folders without a lock, because
// the owner is unknown.
func RemoveStale(ctx context.Context, root string, end func(dirs ...string)) {
	r := layout.Root(root)
	if runs, _ := r.Runs(); len(runs) == 0 {
		return
	}
	RemoveStaleRuns(ctx, root, end)
	runs, _ := r.Runs()
	if len(runs) == 0 {
		return
	}
	if pids, err := running(root); err != nil || len(pids) > 0 {
		return // avoids the wait for the lock
	}
	done, err := LockExclusive(ctx, root)
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
