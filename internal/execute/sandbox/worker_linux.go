package sandbox

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Worker is a restricted thread, or one that sees files elsewhere, which starts commands.
type Worker struct {
	calls      chan func()
	supervisor *supervisor // nil: it has none
	secret     uint32      // see Number
}

// NewWorker returns a thread that sees the mounts, and that the rules restrict, if they are not nil. The rules may be
// closed then. The thread lives until Close.
func NewWorker(r *Ruleset, network bool, mounts []Mount) (*Worker, error) {
	w, err := startWorker(func(w *Worker) error {
		err := ownMounts()
		if errors.Is(err, errChroot) {
			return err
		}
		return w.change(r, network, mounts, err)
	})
	if errors.Is(err, errChroot) && len(mounts) == 0 {
		// another thread, which shares the mounts
		return startWorker(func(w *Worker) error { return w.change(r, network, nil, err) })
	}
	return w, err
}

func startWorker(change func(*Worker) error) (*Worker, error) {
	w := &Worker{calls: make(chan func()), secret: rand.Uint32N(math.MaxInt32) + 1}
	ready := make(chan error)
	go w.live(ready, func() error { return change(w) })
	return w, <-ready
}

// change makes the calling thread the worker's. The error is that of making mounts of its own.
func (w *Worker) change(r *Ruleset, network bool, mounts []Mount, err error) error {
	if err == nil && r != nil && r.base.unsupervised != nil {
		err = freeze(r.access.Own)
	}
	if err == nil && r != nil && !r.access.inShared() {
		err = ownShared()
	}
	if err == nil {
		err = mountAll(mounts)
	}
	if err != nil && len(mounts) > 0 {
		return fmt.Errorf("sandbox: %w", err)
	}
	if r == nil {
		return nil
	}
	w.supervisor, err = r.restrict(network, w.secret)
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

// Number is the number of a process or a group, or 0, for system calls that the thread makes itself, such as kill, or
// setpgid before it starts a command: nobody else knows the upper half, and the kernel ignores it. Without it the
// supervisor would be asked, which at best takes time.
func (w *Worker) Number(n int) int { return int(uint64(w.secret)<<32 | uint64(uint32(n))) }

// End ends the processes that a command left in process groups of their own, when the command has ended and its group
// was told to. It tells whether there were any. If they do not end the worker must not be used any more. Without a
// supervisor it does nothing.
func (w *Worker) End(group int) (found bool, err error) {
	if w.supervisor == nil {
		return false, nil
	}
	return w.supervisor.groups.end(group, w.Number)
}

// Settle waits until everything is done that a command asked the supervisor for: one that was killed meanwhile does
// not wait for it. It is for when its processes have ended, and before anybody else has its files. last says that
// some may not have: nothing is done for them from here on.
func (w *Worker) Settle(last bool) {
	if w.supervisor != nil {
		w.supervisor.settle(last)
	}
}

// NetworkRefused tells whether a command wanted the network and was refused since this was last asked, and whether
// that is known.
func (w *Worker) NetworkRefused() (refused, known bool) {
	if w.supervisor == nil {
		return false, false
	}
	return w.supervisor.networkRefused.Swap(false), true
}

func (w *Worker) live(ready chan<- error, change func() error) {
	runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
	if unix.Getpid() == unix.Gettid() {
		// The process's first thread cannot end, and is what /proc shows of the process. It is kept busy with
		// waiting.
		next := make(chan struct{})
		go func() {
			defer close(next)
			w.live(ready, change)
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
	for call := range w.calls {
		call()
	}
}

// Do has the thread call f, one at a time, and returns when it did. What f starts is restricted like the thread.
func (w *Worker) Do(f func()) {
	done := make(chan struct{})
	w.calls <- func() {
		defer close(done)
		f()
	}
	<-done
}

// Close ends the thread, and the supervision of what it started. Do must not be called any more.
func (w *Worker) Close() {
	close(w.calls)
	if w.supervisor != nil {
		w.supervisor.close()
	}
}
