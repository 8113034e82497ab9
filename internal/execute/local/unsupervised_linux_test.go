package local_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/execute/sandbox"
)

// TestUnsupervised: below a process that supervises system calls itself, a hexmage cannot. Then an action has copies
// of its inputs.
func TestUnsupervised(t *testing.T) {
	base := unsupervised(t)
	if base == nil {
		return
	}
	frozen := base.Mounts() == nil
	for _, output := range []string{"out/o", "o"} {
		p := newPlace(t, base, 8)
		want, outside := p.seen(t, output), p.outsiders(t)
		if frozen { // then nothing of others can be changed either
			if res, err := p.run(t, output, "chmod 777 OUT/file toolchains/sdk/bin/cc; poke setxattr OUT/file; "+
				"touch -d 2001-01-01 OUT; ln toolchains/sdk/bin/cc out/cc; chmod 777 out/cc"); err != nil ||
				res.ExitCode == 0 {
				t.Errorf("%+v, %v", res, err)
			}
			if got := p.outsiders(t); got != outside {
				t.Errorf("outside %s", difference(outside, got))
			}
		}
		for _, script := range []string{
			"chmod 777 IN; echo x > IN", "touch -d 2001-01-01 IN", "poke setxattr IN", "poke fchmod IN",
		} {
			script = strings.ReplaceAll(script, "IN", "$in")
			if res, err := p.run(t, output,
				"for in in in src/in src/prog big out/big out/in flat/f7; do "+script+
					"; done; poke prlimit PID; poke shm"); err != nil || res.ExitCode == 0 {
				t.Errorf("%s: %+v, %v", script, res, err)
			}
			if got := p.seen(t, output); got != want {
				t.Errorf("%s, output %s: the next action sees %s", script, output, difference(want, got))
			}
			p.checkStore(t)
		}
	}
}

// unsupervised returns the base system of a process without a supervisor, or, if this is another, runs the test in
// one and returns nil.
func unsupervised(t *testing.T) *sandbox.Base {
	t.Helper()
	if os.Getenv("HEXMAGE_TEST_SUPERVISED") == "" {
		supervised(t)
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), "HEXMAGE_TEST_SUPERVISED=1")
		if out, err := startSupervised(t, cmd); err != nil || !strings.Contains(out, "--- PASS: "+t.Name()) {
			t.Errorf("%v\n%s", err, out)
		}
		return nil
	}
	base, err := sandbox.Open()
	if err != nil {
		t.Fatal(err)
	}
	if base.Unsupervised() == nil {
		t.Fatal("there are two supervisors")
	}
	return base
}

// Without a supervisor, what an action leaves behind, and nobody can tell whose it is, writes to no output of another
// one: not while it lives, and it ends when no command runs any more.
func TestWhatIsLeftReachesNobody(t *testing.T) {
	base := unsupervised(t)
	if base == nil {
		return
	}
	p := newPlace(t, base, 1)
	running, ended := make(chan string, 1), make(chan struct{})
	other := &action.Action{Command: action.Command{Args: []string{"sh", "-c",
		"echo progress 1 2 $HEXMAGE_ROOT >&2; sleep 60"}, Outputs: []string{"o"}}, InputRoot: p.room.root(t, nil)}
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		defer close(ended)
		_, _ = p.x.Execute(ctx, &execute.Request{Action: other,
			Progress: func(_, _ int64, root string) { running <- root }})
	}()
	mark := fmt.Sprintf("left-%d-%d", os.Getpid(), time.Now().UnixNano())
	for _, env := range []string{"", " HEXMAGE_ROOT=/nowhere", " HEXMAGE_ROOT=" + <-running} {
		left := "(env -i" + env + " /usr/bin/setsid /bin/sh -c ': > up; while /bin/sleep 0.01; do [ ! -e o ] || " +
			"echo WRONG >> o; done' " + mark + " <&- >&- 2>&- &)"
		if res, err := p.run(t, "first", left+"; while [ ! -e up ]; do sleep 0.01; done; echo > first"); err != nil ||
			res.ExitCode != 0 {
			t.Fatalf("%+v, %v", res, err)
		}
		if len(marked(mark)) == 0 {
			t.Error("nothing is left: there is nothing to see")
		}
		res, err := p.run(t, "o", "echo right > o; sleep 0.3")
		if err != nil || res.ExitCode != 0 || len(res.Files) != 1 ||
			res.Files[0].Digest != digest.BLAKE3.Bytes([]byte("right\n")) {
			t.Errorf("with%q in its environment: %+v, %v", env, res, err)
		}
	}
	stop()
	<-ended
	if res, err := p.run(t, "o", "echo right > o"); err != nil || res.ExitCode != 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	if left := marked(mark); len(left) > 0 {
		t.Errorf("no command runs any more, and there still are %q", left)
	}
}

// marked are the processes that have the text among their arguments.
func marked(text string) (found []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if b, _ := os.ReadFile(f); strings.Contains(string(b), "\x00"+text+"\x00") {
			found = append(found, f)
		}
	}
	return found
}

// startSupervised runs the command from a thread that has a supervisor, which is never asked.
func startSupervised(t *testing.T, cmd *exec.Cmd) (out string, err error) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked
		allow := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}
		prog := unix.SockFprog{Len: 1, Filter: &allow}
		if err = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return
		}
		fd, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
			unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&prog)))
		if errno != 0 {
			err = errno
			return
		}
		defer unix.Close(int(fd))
		var b []byte
		b, err = cmd.CombinedOutput()
		out = string(b)
	}()
	<-done
	return out, err
}
