package runlog_test

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/runlog"
)

// What runs found counts as long as it took when it ran, each time, over all pipelines.
func TestTally(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := t.TempDir()
		if c := runlog.Count(filepath.Join(runs, "none")); c.Runs != 0 || !c.Since.IsZero() {
			t.Errorf("%+v", c)
		}
		one, two := filepath.Join(runs, "one"), filepath.Join(runs, "two")
		began := time.Now()
		end := event.BuildFinished{Actions: 2}
		begin := event.BuildStarted{Pipeline: "p"}
		record(t, one, begin, did("exec.a", "", event.Executed, "a", 40*time.Minute),
			did("exec.b", "x.o", event.Failed, "b", time.Hour), end)
		time.Sleep(time.Hour)
		record(t, one, begin, did("exec.a", "", event.Cached, "a", time.Millisecond),
			did("exec.b", "x.o", event.Executed, "b", 2*time.Second), end)
		time.Sleep(time.Hour)
		record(t, two, begin, did("exec.again", "", event.Cached, "a", time.Millisecond),
			did("exec.c", "", event.Cached, "c", time.Millisecond),
			did("exec.d", "", event.Cached, "d", time.Millisecond),
			did("exec.e", "", event.Executed, "e", time.Second), end)
		c := runlog.Count(runs)
		if c.Runs != 3 || !c.Since.Equal(began) || c.Step[key("b")] != "p: exec.b x.o" {
			t.Errorf("%+v", c)
		}
		found, saved := c.Saved(map[digest.Digest]time.Duration{key("c"): time.Minute, key("a"): time.Second})
		if found != 4 || saved != 81*time.Minute { // twice a; c, as somebody else knows it; d, of which nobody knows
			t.Errorf("%d, %v", found, saved)
		}
		if found, saved := c.Saved(nil); found != 4 || saved != 80*time.Minute {
			t.Errorf("%d, %v", found, saved)
		}
	})
}
