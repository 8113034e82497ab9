//go:build linux

package phone_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/runner/session"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

// envBallast is how many MB are pushed beside the model, for a run by hand.
const envBallast = "HEXMAGE_PUSH_MB"

// TestFlakyPhone: the main pipeline's device part on a phone that the user's adb server knows, with a large file
// among what is pushed and a link that breaks every 20 MB. The run finishes with the reference's tokens and little is
// sent twice; what runs after it sends nothing.
func TestFlakyPhone(t *testing.T) {
	mb := 64
	if s := os.Getenv(envBallast); s != "" {
		var err error
		if mb, err = strconv.Atoi(s); err != nil {
			t.Fatalf("%s: %v", envBallast, err)
		}
	}
	w, server := Warmed(t), phonetest.Server(t)
	w.Env = []string{"ADB_SERVER_SOCKET=localfilesystem:" + server.Address()}
	ballast := make([]byte, mb<<20)
	_, _ = rand.NewChaCha8([32]byte{3}).Read(ballast)
	if err := os.WriteFile(filepath.Join(w.Dir, "ballast.bin"), ballast, 0o644); err != nil {
		t.Fatal(err)
	}
	w.Edit(t, ModuleFile, `    "model.bin" `, "    \"ballast.bin\" = \"ballast.bin\"\n    \"model.bin\" ")
	w.Edit(t, ModuleFile, `  timeout     = "30m"`, "  repeat      = 2\n  timeout     = \"30m\"")
	w.WriteShipped(t, w.Shipped(t).Output("runs", "step.run.llm.outputs.results"))
	phone := emulate(t, w, "--fault", "drop-every=20MB", "--connect")
	o := w.Run(t, "run", Simulated, Pipeline, "--serial", phone.Serial)
	Wants(t, o, ExitOK, "tokens as the reference", "2 of 2 runs",
		"times during the push; if the phone is on USB, try Wi-Fi")

	sent := func(repetition int) int64 {
		t.Helper()
		var r session.Record
		if err := json.Unmarshal([]byte(Read(t, w.Out("runs/"+strconv.Itoa(repetition)+"/run.json"))), &r); err != nil {
			t.Fatal(err)
		}
		if r.Serial != phone.Serial || r.SoC != "SM8750" || !r.Simulated {
			t.Errorf("run %d was on %+v, want the phone that was chosen", repetition, r)
		}
		return r.SentBytes
	}
	size := int64(len(ballast))
	first, second := sent(1), sent(2)
	const inFlight = 12 << 20 // what may be lost in buffers when the link breaks for the first time
	limit := size * 11 / 10
	if size < 1<<30 {
		limit += inFlight
	}
	if first < size || first > limit {
		t.Errorf("%d MB: %.3f of it was sent; want at most 1.1 times the file, and what was in flight", mb,
			float64(first)/float64(size))
	}
	if second != 0 {
		t.Errorf("a second run sent %d bytes; want none", second)
	}
	t.Logf("%d MB: %.3f of it was sent, in all %v; then %d bytes", mb, float64(first)/float64(size), o.Took, second)
	if n := strings.Count(o.Stdout+o.Stderr, "hint:"); n > 0 {
		t.Errorf("%d hints about a run that went well:\n%s", n, o)
	}
}
