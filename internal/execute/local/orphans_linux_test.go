package local_test

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A container may keep hexmage from gaining privileges. Restricted commands cannot be told from its other children by
// that then, such as a server that was started in the background: they stay.
func TestOtherChildrenStay(t *testing.T) {
	const within = "HEXMAGE_TEST_NO_NEW_PRIVS"
	if os.Getenv(within) == "" {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(self, "-test.run=^TestOtherChildrenStay$")
		cmd.Env = append(os.Environ(), within+"=1")
		var out []byte
		done := make(chan error)
		go func() {
			runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
			err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
			if err == nil {
				out, err = cmd.CombinedOutput()
			}
			done <- err
		}()
		if err := <-done; err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	r := newRoom(t, levels(t)[0])
	r.sh(t, "mkdir -p out; echo > out/o", nil) // from now on orphans come to this process
	out, err := exec.Command("sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!").Output()
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = unix.Kill(pid, unix.SIGKILL)
		_, _ = unix.Wait4(pid, nil, 0, nil)
	}()
	r.sh(t, "mkdir -p out; echo again > out/o", nil)
	if b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err != nil ||
		strings.Contains(string(b), ") Z ") {
		t.Errorf("a process that belongs to no action was ended: %s, %v", b, err)
	}
}
