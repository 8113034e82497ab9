package atomicfile

import (
	"context"
	"os"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// Lock takes the lock file at path, which is made if needed and stays, and returns a function that gives it back. It
// waits for another process, or another part of this one, that has it; when ctx ends it stops waiting and returns its
// cause.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	return lock(ctx, path, os.O_RDWR)
}

// Share is Lock for a lock that others may share, but not have alone.
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
		go func() { // nobody wants it any more
			if l := <-got; l.err == nil {
				l.file.Close()
			}
		}()
		return nil, context.Cause(ctx)
	}
}
