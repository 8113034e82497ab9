package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/internal/stat"
)

// sh runs a script that may write in a folder, on a kernel that scopes signals, or as on one that does not, and returns
// what it printed.
func sh(t *testing.T, scoped bool, script string) string {
	t.Helper()
	base, err := Open()
	if err == nil {
		err = base.Unsupervised()
	}
	if err != nil {
		t.Skip(err)
	}
	if !scoped {
		base.scoped &^= unix.LANDLOCK_SCOPE_SIGNAL
	}
	dir := t.TempDir()
	out, err := os.CreateTemp(dir, "out")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", script)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	thread, err := Start(base, Access{Write: []string{dir}, Own: dir, Shared: func(stat.Stamp) bool { return false }},
		false, nil, func() {
			if err := cmd.Start(); err != nil {
				t.Error(err)
			}
		})
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	thread.Close()
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// TestSignals: processes of a command signal each other, and nobody else, also where the kernel does not see to it. It
// runs in a PID namespace: a wrong filter lets it end every process that it sees.
func TestSignals(t *testing.T) {
	const inside = "HEXMAGE_TEST_INSIDE"
	if os.Getenv(inside) == "" {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		namespace := []string{"--fork", "--pid", "--mount-proc", "--kill-child"}
		if text, err := exec.Command("unshare", append(namespace, "true")...).CombinedOutput(); err != nil {
			t.Skipf("no PID namespace: %v: %s", err, text)
		}
		// sh is the first process, which adopts: what has lost its parent is no descendant of the test.
		cmd := exec.Command("unshare", append(namespace, "sh", "-c", `setsid -w "$@"; exit $?`, "sh", self,
			"-test.run=^TestSignals$", "-test.v")...)
		cmd.Env = append(os.Environ(), inside+"=1")
		text, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(text), "--- PASS: TestSignals") {
			t.Errorf("%v\n%s", err, text)
		}
		return
	}
	text, err := exec.Command("sh", "-c", "sleep 600 >/dev/null 2>&1 & echo $!").Output() // no descendant of this one
	pid := strings.TrimSpace(string(text))
	other, nerr := strconv.Atoi(pid)
	if err := errors.Join(err, nerr); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Kill(other, unix.SIGKILL) }()
	for name, scoped := range map[string]bool{"kernel": true, "supervisor": false} {
		for _, c := range [][2]string{
			{"kill -9 " + pid + " 2>/dev/null || echo no", "no"},
			{"perl -e 'print kill(9, -" + strconv.Itoa(unix.Getpgrp()) + ")'", "0"},
			{"kill -9 -1 2>/dev/null; echo on", "on"},
			{"/usr/bin/python3 -c 'import signal,threading; signal.signal(10, lambda *_: print(\"got\")); " +
				"signal.pthread_kill(threading.get_ident(), 10)'", "got"},
			{"sleep 60 & kill $!; wait $! 2>/dev/null; echo $?", "143"},
			{"bash -mc 'sleep 60 & kill -9 %1; wait %1; echo $?' 2>/dev/null", "137"},
			{"timeout 0.01 sleep 60; echo $?", "124"},
			{"timeout 0.01 setsid -w sleep 60; echo $?", "124"},
			{"trap 'echo got; exit' USR1; setsid -w sh -c 'kill -USR1 '$$; sleep 1; echo missed", "got"},
			{"trap 'echo got' USR1; kill -USR1 0", "got"},
			{"/usr/bin/python3 -c 'import fcntl,os; r,w=os.pipe(); fcntl.fcntl(r, fcntl.F_SETOWN, os.getpid()); " +
				"fcntl.fcntl(r, fcntl.F_SETOWN, 0); print(1)'", "1"},
			{"perl -e 'kill(9, 999999999) or print $!{ESRCH} ? \"none\" : $!'", "none"},
		} {
			if text := sh(t, scoped, c[0]); text != c[1] {
				t.Errorf("%s: %s: printed %q, want %q", name, c[0], text, c[1])
			}
		}
		refused, own := "PermissionError: [Errno 1] Operation not permitted", "-9"
		if !scoped {
			refused = "OSError: [Errno 38] Function not implemented"
			own = refused
			if text := sh(t, scoped, "/usr/bin/python3 -c 'import fcntl,os; r,w=os.pipe(); fcntl.fcntl(r, "+
				"fcntl.F_SETOWN, "+pid+")' 2>&1 | tail -1"); !strings.Contains(text, "not permitted") {
				t.Errorf("signals by the owner of a descriptor: %q", text)
			}
		}
		for script, want := range map[string]string{
			"import os,signal; signal.pidfd_send_signal(os.pidfd_open(" + pid + "), 9)": refused,
			"import os,signal,subprocess as s; p=s.Popen([\"sleep\",\"1\"], start_new_session=True); " +
				"signal.pidfd_send_signal(os.pidfd_open(p.pid), 9); print(p.wait())": own,
		} {
			if text := sh(t, scoped, "/usr/bin/python3 -c '"+script+"' 2>&1 | tail -1"); text != want {
				t.Errorf("%s: %s: printed %q, want %q", name, script, text, want)
			}
		}
		if b, err := os.ReadFile("/proc/" + pid + "/stat"); err != nil || strings.Contains(string(b), ") Z ") {
			t.Fatalf("%s: another process was ended", name)
		}
	}
}

// TestProcessStaysUnrestricted: threads that are restricted start no others, and no goroutine gets onto them, whatever
// the rest of the process does.
func TestProcessStaysUnrestricted(t *testing.T) {
	base, err := Open()
	if err != nil {
		t.Skip(err)
	}
	restricted := func() (n int) {
		files, _ := filepath.Glob("/proc/self/task/*/status")
		for _, f := range files {
			if b, err := os.ReadFile(f); err == nil && strings.Contains(string(b), "NoNewPrivs:\t1") {
				n++
			}
		}
		return n
	}
	dir, before, stop := t.TempDir(), restricted(), make(chan struct{})
	var others, threads sync.WaitGroup
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
	for range 8 {
		own := t.TempDir()
		threads.Go(func() {
			for range 25 {
				thread, err := Start(base, Access{Write: []string{own}, Own: own}, false, nil, func() {
					if f, err := os.CreateTemp(dir, "x"); err == nil {
						f.Close()
						t.Error("the thread is not restricted")
					}
				})
				if err != nil {
					t.Error(err)
					return
				}
				thread.Close()
			}
		})
	}
	threads.Wait()
	close(stop)
	others.Wait()
	for range 500 {
		if restricted() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d threads are restricted, and %d were before", restricted(), before)
}
