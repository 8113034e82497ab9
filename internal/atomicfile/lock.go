package atomicfile

import (
	"context"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// Lock takes the lock file at path, which is made if needed and stays, and returns a function that gives it back. It waits
// for another process, or another part of this one, that has it; when ctx ends it stops waiting and returns its cause.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	type locked struct {
		unlock func()
		err    error
	}
	got := make(chan locked, 1)
	go func() {
		u, err := lockedfile.MutexAt(path).Lock()
		got <- locked{u, err}
	}()
	select {
	case l := <-got:
		return l.unlock, l.err
	case <-ctx.Done():
		go func() { // nobody wants it any more
			if l := <-got; l.err == nil {
				l.unlock()
			}
		}()
		return nil, context.Cause(ctx)
	}
}
