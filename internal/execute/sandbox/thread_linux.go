package sandbox

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Thread is an operating system thread that starts one command. It lives until you call Close.
type Thread struct {
	over       chan struct{}
	supervisor *supervisor // or nil
	base       *Base
	namespace  *namespace // for base's next thread, or nil
}

// Start calls f on a new thread that sees the mounts. The thread, and the processes that f starts, may use only the
// files that the parameters a and base allow. If base is nil, Start does not restrict files.
func Start(base *Base, a Access, network bool, mounts []Mount, f func()) (*Thread, error) {
	t := &Thread{over: make(chan struct{})}
	started := make(chan error)
	go live(t.over, started, func() error {
		err := t.enter(base, a, mounts)
		if err != nil {
			return fmt.Errorf("sandbox: %w", err)
		}
		if base != nil {
			t.supervisor, err = base.restrict(a, network)
		}
		if err == nil {
			f()
		}
		return err
	})
	return t, <-started
}

// enter puts the calling thread in a mount namespace if it needs one.
func (t *Thread) enter(base *Base, a Access, mounts []Mount) error {
	able := base != nil && base.cannotMount == nil
	frozen, fresh := able && base.unsupervised != nil, able && !base.inShared(a)
	if !frozen && len(mounts) == 0 {
		if fresh {
			return t.enterShared(base)
		}
		return nil
	}
	err := ownMounts()
	if err == nil && frozen {
		err = freeze(a.Own)
	}
	if err == nil && fresh {
		err = ownShared()
	}
	if err == nil {
		err = mountAll(mounts)
	}
	return err
}

// enterShared puts the calling thread in a namespace with an empty folder for shared memory. It takes the namespace of
// the last command if that command did not change the folder, else a new one.
func (t *Thread) enterShared(base *Base) (err error) {
	t.base, t.namespace = base, base.idle.Swap(nil)
	if t.namespace == nil || t.namespace.enter() != nil {
		t.namespace, err = newNamespace()
	}
	return err
}

// inShared tells whether the access includes files in the machine's folder for shared memory. Then the command needs
// that folder.
func (b *Base) inShared(a Access) bool {
	return slices.ContainsFunc(slices.Concat([]string{a.Own}, a.Read, a.Write), func(p string) bool {
		if strings.HasPrefix(p, a.Own+"/") {
			return false // the executor made these folders below Own, on the same file system
		}
		var st unix.Stat_t
		if err := unix.Stat(p, &st); err != nil || st.Dev != b.shared {
			return false
		}
		at, err := filepath.EvalSymlinks(p)
		return err == nil && strings.HasPrefix(at, sharedDir+"/")
	})
}

// NetworkRefused reports which kinds of network sockets the supervisor refused to create. Without a supervisor,
// known is false. Programs create datagram sockets to look up host names, but also to list network interfaces.
func (t *Thread) NetworkRefused() (stream, datagram, known bool) {
	if t.supervisor == nil {
		return false, false, false
	}
	return t.supervisor.streamRefused.Load(), t.supervisor.datagramRefused.Load(), true
}

// onThread calls f on a thread that then ends.
func onThread(f func() error) error {
	over, done := make(chan struct{}), make(chan error)
	close(over)
	go live(over, done, f)
	return <-done
}

// live calls begin on a new thread and sends its error. Unless begin fails, the thread lives until over is closed.
func live(over <-chan struct{}, started chan<- error, begin func() error) {
	runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
	if unix.Getpid() == unix.Gettid() {
		// The first thread of a process cannot end, and /proc shows its restrictions as those of the process. This
		// goroutine keeps the thread until another thread has started the command.
		next := make(chan struct{})
		go func() {
			defer close(next)
			live(over, started, begin)
		}()
		<-next
		runtime.UnlockOSThread()
		return
	}
	err := begin()
	if started <- err; err == nil {
		<-over
	}
}

// Close ends the thread and the supervisor. Call it only after all processes of the command have ended. Close waits
// until the supervisor has handled the current system call, because this call may change files that the next action
// uses.
func (t *Thread) Close() {
	close(t.over)
	if t.supervisor != nil {
		t.supervisor.close()
	}
	if t.namespace != nil {
		t.base.idle.Store(t.namespace)
	}
}
