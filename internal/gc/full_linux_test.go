package gc_test

import (
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/gc"
)

// fullRoot is the variable that makes the test binary run only the child's part of TestCollectWithoutRoom.
const fullRoot = "HEXMAGE_TEST_FULL_ROOT"

// On a disk that is full there is no room to write results anew. What else is to go goes all the same, and makes room. A limit on the size of files
// stands in for the disk, for a whole process: so it is a child's.
func TestCollectWithoutRoom(t *testing.T) {
	root := os.Getenv(fullRoot)
	if root == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestCollectWithoutRoom$", "-test.v")
		cmd.Env = append(os.Environ(), fullRoot+"="+t.TempDir())
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestCollectWithoutRoom") {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	c := open(t, root)
	const day = 24 * time.Hour
	o := gc.CollectOptions{MaxAge: 30 * day, Now: time.Now().Add(60 * day)} // blobs cannot be made old
	old, _ := c.run(t, time.Now(), "a=old")
	young, _ := c.run(t, o.Now.Add(-day), "a=young")
	signal.Ignore(syscall.SIGXFSZ)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	limit := was
	limit.Cur = 200
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	_, err := gc.Collect(t.Context(), root, o)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	if err == nil || c.has(t, "old") || !c.has(t, "young") {
		t.Errorf("%v; old is there: %v, young is there: %v", err, c.has(t, "old"), c.has(t, "young"))
	}
	if c.known(t, old) || !c.known(t, young) {
		t.Error("a result without its blob is known, or one with its own is not")
	}
	if s, err := gc.Collect(t.Context(), root, o); err != nil || s.Broken != 1 || !c.known(t, young) {
		t.Errorf("with room: %+v, %v", s, err)
	}
}
