package sandbox

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// Worker is a restricted thread, or one that sees files elsewhere, which starts commands: what they may do and see was decided
// once for all of them.
type Worker struct {
	calls      chan func()
	supervisor *supervisor // nil: it has none
}

// NewWorker returns a thread restricted by the rules, which may be closed then. It lives until Close.
func (r *Ruleset) NewWorker(network bool) (*Worker, error) { return newWorker(r, network, nil) }

// NewMounted returns a thread that sees the mounts, and that is restricted by the rules, if they are not nil.
func NewMounted(r *Ruleset, network bool, mounts []Mount) (*Worker, error) {
	return newWorker(r, network, mounts)
}

func newWorker(r *Ruleset, network bool, mounts []Mount) (*Worker, error) {
	w := &Worker{calls: make(chan func())}
	ready := make(chan error)
	go w.live(ready, func() error {
		if len(mounts) > 0 {
			if err := mountAll(mounts); err != nil {
				return fmt.Errorf("sandbox: %w", err)
			}
		}
		if r == nil {
			return nil
		}
		var err error
		w.supervisor, err = r.restrict(network)
		return err
	})
	return w, <-ready
}

// Marked tells whether a command changed a folder below Access.Own in a way that stays with the folder and that its mode does not show.
func (w *Worker) Marked() bool { return w.supervisor != nil && w.supervisor.marked.Load() }

// NetworkRefused tells whether a command wanted the network and was refused since this was last asked, and whether that is known.
func (w *Worker) NetworkRefused() (refused, known bool) {
	if w.supervisor == nil {
		return false, false
	}
	return w.supervisor.networkRefused.Swap(false), true
}

func (w *Worker) live(ready chan<- error, change func() error) {
	runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
	if unix.Getpid() == unix.Gettid() {
		// The process's first thread cannot end, and is what /proc shows of the process. It is kept busy with waiting.
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
