package worker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/internal/execute/sandbox"
	"github.com/hexmage/hexmage/internal/stat"
)

// The test binary is also a worker, and a hexmage that has one.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 4 && os.Args[1] == "tool":
		Main(os.Args[3], func(stat.Stamp) bool { return false })
	case len(os.Args) == 3 && os.Args[1] == "work":
		work(os.Args[2])
	default:
		os.Exit(m.Run())
	}
}

// work has a worker run a command that leaves processes in every way and waits.
func work(dir string) {
	w, err := Start("/proc/self/exe", dir, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(w.pid)
	number, script := filepath.Base(dir), ""
	for _, s := range leaving() {
		script += strings.ReplaceAll(s, "sleep 60", "sleep "+number+".5") + "\n"
	}
	e, err := w.Run(context.Background(), nil, shell(script+"sleep "+number+".9"), os.Stdin, show, show)
	fmt.Println(e, err)
}

func show(b []byte) { os.Stdout.Write(b) }

func shell(script string) *Command {
	return &Command{Path: "/bin/sh", Args: []string{"sh", "-c", script}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}}
}

// leaving are scripts that leave processes behind, of which each sleeps 60 seconds.
func leaving() map[string]string {
	return map[string]string{
		"a child":                      "sleep 60 &",
		"a session":                    "setsid sleep 60 &",
		"without its environment":      "env -i setsid -f sleep 60",
		"a session without its leader": "setsid -f sh -c 'sleep 60 & sleep 60 &'",
		"a session of a session":       "setsid -f setsid -f sh -c 'setsid -f sleep 60 & exec sleep 60'",
		"without files":                "(env -i setsid sh -c 'cd /; exec sleep 60 <&- >&- 2>&-' &)",
		"without signals": "(env -i setsid sh -c 'trap \"\" HUP INT TERM QUIT; while :; do sleep 60; " +
			"done' &)",
		"a group":     "timeout 60 sh -c 'exec sleep 60' &",
		"job control": "bash -mc 'sleep 60 &' 2>/dev/null",
		"a subreaper's": fmt.Sprintf("perl -e 'syscall(%d, %d, 1); "+
			"exec \"sh\", \"-c\", \"sleep 60 & exec sleep 60\"' &",
			unix.SYS_PRCTL, unix.PR_SET_CHILD_SUBREAPER),
		"many": "for i in $(seq 70); do setsid -f sleep 60; done",
	}
}

// number is a length of sleep that no other process has.
func number() string { return strconv.Itoa(100_000 + int(time.Now().UnixNano()%900_000_000)) }

// sleeping are the processes that sleep so long, or a fraction longer.
func sleeping(number string) (found []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if b, _ := os.ReadFile(f); strings.HasPrefix(string(b), "sleep\x00"+number) {
			found = append(found, string(b))
		}
	}
	return found
}

func eventually(t *testing.T, within time.Duration, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(within); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after %v: not %s", within, what)
		}
	}
}

func begun(t *testing.T, dir string, hold *os.File) *Worker {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w, err := Start(self, dir, hold)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// run runs a script and returns how it ended, and what it printed.
func run(t *testing.T, w *Worker, c *Command) (*Ended, string) {
	t.Helper()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var out []byte
	var mu sync.Mutex
	collect := func(b []byte) {
		mu.Lock()
		defer mu.Unlock()
		out = append(out, b...)
	}
	e, err := w.Run(t.Context(), nil, c, null, collect, collect)
	if err != nil {
		t.Fatal(err)
	}
	return e, string(out)
}

// Whatever a command starts, and however that leaves its group, session and parents, has ended when Run returns, and
// the worker runs the next one. What was printed before is all there.
func TestNothingIsLeft(t *testing.T) {
	access := map[string]*sandbox.Access{"unrestricted": nil}
	if _, err := sandbox.Open(); err == nil {
		dir := t.TempDir()
		access["restricted"] = &sandbox.Access{Write: []string{dir}, Own: dir}
	}
	for level, access := range access {
		w := begun(t, t.TempDir(), nil)
		for name, script := range leaving() {
			mark := number()
			c := shell(strings.ReplaceAll(script, "sleep 60", "sleep "+mark) +
				"\n until grep -zqsx " + mark + " /proc/[0-9]*/cmdline; do sleep 0.01; done; echo printed; exit 3")
			c.Access = access
			if e, out := run(t, w, c); e.Code != 3 || e.Left != "" || out != "printed\n" {
				t.Errorf("%s, %s: %+v, %q", level, name, e, out)
			}
			if left := sleeping(mark); len(left) > 0 {
				t.Errorf("%s, %s: %q are left", level, name, left)
			}
		}
		if !w.Usable() {
			t.Errorf("%s: the worker is gone", level)
		}
	}
}

// A process that goes on by starting another and ending is found.
func TestChain(t *testing.T) {
	w := begun(t, t.TempDir(), nil)
	for range 5 {
		e, _ := run(t, w, shell("perl -e 'while (1) { defined(my $child = fork) or next; exit if $child }' "+
			">/dev/null 2>&1 &"))
		if e.Code != 0 || e.Left != "" {
			t.Fatalf("%+v", e)
		}
	}
}

func TestSignal(t *testing.T) {
	w := begun(t, t.TempDir(), nil)
	for script, want := range map[string]int{"kill -9 $$": 137, "kill -TERM $$": 143, "exit 7": 7} {
		if e, _ := run(t, w, shell(script)); e.Code != want {
			t.Errorf("%s: %+v", script, e)
		}
	}
	if e, _ := run(t, w, &Command{Path: "/nowhere/program", Args: []string{"program"}, Dir: "/"}); e.Start == "" {
		t.Errorf("a program that is not there: %+v", e)
	}
	if e, _ := run(t, w, shell("kill -9 $PPID; sleep 60")); !e.Lost || e.Code != 137 || w.Usable() {
		t.Errorf("the worker was killed: %+v", e)
	}
}

// TestCanceled: a command that is canceled may end in its own way, and is killed after a moment.
func TestCanceled(t *testing.T) {
	for script, want := range map[string]int{"trap 'exit 9' TERM; echo on; while :; do sleep 0.01; done": 9,
		"trap '' TERM; echo on; while :; do sleep 0.01; done": 137} {
		w := begun(t, t.TempDir(), nil)
		ctx, cancel := context.WithCancel(t.Context())
		e, err := w.Run(ctx, nil, shell(script), os.Stdin, func([]byte) { cancel() }, func([]byte) {})
		cancel()
		if err != nil || e.Code != want || w.Usable() != (want == 9) {
			t.Errorf("%s: %+v, %v; usable: %v", script, e, err, w.Usable())
		}
		if want == 9 {
			if e, _ := run(t, w, shell("exit 4")); e.Code != 4 {
				t.Errorf("the next command: %+v", e)
			}
		}
	}
}

// TestKilled kills a hexmage, alone or with its worker, as root and as a user. All that its command started ends, at
// the latest when End is called, and nothing else.
func TestKilled(t *testing.T) {
	users := []uint32{uint32(os.Getuid())}
	if os.Getuid() == 0 {
		users = append(users, 65534)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range users {
		for _, both := range []bool{false, true} {
			t.Run(fmt.Sprintf("user %d, worker too: %v", user, both), func(t *testing.T) {
				base, err := os.MkdirTemp("", "worker-") // where other users may look
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { os.RemoveAll(base) })
				program, mark := filepath.Join(base, "program"), number()
				b, err := os.ReadFile(self)
				if err := errors.Join(err, os.Chmod(base, 0o755), os.WriteFile(program, b, 0o755)); err != nil {
					t.Fatal(err)
				}
				dir := filepath.Join(base, mark)
				cmd := exec.Command(program, "work", dir)
				cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
				if user != uint32(os.Getuid()) {
					cmd.SysProcAttr.Credential = &syscall.Credential{Uid: user, Gid: user}
				}
				out, err := cmd.StdoutPipe()
				if err == nil {
					err = cmd.Start()
				}
				if err != nil {
					t.Fatal(err)
				}
				line, err := bufio.NewReader(out).ReadString('\n')
				pid, nerr := strconv.Atoi(strings.TrimSpace(line))
				if err := errors.Join(err, nerr); err != nil {
					t.Fatal(err)
				}
				eventually(t, 20*time.Second, "all started",
					func() bool { return len(sleeping(mark)) >= len(leaving())+72 })
				neighbor := begun(t, dir+"-2", nil)
				ended := make(chan *Ended)
				go func() {
					e, _ := run(t, neighbor, shell("sleep "+mark+"77 & read end < /dev/null; sleep 3; kill $!; exit 5"))
					ended <- e
				}()
				if both {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
				_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
				_ = cmd.Wait()
				if both {
					if len(sleeping(mark+".")) == 0 {
						t.Error("nothing is left for End")
					}
					End(dir)
				}
				eventually(t, 5*time.Second, "all gone", func() bool { return len(sleeping(mark+".")) == 0 })
				eventually(t, 5*time.Second, "the worker gone", func() bool { return !runs(pid) })
				if e := <-ended; e.Code != 5 || !neighbor.Usable() {
					t.Errorf("a command of another hexmage ended with %+v", e)
				}
			})
		}
	}
}

// runs tells whether the process is there, and not only to be waited for.
func runs(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(b), ") Z ")
}

// What the worker holds for this process stays locked until the last process of the command is gone.
func TestLocksStay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	lock := func() (*os.File, bool) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		err = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Len: 1})
		if err != nil && !errors.Is(err, unix.EAGAIN) {
			t.Fatal(err)
		}
		return f, err == nil
	}
	held, _ := lock()
	w, mark := begun(t, t.TempDir(), held), number()
	held.Close()
	kill, ended := make(chan struct{}), make(chan error)
	go func() {
		_, err := w.Run(context.Background(), kill, shell("setsid -f sleep "+mark+"; sleep "+mark), os.Stdin, show,
			show)
		ended <- err
	}()
	eventually(t, 10*time.Second, "started", func() bool { return len(sleeping(mark)) == 2 })
	if f, free := lock(); free {
		t.Error("the lock is free while the command runs")
	} else {
		f.Close()
	}
	close(kill) // as if this process had ended
	eventually(t, 10*time.Second, "the lock is free", func() bool {
		f, free := lock()
		f.Close()
		return free
	})
	if left := sleeping(mark); len(left) > 0 {
		t.Errorf("the lock is free, and there still are %q", left)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestMarks(t *testing.T) {
	seen := map[uint64]string{}
	for i := range 1000 {
		dir := fmt.Sprintf("/cache/tmp/run-%d-%d", i, i)
		m := mark(dir)
		if m < 1<<62 || m >= 1<<63 || seen[m] != "" || m != mark(dir+"/") {
			t.Fatalf("%s: %d, %q", dir, m, seen[m])
		}
		seen[m] = dir
	}
}

// TestOutputIsHeld has a process that is not the command's hold its output: the command ends, and its output is there.
func TestOutputIsHeld(t *testing.T) {
	w := begun(t, t.TempDir(), nil)
	ready := filepath.Join(t.TempDir(), "ready")
	var out, errs strings.Builder
	type result struct {
		*Ended
		error
	}
	done := make(chan result)
	go func() {
		script := "echo $$ >R.new; mv R.new R; while [ -e R ]; do sleep 0.01; done; seq 5000; echo end >&2"
		c := shell(strings.ReplaceAll(script, "R", ready))
		null, err := os.Open(os.DevNull)
		if err != nil {
			done <- result{nil, err}
			return
		}
		defer null.Close()
		e, err := w.Run(t.Context(), nil, c, null, func(b []byte) { out.Write(b) }, func(b []byte) { errs.Write(b) })
		done <- result{e, err}
	}()
	var pid []byte
	eventually(t, time.Minute, "the command", func() bool {
		pid, _ = os.ReadFile(ready)
		return len(pid) > 0
	})
	for _, fd := range []string{"1", "2"} {
		held, err := os.OpenFile("/proc/"+strings.TrimSpace(string(pid))+"/fd/"+fd, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer held.Close()
	}
	if err := os.Remove(ready); err != nil {
		t.Fatal(err)
	}
	select {
	case r := <-done:
		whole := strings.HasSuffix(out.String(), "\n4999\n5000\n") && errs.String() == "end\n"
		if r.error != nil || r.Code != 0 || !whole {
			t.Errorf("%+v, %v, %d bytes, %q", r.Ended, r.error, out.Len(), errs.String())
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it waits for a process that is not the command's")
	}
}

// TestCanceledBefore does not let a command begin whose context has ended.
func TestCanceledBefore(t *testing.T) {
	w := begun(t, t.TempDir(), nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	made := filepath.Join(t.TempDir(), "made")
	_, err = w.Run(ctx, nil, shell("echo >"+made+"; sleep 60"), null, show, show)
	if _, there := os.Stat(made); err != nil || there == nil || !w.Usable() {
		t.Errorf("%v, %v, usable %v", err, there, w.Usable())
	}
	if e, _ := run(t, w, shell("exit 3")); e.Code != 3 {
		t.Errorf("%+v", e)
	}
}

// late is a context that ends while a command is handed over.
type late struct{ context.Context }

func (late) Err() error { return nil }

// TestCanceledAtBegin: such a command gets SIGTERM, and the worker runs the next one.
func TestCanceledAtBegin(t *testing.T) {
	w := begun(t, t.TempDir(), nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		e, err := w.Run(late{ctx}, nil, shell("sleep 60"), os.Stdin, show, show)
		if err != nil || e.Lost || e.Code != 143 || !w.Usable() {
			t.Fatalf("%+v, %v, usable %v", e, err, w.Usable())
		}
	}
}
