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
// first one remembered, if it did. So two builds that share a store do nothing twice.
func Exclusive(next Caching, locks *Locks, fn digest.Function) Caching {
	return &exclusive{next: next, locks: locks, fn: fn, missed: map[digest.Digest]bool{}}
}

// Locks are what processes agree through on who executes an action: bytes of a file. On systems other than Linux, and
// on file systems without locks, nobody waits.
type Locks struct {
	path string

	mu   sync.Mutex
	file *os.File       // nil until it is needed
	held map[int64]bool // here
}

// NewLocks returns those in the file at path, which is made when it is needed.
func NewLocks(path string) *Locks { return &Locks{path: path, held: map[int64]bool{}} }

// File is the open file. What is locked here stays so as long as any process has it from this one: also when this one
// is killed.
func (l *Locks) File() (*os.File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open()
}

func (l *Locks) open() (*os.File, error) {
	if l.file != nil {
		return l.file, nil
	}
	err := os.MkdirAll(filepath.Dir(l.path), 0o755)
	if err == nil {
		l.file, err = os.OpenFile(l.path, os.O_RDWR|os.O_CREATE, 0o644)
	}
	return l.file, err
}

// Close gives up the file.
func (l *Locks) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// try takes the lock at the place. It is false when somebody has it, here or in another process.
func (l *Locks) try(at int64) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, err := l.open()
	if err != nil || l.held[at] {
		return false, err
	}
	locked, err := tryLock(f, at)
	if err != nil {
		return false, fmt.Errorf("%s: %w", l.path, err)
	}
	if locked {
		l.held[at] = true
	}
	return locked, nil
}

// unlock gives back what try took.
func (l *Locks) unlock(at int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, at)
	unlock(l.file, at)
}

type exclusive struct {
	next  Caching
	locks *Locks
	fn    digest.Function

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
	key := a.Key(x.fn)
	missed, at := x.forget(key), offset(key)
	for waited := false; ; waited = true {
		locked, err := x.locks.try(at)
		if err != nil {
			return nil, &Error{Op: "lock the action", Err: err}
		}
		if locked {
			defer x.locks.unlock(at)
			// Another process may have executed it while this one waited, or between its lookup and its lock. Who did
			// not look wants a run.
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

// offset is the byte of the lock file that stands for the action. It need not exist, and two actions have the same
// one about never.
func offset(key digest.Digest) int64 {
	return int64(binary.BigEndian.Uint64(key.AppendHash(nil)) >> 2)
}
