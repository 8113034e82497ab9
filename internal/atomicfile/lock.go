package atomicfile

import (
	"context"
	"os"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// Lock takes an exclusive lock on the file at path, and returns a function that releases the lock. If the file is
// missing, Lock creates it. Lock waits for other holders, including holders in this process. If ctx ends first, Lock
// returns the cause of ctx.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	return lock(ctx, path, os.O_RDWR)
}

// Share is like Lock, but takes a shared lock. Several callers of Share can hold this lock at the same time.
func Share(ctx context.Context, path string) (unlock func(), err error) {
	return lock(ctx, path, os.O_RDONLY)
}

func lock(ctx context.Context, path string, flag int) (unlock func(), err error) {
	type locked struct {
		file *lockedfile.File
		err  error
	}
	got := make(chan locked, 1)
	go func() {
		f, err := lockedfile.OpenFile(path, flag|os.O_CREATE, 0o644)
		got <- locked{f, err}
	}()
	select {
	case l := <-got:
		return func() { l.file.Close() }, l.err
	case <-ctx.Done():
		go func() { // the caller has stopped waiting
			if l := <-got; l.err == nil {
				l.file.Close()
			}
		}()
		return nil, context.Cause(ctx)
	}
}
