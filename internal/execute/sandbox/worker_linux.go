package sandbox

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// Worker is a restricted thread, which starts commands: what they may do was decided once for all of them.
type Worker struct {
	calls chan func()
}

// NewWorker returns a thread restricted by the rules, which may be closed then. It lives until Close.
func (r *Ruleset) NewWorker(network bool) (*Worker, error) {
	w := &Worker{calls: make(chan func())}
	ready := make(chan error)
	go w.live(r, network, ready)
	return w, <-ready
}

func (w *Worker) live(r *Ruleset, network bool, ready chan<- error) {
	runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
	if unix.Getpid() == unix.Gettid() {
		// The process's first thread cannot end, and is what /proc shows of the process. It is kept busy with waiting.
		next := make(chan struct{})
		go func() {
			defer close(next)
			w.live(r, network, ready)
		}()
		<-next
		runtime.UnlockOSThread()
		return
	}
	err := r.Restrict(network)
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

// Close ends the thread. Do must not be called any more.
func (w *Worker) Close() { close(w.calls) }
