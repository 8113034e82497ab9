package execute

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
)

// Caching is an Executor that remembers results, such as what Cached returns.
type Caching interface {
	Executor
	Lookup
}

// Exclusive lets an action run in one process at a time: who comes second waits, and then takes the result that the
// first one remembered, if it did. So two builds that share a store do nothing twice. Processes agree through locks in
// the file at path, which is made if needed; on systems other than Linux, and on file systems without locks, actions run
// without waiting.
func Exclusive(next Caching, path string, fn digest.Function) Caching {
	return &exclusive{next: next, path: path, fn: fn, missed: map[digest.Digest]bool{}}
}

type exclusive struct {
	next Caching
	path string
	fn   digest.Function

	mu     sync.Mutex
	missed map[digest.Digest]bool // keys that Lookup did not find, until they are executed
}

// lockEvery is how often a waiting process looks whether the lock is free. A blocking wait could not be cancelled.
const lockEvery = 50 * time.Millisecond

func (x *exclusive) Lookup(ctx context.Context, a *Request) (*action.Result, bool, error) {
	r, ok, err := x.next.Lookup(ctx, a)
	if err == nil && !ok && !a.DoNotCache {
		x.mu.Lock()
		x.missed[a.Key(x.fn)] = true
		x.mu.Unlock()
	}
	return r, ok, err
}

// forget tells whether the action was looked up in vain since it was last executed.
func (x *exclusive) forget(key digest.Digest) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	missed := x.missed[key]
	delete(x.missed, key)
	return missed
}

func (x *exclusive) Execute(ctx context.Context, a *Request) (*action.Result, error) {
	if a.DoNotCache { // to be run each time, whoever else does
		return x.next.Execute(ctx, a)
	}
	if err := os.MkdirAll(filepath.Dir(x.path), 0o755); err != nil {
		return nil, &Error{Op: "lock the action", Err: err}
	}
	f, err := os.OpenFile(x.path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, &Error{Op: "lock the action", Err: err}
	}
	defer f.Close() // ends the lock
	key := a.Key(x.fn)
	missed, at := x.forget(key), offset(key)
	for waited := false; ; waited = true {
		locked, err := tryLock(f, at)
		if err != nil {
			return nil, &Error{Op: "lock the action", Err: fmt.Errorf("%s: %w", x.path, err)}
		}
		if locked {
			// Another process may have executed it while this one waited, or between its lookup and its lock. Who did not
			// look wants a run.
			if !waited && !missed {
				break
			}
			r, ok, err := x.next.Lookup(ctx, a)
			if err != nil {
				return nil, err
			}
			if ok {
				own := *r
				own.Cached = true
				return &own, nil
			}
			break
		}
		if !waited {
			a.Report(0, 0, "waits for another hexmage, which runs the same action")
		}
		select {
		case <-time.After(lockEvery):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return x.next.Execute(ctx, a)
}

// offset is the byte of the lock file that stands for the action. It need not exist, and two actions have the same one
// about never.
func offset(key digest.Digest) int64 {
	return int64(binary.BigEndian.Uint64(key.AppendHash(nil)) >> 2)
}
