package sandbox

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Thread is a thread of the operating system that starts one command. It lives until Close.
type Thread struct {
	calls      chan func()
	supervisor *supervisor // nil: it has none
}

// NewThread returns a thread that sees the mounts. Unless base is nil, the thread, and what it starts, may do what the
// access says and nothing else.
func NewThread(base *Base, a Access, network bool, mounts []Mount) (*Thread, error) {
	t, err := startThread(func(t *Thread) error {
		if base == nil && len(mounts) == 0 {
			return nil
		}
		err := ownMounts()
		if errors.Is(err, errChroot) {
			return err
		}
		return t.change(base, a, network, mounts, err)
	})
	if errors.Is(err, errChroot) && len(mounts) == 0 {
		// another thread, which shares the mounts
		return startThread(func(t *Thread) error { return t.change(base, a, network, nil, err) })
	}
	return t, err
}

func startThread(change func(*Thread) error) (*Thread, error) {
	t := &Thread{calls: make(chan func())}
	ready := make(chan error)
	go t.live(ready, func() error { return change(t) })
	return t, <-ready
}

// change restricts the calling thread. The error is that of making mounts of its own.
func (t *Thread) change(base *Base, a Access, network bool, mounts []Mount, err error) error {
	if err == nil && base != nil && base.unsupervised != nil {
		err = freeze(a.Own)
	}
	if err == nil && base != nil && !a.inShared() {
		err = ownShared()
	}
	if err == nil {
		err = mountAll(mounts)
	}
	if err != nil && len(mounts) > 0 {
		return fmt.Errorf("sandbox: %w", err)
	}
	if base == nil {
		return nil
	}
	t.supervisor, err = base.restrict(a, network)
	return err
}

// inShared tells whether something of it is in everybody's folder for shared memory, which cannot be replaced then.
func (a Access) inShared() bool {
	return slices.ContainsFunc(slices.Concat(a.Read, a.Write, []string{a.Own}), func(p string) bool {
		fd, err := unix.Open(p, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return false // there is nothing
		}
		defer unix.Close(fd)
		at, err := pathOf(fd)
		return err == nil && strings.HasPrefix(at, sharedDir+"/")
	})
}

// NetworkRefused tells whether a command wanted the network and was refused, and whether that is known.
func (t *Thread) NetworkRefused() (refused, known bool) {
	if t.supervisor == nil {
		return false, false
	}
	return t.supervisor.networkRefused.Load(), true
}

func (t *Thread) live(ready chan<- error, change func() error) {
	runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
	if unix.Getpid() == unix.Gettid() {
		// The process's first thread cannot end, and is what /proc shows of the process. It is kept busy with
		// waiting.
		next := make(chan struct{})
		go func() {
			defer close(next)
			t.live(ready, change)
		}()
		<-next
		runtime.UnlockOSThread()
		return
	}
	err := change()
	ready <- err
	if err != nil {
		return
	}
	for call := range t.calls {
		call()
	}
}

// Do has the thread call f, and returns when it did. What f starts is restricted like the thread.
func (t *Thread) Do(f func()) {
	done := make(chan struct{})
	t.calls <- func() {
		defer close(done)
		f()
	}
	<-done
}

// Close ends the thread, and its supervisor when that has done what it was asked for: a process that was killed
// meanwhile does not wait for the answer. Close is for when all processes have ended, and before another action has
// their files. Do must not be called any more.
func (t *Thread) Close() {
	close(t.calls)
	if t.supervisor != nil {
		t.supervisor.close()
	}
}
