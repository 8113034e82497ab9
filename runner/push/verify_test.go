//go:build linux

package push

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/runner/agent"
	"github.com/hexmage/hexmage/runner/layout"
	"github.com/hexmage/hexmage/runner/transport"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

func contents(all ...string) map[string]blob {
	blobs := map[string]blob{}
	for _, content := range all {
		b := sha256.Sum256([]byte(content))
		sum := hex.EncodeToString(b[:])
		blobs[sum] = blob{sum: sum, size: int64(len(content)), open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }}
	}
	return blobs
}

// TestAgentVerifies: the agent computes SHA-256 instead of the phone's sha256sum. If the agent fails, sha256sum does.
func TestAgentVerifies(t *testing.T) {
	t.Parallel()
	dev := phonetest.Device(t, phonetest.Image(t, nil), nil)
	do := func(command string) string {
		t.Helper()
		out, err := transport.Script(t.Context(), dev, command, nil)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(out)
	}
	// The agent may win or lose the race. Only the agent stays.
	do("mkdir -p " + layout.CAS + " " + layout.Used)
	racer := &Store{dev: dev}
	racer.race(t.Context())
	_, program := agent.Program()
	if racer.agent != "" && racer.agent != layout.CAS+"/"+program {
		t.Errorf("chosen was %q", racer.agent)
	}
	if got := do("ls -A " + layout.CAS); got != program {
		t.Errorf("after the race there is %q", got)
	}
	large := strings.Repeat("0123456789abcde\n", (maxSend+1<<20)/16)
	for _, c := range []struct {
		name, script string
		asked        string // number of pushed files
	}{
		{"the agent", "exec " + layout.Android.CAS() + "/" + program + ` "$@"`, "3"},
		{"one that fails", "exit 1", "3"},
		{"one that dies", "kill -9 $$", "3"},
	} {
		do("cd /data/local/tmp; rm -rf hexmage/cas/[!" + program[:1] + "]* hexmage/parts asked; printf '%s\n' '#!/system/bin/sh' 'echo >>/data/local/tmp/asked' '" + c.script + "' >agent; chmod 755 agent")
		s := &Store{dev: dev}
		s.agent = "/data/local/tmp/agent"
		blobs := contents("one", "two"+c.name, large+c.name)
		for sum, b := range blobs {
			if b.size > maxSend { // complete, but not verified
				do(fmt.Sprintf("cd %s; { yes 0123456789abcde | head -n %d; printf %%s '%s'; } >.%s.part", layout.CAS, len(large)/16, c.name, sum))
			}
		}
		if err := s.have(t.Context(), blobs); err != nil || s.pushed.Sent > 4<<10 {
			t.Errorf("%s: %+v, %v", c.name, s.pushed, err)
		}
		if got := do("wc -l </data/local/tmp/asked"); got != c.asked {
			t.Errorf("%s: asked %s times, want %s", c.name, got, c.asked)
		}
		for sum := range blobs {
			if got := do("sha256sum <" + layout.CAS + "/" + sum); !strings.HasPrefix(got, sum) {
				t.Errorf("%s: %s has the content %s", c.name, sum, got)
			}
		}
	}
}
