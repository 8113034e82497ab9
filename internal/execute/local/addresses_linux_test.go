package local_test

import (
	"io"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/execute"
)

// where is where a command's stack is, twice: of itself and of what it starts.
func where(t *testing.T, f fixture, fixed bool) (text string, res *action.Result) {
	t.Helper()
	a := &action.Action{Command: action.Command{Args: []string{"sh", "-c",
		"{ grep -F '[stack]' /proc/$$/maps; sh -c 'grep -F \"[stack]\" /proc/$$/maps'; } > o"},
		Outputs: []string{"o"}}, InputRoot: f.root(t, nil)}
	if fixed {
		a.Command.Platform = map[string]string{action.PropertyAddresses: action.AddressesFixed}
	}
	res, err := f.x.Execute(t.Context(), &execute.Request{Action: a})
	if err != nil || res.ExitCode != 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	r, err := f.blobs.Open(t.Context(), res.Files[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil || strings.Count(string(b), "\n") != 2 {
		t.Fatalf("%q, %v", b, err)
	}
	return string(b), res
}

// TestDisableASLR: with them, two runs have their memory at the same places; without, also in commands that come
// after one with them, they do not.
func TestDisableASLR(t *testing.T) {
	f := newFixture(t)
	one, res := where(t, f, true)
	if res.Varies != "" {
		t.Skip("this machine refuses fixed addresses: " + res.Varies)
	}
	if two, _ := where(t, f, true); one != two {
		t.Errorf("%s, then %s", one, two)
	}
	one, _ = where(t, f, false)
	if two, _ := where(t, f, false); one == two {
		t.Errorf("without: %s both times", one)
	}
}

// TestDisableASLRRefused: where the kernel refuses, as in many containers, the command runs, and its result says so.
func TestDisableASLRRefused(t *testing.T) {
	f := newFixture(t)
	done := make(chan *action.Result)
	go func() {
		defer close(done)
		runtime.LockOSThread() // it ends with this goroutine
		refuse := []unix.SockFilter{
			{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS},
			{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_PERSONALITY, Jf: 1},
			{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
			{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		}
		prog := unix.SockFprog{Len: uint16(len(refuse)), Filter: &refuse[0]}
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			t.Error(err)
			return
		}
		if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0,
			uintptr(unsafe.Pointer(&prog))); errno != 0 {
			t.Error(errno)
			return
		}
		_, res := where(t, f, true)
		done <- res
	}()
	if res := <-done; res == nil || !strings.Contains(res.Varies, "operation not permitted") {
		t.Errorf("%+v", res)
	}
}
