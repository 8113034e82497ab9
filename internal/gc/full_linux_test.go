package gc_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/gc"
	"github.com/hexmage/hexmage/internal/store/storetest"
)

// fullRoot is the variable that makes the test binary run only the child's part of TestCollectWithoutRoom.
const fullRoot = "HEXMAGE_TEST_FULL_ROOT"

// Collect needs no room on the disk. The limit is one of a whole process, so a child process has it.
func TestCollectWithoutRoom(t *testing.T) {
	root := os.Getenv(fullRoot)
	if root == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestCollectWithoutRoom$", "-test.v")
		cmd.Env = append(os.Environ(), fullRoot+"="+t.TempDir())
		if out, err := cmd.CombinedOutput(); err != nil ||
			!strings.Contains(string(out), "--- PASS: TestCollectWithoutRoom") {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	c := open(t, root)
	const day = 24 * time.Hour
	o := gc.CollectOptions{MaxAge: 30 * day, Now: time.Now().Add(60 * day)} // blobs cannot be made old
	old, _ := c.run(t, time.Now(), "a=old")
	young, _ := c.run(t, o.Now.Add(-day), "a=young")
	var err error
	storetest.FullDisk(t, 200, func() { _, err = gc.Collect(t.Context(), root, o) })
	if err != nil || c.has(t, "old") || !c.has(t, "young") {
		t.Errorf("%v; old is there: %v, young is there: %v", err, c.has(t, "old"), c.has(t, "young"))
	}
	if c.known(t, old) || !c.known(t, young) {
		t.Error("a result without its blob is known, or one with its own is not")
	}
}
