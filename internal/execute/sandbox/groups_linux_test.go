package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/internal/stat"
)

// bench is a worker, and a folder in which its commands may write.
type bench struct {
	*Worker
	dir string
}

// newBench makes a worker on a kernel that scopes signals, or as on one that does not.
func newBench(t *testing.T, scoped bool) *bench {
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
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	rules, err := base.Ruleset(Access{Write: []string{dir}, Own: dir, Shared: func(stat.Stamp) bool { return false }})
	if err != nil {
		t.Fatal(err)
	}
	defer rules.Close()
	w, err := NewWorker(rules, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return &bench{w, dir}
}

// sh runs a script, ends what it leaves, and returns what it printed, and whether it left something.
func (b *bench) sh(t *testing.T, script string) (string, bool) {
	t.Helper()
	out, err := os.CreateTemp(b.dir, "out")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", script)
	cmd.Dir, cmd.Stdout, cmd.Stderr = b.dir, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: b.Number(0)}
	var left bool
	b.Do(func() {
		if err = cmd.Start(); err == nil {
			_ = cmd.Wait()
			_ = unix.Kill(b.Number(-cmd.Process.Pid), unix.SIGKILL)
			left, err = b.End(cmd.Process.Pid)
		}
	})
	text, rerr := os.ReadFile(out.Name())
	if err := errors.Join(err, rerr); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return strings.TrimSpace(string(text)), left
}

// Whatever a process does to leave its command's group, it ends with the command, and its number is told to nobody
// else.
func TestEnd(t *testing.T) {
	b := newBench(t, true)
	for name, script := range map[string]string{
		"a session":                    "setsid -f sh -c 'echo $$ > pid; exec sleep 60'",
		"a session without its leader": "setsid -f sh -c 'sleep 60 & echo $! > pid.new; mv pid.new pid'",
		"a session of a session": "setsid -f setsid -f sh -c 'setsid -f sleep 60 & echo $$ > pid; exec " +
			"sleep 60'",
		"a group":     "timeout 60 sh -c 'echo $$ > pid; exec sleep 60' &",
		"job control": "bash -mc 'sleep 60 & echo $! > pid'",
		"a group's number from its child": "perl -e 'if (!($p = fork)) { sleep 60; exit } setpgrp($p, $p); open F, " +
			"\">pid\"; print F $p' &",
		"many": "for i in $(seq 70); do setsid -f sleep 60; done; setsid -f sh -c 'echo $$ > pid; exec sleep 60'",
	} {
		if _, left := b.sh(t, script+"\n until test -s pid; do sleep 0.01; done"); !left {
			t.Errorf("%s: nothing was left", name)
		}
		pid, err := os.ReadFile(filepath.Join(b.dir, "pid"))
		n, nerr := strconv.Atoi(strings.TrimSpace(string(pid)))
		if err := errors.Join(err, nerr, os.Remove(filepath.Join(b.dir, "pid"))); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if stat, err := os.ReadFile("/proc/" + strconv.Itoa(n) + "/stat"); err == nil &&
			!strings.Contains(string(stat), ") Z ") {
			t.Errorf("%s: %s", name, stat)
		}
		b.supervisor.groups.mu.Lock()
		if known := len(b.supervisor.groups.known); known > 0 {
			t.Errorf("%s: %d groups are still known", name, known)
		}
		b.supervisor.groups.mu.Unlock()
	}
	if text, left := b.sh(t, "timeout 60 true; timeout 60 true; echo done"); text != "done" || left {
		t.Errorf("%q, left %v", text, left)
	}
}

// A group is known from before the kernel makes it, however many there are.
func TestManyAtOnce(t *testing.T) {
	var g groups
	defer g.forget(func(int) bool { return true })
	for range manyGroups + 1 {
		cmd := exec.CommandContext(t.Context(), "sleep", "60")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Wait() })
		if err := g.make(cmd.Process.Pid, cmd.Process.Pid, cmd.Process.Pid); err != nil {
			t.Fatal(err)
		}
	}
	if len(g.known) != manyGroups+1 {
		t.Errorf("%d of %d groups are known that are about to be made", len(g.known), manyGroups+1)
	}
}

// Nobody enters a group that is none of the command's: it would end with it, or not at all.
func TestForeignGroup(t *testing.T) {
	b := newBench(t, true)
	own := strconv.Itoa(unix.Getpgrp())
	if text, left := b.sh(t, "perl -e 'setpgrp(0, "+own+") and print \"entered \"; setpgrp("+own+", 0) and print "+
		"\"moved\"'"); text != "" || left {
		t.Errorf("%q, left %v", text, left)
	}
}

// The number of a group that is no more may be another's.
func TestSignalByNumber(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sleep 60 & echo $!; kill -9 $$")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.PidfdOpen(cmd.Process.Pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	var buf [16]byte
	n, _ := out.Read(buf[:])
	rest, err := strconv.Atoi(strings.TrimSpace(string(buf[:n])))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = cmd.Process.Wait() // the group's first process
	other := exec.Command("sleep", "60")
	other.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	if err := signalByNumber(other.Process.Pid, fd, unix.SIGKILL, same); !errors.Is(err, unix.ESRCH) {
		t.Errorf("a group with another's number: %v", err)
	}
	if err := unix.Kill(other.Process.Pid, 0); err != nil {
		t.Errorf("another process: %v", err)
	}
	if err := signalByNumber(cmd.Process.Pid, fd, unix.SIGKILL, same); err != nil {
		t.Errorf("a group without its first process: %v", err)
	}
	for i := 0; ; i++ {
		if err := unix.Kill(rest, 0); err != nil {
			break
		}
		if stat, _ := os.ReadFile("/proc/" + strconv.Itoa(rest) + "/stat"); strings.Contains(string(stat), ") Z ") {
			break
		}
		if i == 1000 {
			t.Fatal("what is left of the group still runs")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestSignals: processes of a command signal each other, and nobody else, also where the kernel does not see to it.
func TestSignals(t *testing.T) {
	other := exec.Command("sleep", "600")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = other.Wait() }()
	defer func() { _ = other.Process.Kill(); <-ended }()
	pid := strconv.Itoa(other.Process.Pid)
	for name, scoped := range map[string]bool{"kernel": true, "supervisor": false} {
		b := newBench(t, scoped)
		for _, c := range [][2]string{
			{"kill -9 " + pid + " 2>/dev/null || echo no", "no"},
			{"perl -e 'print kill(9, -" + strconv.Itoa(unix.Getpgrp()) + ")'", "0"},
			{"kill -9 -1 2>/dev/null; echo on", "on"},
			{"/usr/bin/python3 -c 'import os,signal; signal.pidfd_send_signal(os.pidfd_open(" + pid +
				"), 9)' 2>&1 | tail -1", "PermissionError: [Errno 1] Operation not permitted"},
			{"/usr/bin/python3 -c 'import os,signal,subprocess as s; p=s.Popen([\"sleep\",\"60\"], " +
				"start_new_session=True); signal.pidfd_send_signal(os.pidfd_open(p.pid), 9); print(p.wait())'", "-9"},
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
			if text, _ := b.sh(t, c[0]); text != c[1] {
				t.Errorf("%s: %s: printed %q, want %q", name, c[0], text, c[1])
			}
		}
		if !scoped {
			if text, _ := b.sh(t, "/usr/bin/python3 -c 'import fcntl,os; r,w=os.pipe(); fcntl.fcntl(r, "+
				"fcntl.F_SETOWN, "+pid+")' 2>&1 | tail -1"); !strings.Contains(text, "not permitted") {
				t.Errorf("signals by the owner of a descriptor: %q", text)
			}
		}
		select {
		case <-ended:
			t.Fatalf("%s: another process was ended", name)
		default:
		}
	}
}
