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
	over       chan struct{}
	supervisor *supervisor // nil: it has none
}

// Start calls f on a new thread that sees the mounts. Unless base is nil, the thread, and what f starts, may do what
// the access says and nothing else.
func Start(base *Base, a Access, network bool, mounts []Mount, f func()) (*Thread, error) {
	t, err := start(f, func(t *Thread) error {
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
		return start(f, func(t *Thread) error { return t.change(base, a, network, nil, err) })
	}
	return t, err
}

func start(f func(), change func(*Thread) error) (*Thread, error) {
	t := &Thread{over: make(chan struct{})}
	started := make(chan error)
	go t.live(started, func() error {
		err := change(t)
		if err == nil {
			f()
		}
		return err
	})
	return t, <-started
}

// change restricts the calling thread. err is the error of ownMounts.
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
	return slices.ContainsFunc(slices.Concat([]string{a.Own}, a.Read, a.Write), func(p string) bool {
		if strings.HasPrefix(p, a.Own+"/") {
			return false // Own has the answer: the executor made the folders to what is below it
		}
		fd, err := unix.Open(p, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return false // there is nothing
		}
		defer unix.Close(fd)
		at, err := pathOf(fd)
		return err == nil && strings.HasPrefix(at, sharedDir+"/")
	})
}

// NetworkRefused reports which sockets of the network a command was refused, and whether that is known. Programs make
// datagram sockets for names of hosts, but also to list network cards.
func (t *Thread) NetworkRefused() (stream, datagram, known bool) {
	if t.supervisor == nil {
		return false, false, false
	}
	return t.supervisor.streamRefused.Load(), t.supervisor.datagramRefused.Load(), true
}

func (t *Thread) live(started chan<- error, begin func() error) {
	runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
	if unix.Getpid() == unix.Gettid() {
		// The process's first thread cannot end, and is what /proc shows of the process. It is kept busy with
		// waiting.
		next := make(chan struct{})
		go func() {
			defer close(next)
			t.live(started, begin)
		}()
		<-next
		runtime.UnlockOSThread()
		return
	}
	err := begin()
	if started <- err; err == nil {
		<-t.over
	}
}

// Close ends the thread, and its supervisor when that has done what it was asked for: a process that was killed
// meanwhile does not wait for the answer. Close is for when all processes have ended, and before another action has
// their files.
func (t *Thread) Close() {
	close(t.over)
	if t.supervisor != nil {
		t.supervisor.close()
	}
}
