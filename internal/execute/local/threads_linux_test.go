package local_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/execute"
)

// scoped tells whether the kernel keeps restricted processes from other processes' signals and abstract sockets.
func scoped() bool {
	abi, _, _ := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	return abi >= 6 && abi < 1<<16
}

// restrictedThreads counts threads of this process that can gain no privileges.
func restrictedThreads(t *testing.T) int {
	t.Helper()
	files, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && strings.Contains(string(b), "NoNewPrivs:\t1") {
			n++
		}
	}
	return n
}

// Threads that are restricted start no others, and no goroutine gets onto them: whatever the rest of the process does
// while hundreds of actions run, it can do everywhere.
func TestProcessStaysUnrestricted(t *testing.T) {
	all := levels(t)
	r := newRoom(t, all[len(all)-1])
	if !r.strict {
		t.Skip("this kernel has no Landlock")
	}
	dir, before := t.TempDir(), restrictedThreads(t)
	stop := make(chan struct{})
	var others, wg sync.WaitGroup
	for range 8 {
		others.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				// System calls that take long make the runtime start threads.
				var inner sync.WaitGroup
				for range 4 {
					inner.Go(func() {
						if f, err := os.CreateTemp(dir, "x"); err != nil {
							t.Error(err)
						} else {
							f.Close()
							os.Remove(f.Name())
						}
						_ = unix.Nanosleep(&unix.Timespec{Nsec: 2e6}, nil)
					})
				}
				inner.Wait()
				runtime.Gosched()
			}
		})
	}
	for w := range 8 {
		wg.Go(func() {
			for n := range 25 {
				// Ever new places to write to, so that ever new threads are restricted.
				a := r.action(t, w*25+n)
				if res, err := r.x.Execute(t.Context(), &execute.Request{Action: a}); err != nil || res.ExitCode != 0 {
					t.Errorf("%+v, %v", res, err)
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	others.Wait()
	if err := r.x.Close(); err != nil {
		t.Error(err)
	}
	for range 500 {
		if restrictedThreads(t) <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d threads are restricted, and %d were before", restrictedThreads(t), before)
}

// action has a place for its output that other numbers do not have.
func (r room) action(t *testing.T, n int) *action.Action {
	out := "out-" + strconv.Itoa(n%50) + "/o"
	return &action.Action{Command: action.Command{Args: []string{"sh", "-c", "echo x > " + out},
		Outputs: []string{out}}, InputRoot: r.root(t, nil)}
}
