//go:build linux

package mainjob_test

import (
	"os"
	"strings"
	"testing"
	"time"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// TestOffline: with downloaded toolchains in the cache, the whole pipeline runs without a network, from the packages to
// the tokens, and again. If a download is missing, the run fails at once and names it.
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
