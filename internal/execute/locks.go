package execute

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/digest"
)

// Locks ensure that an action runs in only one process at a time. The lock for an action is a byte range of one file.
// Outside Linux, and on file systems without locks, processes do not wait for each other.
type Locks struct {
	path string

	mu   sync.Mutex
	file *os.File       // nil until it is needed
	held map[int64]bool // here
}

// NewLocks returns Locks that use the file at path. The first lock creates the file.
func NewLocks(path string) *Locks { return &Locks{path: path, held: map[int64]bool{}} }

// File returns the open file. The system releases a lock only after all processes that inherited the file have ended,
// even if this process was killed.
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

// Close closes the file.
func (l *Locks) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// try takes the lock of a byte. It returns false if this or another process holds it.
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

// holder names the holder of a lock that try did not get.
func (l *Locks) holder(at int64) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[at] {
		return "another step"
	}
	return "another hexmage process"
}

// unlock gives back what try took.
func (l *Locks) unlock(at int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, at)
	unlock(l.file, at)
}

// lockEvery is how often a waiting process looks whether the lock is free. A blocking wait could not be canceled.
const lockEvery = 50 * time.Millisecond

// lock takes the lock of the action, and tells whether it had to wait for it.
func (l *Locks) lock(ctx context.Context, a *Request, fn digest.Function) (waited bool, unlock func(), err error) {
	at := offset(a.Key(fn))
	for ; ; waited = true {
		locked, err := l.try(at)
		if err != nil {
			return waited, nil, &Error{Op: "lock the action", Err: err}
		}
		if locked {
			return waited, func() { l.unlock(at) }, nil
		}
		if !waited {
			a.Report(0, 0, "waits for "+l.holder(at)+" that runs the same action")
		}
		select {
		case <-time.After(lockEvery):
		case <-ctx.Done():
			return waited, nil, context.Cause(ctx)
		}
	}
}

// offset is the byte of the lock file that stands for the action. It need not exist, and two actions have the same
// one about never.
func offset(key digest.Digest) int64 {
	return int64(binary.BigEndian.Uint64(key.AppendHash(nil)) >> 2)
}
