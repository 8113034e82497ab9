//go:build linux

package phone_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

// TestOfficialClientSeesFaults shows each fault to the official client, on separate phones at one server.
func TestOfficialClientSeesFaults(t *testing.T) {
	t.Parallel()
	shell := phonetest.Compile(t, "hexagon", hexagonDSP)
	image := phonetest.Image(t, func(m *phone.Image) { m.FastRPCShell = shell })
	server, options, dir := phonetest.Server(t), phonetest.ServerOptions(t), t.TempDir()
	for name, content := range map[string][]byte{"big": bytes.Repeat([]byte("h"), 2<<20), "small": []byte("small")} { // 2 MiB
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	client, err := os.ReadFile(phonetest.Compile(t, "aarch64", phonetest.DSPClient))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "client"), client, 0o755); err != nil {
		t.Fatal(err)
	}
	const (
		push    = "push big /data/local/tmp/big"
		program = "push client /data/local/tmp/client"
		dsp     = `shell printf 'FRP1\001\000\000\000\007\000\000\000\006\000\000\000\002\000\000\000/x' | timeout -s KILL 1 /data/local/tmp/client | od -An -tx1 | head -c 12`
	)
	type step struct {
		args string
		want string // part of the output
		code int
	}
	for _, c := range []struct {
		fault string
		least time.Duration // minimum time of the command
		steps []step
	}{
		{fault: "drop-after=1MB", steps: []step{{push, "", 1}, {"CONNECT", "connected to", 0}, {push, "1 file pushed", 0}}},
		{fault: "drop-every=1500kB", steps: []step{{push, "", 1}, {"CONNECT", "connected to", 0}, {push, "", 1}}},
		{fault: "drop-after=1MB refuse=1s", least: time.Second, steps: []step{{push, "", 1}, {"REFUSED", "Connection refused", 1}, {"CONNECT", "connected to", 0}, {push, "1 file pushed", 0}}},
		{fault: "slow=4MB", least: 400 * time.Millisecond, steps: []step{{push, "1 file pushed", 0}}},
		{fault: "corrupt=1MB", steps: []step{{push, "1 file pushed", 0}, {"shell tr -d h </data/local/tmp/big | wc -c", "1\n", 0}}},
		{fault: "disk=1MB", steps: []step{{push, "no space left on device", 1}, {"push small /data/local/tmp/small", "1 file pushed", 0}}},
		{fault: "wedge-dsp", steps: []step{{program, "", 0}, {dsp + " | wc -c", "0\n", 0}, {dsp, "46 52 50 31", 0}, {"logcat -d", "fatal error received", 0}}},
		{fault: "kill-runner", steps: []step{{program, "", 0}, {"shell /data/local/tmp/client </dev/null", "", 137}, {"shell /data/local/tmp/client </dev/null", "v79", 0}}},
		{fault: "clock=-87600h", steps: []step{{"shell date +%Y", time.Now().Add(-87600 * time.Hour).UTC().Format("2006"), 0}}},
		{fault: "hot=55", steps: []step{{"shell cat /sys/class/thermal/thermal_zone7/temp", "5", 0}}},
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			e := phonetest.Start(t, image, func(o *phone.Options) {
				for _, fault := range strings.Fields(c.fault) {
					if err := o.Set(fault); err != nil {
						t.Fatal(err)
					}
				}
			})
			adb := official(t, server, options, dir)
			if out, errs, _ := adb("connect", e.Addr()); !strings.HasPrefix(out, "connected to") {
				t.Fatal(out, errs)
			}
			start := time.Now()
			for _, s := range c.steps {
				args := append([]string{"-s", e.Addr()}, strings.SplitN(s.args, " ", 2)...)
				if verb, rest, _ := strings.Cut(s.args, " "); verb == "push" || verb == "logcat" {
					args = append([]string{"-s", e.Addr(), verb}, strings.Fields(rest)...)
				}
				var out, errs string
				code := 0
				if s.args == "CONNECT" || s.args == "REFUSED" {
					for try := 0; ; try++ { // adb says "already connected" until it notices the dead link
						adb("disconnect", e.Addr())
						out, errs, _ = adb("connect", e.Addr())
						state, _, _ := adb("-s", e.Addr(), "get-state")
						if up := strings.HasPrefix(out, "connected to") && state == "device\n"; up == (s.args == "CONNECT") && strings.Contains(out+errs, s.want) || try > 40 {
							break
						}
						time.Sleep(50 * time.Millisecond)
					}
					code = s.code // exit codes differ between versions of the client
				} else {
					out, errs, code = adb(args...)
				}
				if code != s.code || !strings.Contains(out+errs, s.want) {
					t.Errorf("adb %s: exit code %d, stdout %q, stderr %q; want %d, %q", s.args, code, out, errs, s.code, s.want)
				}
			}
			if took := time.Since(start); took < c.least {
				t.Errorf("it took %v, want at least %v", took, c.least)
			}
		})
	}
}
