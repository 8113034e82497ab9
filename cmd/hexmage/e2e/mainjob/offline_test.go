//go:build linux

package mainjob_test

import (
	"os"
	"strings"
	"testing"
	"time"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// TestOffline: what was fetched once needs no network: with a filled store the whole pipeline runs where there is
// none, from the packages to the tokens, and again; and where something is missing, it says so at once.
func TestOffline(t *testing.T) {
	_, o := FirstRun(t)
	if os.Getuid() != 0 {
		o = NewWorld(t).WithDownloads(t).RunAlone(t, "run", "--offline", Simulated, Pipeline)
	}
	Wants(t, o, 0, "tokens as the reference", "profile: simulated")
	w := Warmed(t)
	o = w.RunAlone(t, "run", "--offline", Simulated, Pipeline)
	Wants(t, o, 0, "profile: simulated")
	t.Logf("a second time: %v", o.Took)
	empty := NewWorld(t)
	o = empty.RunAlone(t, "run", "--offline", Simulated, Pipeline)
	if o.Code != 1 || !strings.Contains(o.Stdout+o.Stderr, "offline") ||
		!strings.Contains(o.Stdout+o.Stderr, "--offline") || o.Took > time.Minute {
		t.Errorf("with an empty store: %s", o)
	}
}
