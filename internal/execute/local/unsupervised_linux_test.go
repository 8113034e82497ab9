package local_test

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

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

// Without a supervisor, too, nothing is left of an action, whatever it threw away, while others run.
func TestNothingIsLeftWithoutSupervisor(t *testing.T) {
	base := unsupervised(t)
	if base == nil {
		return
	}
	p := newPlace(t, base, 1)
	defer occupied(t, p)()
	for _, env := range []string{"", "env -i", "env -i HEXMAGE_ROOT=/nowhere"} {
		res, err := p.run(t, "o", env+" setsid -f setsid -f sh -c 'while :; do echo WRONG > w; mv -f w o; done' "+
			"</dev/null >/dev/null 2>&1\n until test -e o; do :; done")
		if err != nil || res.ExitCode != 0 {
			t.Fatalf("%+v, %v", res, err)
		}
		left := 0
		for _, pid := range p.workers(t) {
			left += len(children(pid))
		}
		if left != 1 { // the command beside
			t.Errorf("%q: %d processes are left", env, left)
		}
	}
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
