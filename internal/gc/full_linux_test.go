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

// On a disk that is full there is no room to write results anew. What else is to go goes all the same, and makes room. The
// disk is full for a whole process: so it is a child's.
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
	var err error
	storetest.FullDisk(t, 200, func() { _, err = gc.Collect(t.Context(), root, o) })
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
