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

// TestUnsupervised: below a process that supervises system calls itself, a hexmage cannot. Then an action has copies of its inputs.
func TestUnsupervised(t *testing.T) {
	if os.Getenv("HEXMAGE_TEST_SUPERVISED") == "" {
		supervised(t)
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestUnsupervised$", "-test.v")
		cmd.Env = append(os.Environ(), "HEXMAGE_TEST_SUPERVISED=1")
		if out, err := startSupervised(t, cmd); err != nil || !strings.Contains(out, "--- PASS: TestUnsupervised") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	base, err := sandbox.Open()
	if err != nil {
		t.Fatal(err)
	}
	if base.Unsupervised() == nil {
		t.Fatal("there are two supervisors")
	}
	for _, output := range []string{"out/o", "o"} {
		p := newPlace(t, base, 600)
		want := p.seen(t, output)
		for _, script := range []string{
			"chmod 777 IN; echo x > IN", "touch -d 2001-01-01 IN", "poke setxattr IN", "poke fchmod IN",
		} {
			script = strings.ReplaceAll(script, "IN", "$in")
			if res, err := p.run(t, output, "for in in in src/in src/prog big out/big out/in flat/f7; do "+script+"; done; poke prlimit PID; poke shm"); err != nil || res.ExitCode == 0 {
				t.Errorf("%s: %+v, %v", script, res, err)
			}
			if got := p.seen(t, output); got != want {
				t.Errorf("%s, output %s: the next action sees %s", script, output, difference(want, got))
			}
			p.checkStore(t)
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
		fd, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&prog)))
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
