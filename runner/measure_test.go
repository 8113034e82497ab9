//go:build linux

package runner_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/runner/session"
	"github.com/hexmage/hexmage/runner/thermal"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

// record returns the record of an action's run.
func (b *bench) record(t *testing.T, r *action.Result) (got session.Record) {
	t.Helper()
	i := slices.IndexFunc(r.Files, func(f action.OutputFile) bool { return f.Path == "run.json" })
	if i < 0 {
		t.Fatalf("no record: %+v", r)
	}
	if err := json.Unmarshal([]byte(b.read(t, r.Files[i].Digest)), &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// The measured run comes after the cool-down and the warm-up runs, and the record has all of them. The cool-down does
// not count for the time limit.
func TestMeasure(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *runner.Options) { o.Simulate = emulate(t, phone.Faults{Celsius: 70}) })
	const script = "x:#!/system/bin/sh\necho run >>$COUNT; n=$(wc -l <$COUNT)\necho out $n; [ -e mine ] && echo used before; : >mine; [ \"$n\" != \"$1\" ]\n"
	measure := func(name, failAt string, platform map[string]string) (*action.Result, error) {
		platform[runner.PropertyRecord] = "run.json"
		a := b.action(t, map[string]string{"push/run.sh": script}, action.Command{
			Args: []string{"./run.sh", failAt}, Env: map[string]string{"COUNT": "/data/local/tmp/count-" + name}, Outputs: []string{"run.json"}, Platform: platform,
		})
		a.Limit = 4 * time.Second
		return b.device.Execute(t.Context(), &execute.Request{Action: a})
	}
	cool := func(c thermal.Cooldown) map[string]string {
		return map[string]string{runner.PropertyCooldown: c.String()}
	}

	p := cool(thermal.Cooldown{Celsius: 45, Timeout: thermal.Duration(time.Minute)})
	p[runner.PropertyWarmup] = "2"
	r, err := measure("good", "0", p)
	if err != nil || r.ExitCode != 0 || string(r.Stdout) != "out 3\n" {
		t.Fatalf("%+v, %v", r, err)
	}
	got := b.record(t, r)
	c := got.Cooldown
	if c == nil || !c.Reached || c.Warning != "" || c.From == nil || c.From.Celsius < 45 || c.To == nil || c.To.Celsius >= 45 || c.WaitedUS < 4e6 {
		t.Errorf("cooled down: %+v from %+v to %+v", c, c.From, c.To)
	}
	if len(got.WarmupsUS) != 2 || got.WarmupsUS[0] <= 0 || got.DurationUS <= 0 || got.SoC != "SM8750" || !got.Simulated || got.Serial == "" || len(got.Before) == 0 || len(got.After) == 0 || got.SentBytes == 0 {
		t.Errorf("%+v", got)
	}
	if at, err := time.Parse(time.RFC3339, got.Started); err != nil || time.Since(at) > time.Minute {
		t.Errorf("started %s, %v", got.Started, err)
	}

	r, err = measure("warm-up", "2", map[string]string{runner.PropertyWarmup: "3"})
	if err != nil || r.ExitCode != 1 || string(r.Stdout) != "out 2\n" || !strings.Contains(string(r.Stderr), "[warm-up run 2 of 3 failed]") {
		t.Errorf("a warm-up run that fails: %+v, %v", r, err)
	}

	r, err = measure("hot", "0", cool(thermal.Cooldown{Celsius: 10}))
	if err != nil {
		t.Fatal(err)
	}
	if c := b.record(t, r).Cooldown; c.Reached || !strings.Contains(c.Warning, "did not cool below 10 °C within 0s: ") || !strings.Contains(c.Warning, "hexmage measured anyway") {
		t.Errorf("a phone that stays hot: %+v", c)
	}
	for want, c := range map[string]thermal.Cooldown{
		"did not cool below 10 °C":                              {Celsius: 10, Required: true},
		"the device has no thermal zone toaster-*. Available: ": {Celsius: 40, Zones: []string{"toaster-*"}, Required: true},
	} {
		_, err := measure("required", "0", cool(c))
		e, ok := errors.AsType[*execute.Error](err)
		if !ok || !e.Refused || e.Retryable || e.Remedy == "" || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Output appears as progress while the program runs, line by line. After a timeout the result has all of it.
func TestOutputIsLive(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	var mu sync.Mutex
	said := map[string]time.Duration{}
	start := time.Now()
	progress := func(_, _ int64, text string) {
		mu.Lock()
		defer mu.Unlock()
		if _, ok := said[text]; !ok {
			said[text] = time.Since(start)
		}
	}
	a := b.action(t, nil, action.Command{Args: []string{"sh", "-c", "printf 'one\n'; sleep 0.3; printf '10%%\r20%%\rtw'; sleep 0.2; printf 'o\n' >&2; sleep 777 & sleep 778"}})
	a.Limit = 4 * time.Second
	_, err := b.device.Execute(t.Context(), &execute.Request{Action: a, Progress: progress})
	took := time.Since(start)
	late, ok := errors.AsType[*execute.TimeoutError](err)
	if !ok || late.Result == nil || string(late.Result.Stdout) != "one\n10%\r20%\rtw" || string(late.Result.Stderr) != "o\n" {
		t.Fatalf("%v: %+v", err, late)
	}
	mu.Lock()
	defer mu.Unlock()
	if at, ok := said["one"]; !ok || took-at < time.Second {
		t.Errorf("after %v it said %v", took, said)
	}
	r, err := b.device.Execute(t.Context(), &execute.Request{Action: b.action(t, nil, action.Command{Args: []string{"sh", "-c", "ps -o args | grep -c '^sleep 77'; ls .."}})})
	if lines := strings.Split(string(r.Stdout), "\n"); err != nil || lines[0] != "0" || len(lines) != 3 {
		t.Errorf("left on the device: %s, %v", r.Stdout, err)
	}
}

// The session ends processes that a program leaves behind.
func TestNothingGoesOn(t *testing.T) {
	t.Parallel()
	s := newSession(t, nil)
	res, err := s.Run(t.Context(), session.Request{Args: []string{"sh", "-c", "sleep 4711 >/dev/null 2>&1 </dev/null & exit 3"}})
	if err != nil || res.ExitCode != 3 {
		t.Fatalf("%+v, %v", res, err)
	}
	left := ""
	for range 50 { // a killed process is listed until the kernel has removed it
		if left = onDevice(t, s, "ps -o args | grep '^sleep 4711'; ls /data/local/tmp/hexmage/run"); left == "" {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("left on the device: %q", left)
}

// A failure on a phone comes with the log lines about the NPU since the start of the run. It also has the newest
// crash dump since then, if it is readable.
func TestFailureBringsThePhonesLog(t *testing.T) {
	t.Parallel()
	broken := filepath.Join(t.TempDir(), "not-hexagon")
	if err := os.WriteFile(broken, []byte("not a program"), 0o755); err != nil {
		t.Fatal(err)
	}
	client, err := os.ReadFile(phonetest.Compile(t, "aarch64", phonetest.DSPClient))
	if err != nil {
		t.Fatal(err)
	}
	for name, skew := range map[string]time.Duration{"a right clock": 0, "a clock that is wrong": -30 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := phonetest.Start(t, phonetest.Image(t, func(m *phone.Image) { m.FastRPCShell = broken }), func(o *phone.Options) { o.Skew = skew })
			b := newBench(t, func(o *runner.Options) { o.Serial = e.Addr() })
			run := func(script string) string {
				t.Helper()
				time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) // busybox's date has no fractions
				r, err := b.device.Execute(t.Context(), &execute.Request{Action: b.action(t, map[string]string{"push/client": "x:" + string(client)}, action.Command{Args: []string{"sh", "-c", script}})})
				if err != nil || r.ExitCode != 9 {
					t.Fatalf("%+v, %v", r, err)
				}
				return string(r.Stderr)
			}
			const dsp = "./client; n=0; until logcat -d | grep -q 'protection domain' || [ $n -gt 50 ]; do sleep 0.1; n=$((n + 1)); done; "
			first := run(dsp + "exit 9")
			if !strings.Contains(first, "[device log]\n") || strings.Count(first, "protection domain") != 1 {
				t.Errorf("%s", first)
			}
			if quiet := run("exit 9"); strings.Contains(quiet, "protection domain") || strings.Contains(quiet, "tombstone") {
				t.Errorf("what the log said before: %s", quiet)
			}
			if crashed := run("mkdir -p /data/tombstones; echo 'signal 11 (SIGSEGV)' >/data/tombstones/tombstone_07; exit 9"); !strings.Contains(crashed, "tombstone /data/tombstones/tombstone_07\nsignal 11 (SIGSEGV)\n") {
				t.Errorf("no tombstone: %s", crashed)
			}
			r, err := b.device.Execute(t.Context(), &execute.Request{Action: b.action(t, map[string]string{"push/client": "x:" + string(client)}, action.Command{
				Args: []string{"sh", "-c", dsp + "exit 0"}, Outputs: []string{"logcat.txt"}, Platform: map[string]string{runner.PropertyLog: "logcat.txt"},
			})})
			if err != nil || len(r.Stderr) > 0 || len(r.Files) != 1 || !strings.Contains(b.read(t, r.Files[0].Digest), "protection domain") {
				t.Errorf("of a run that is well: %+v, %v", r, err)
			}
			if again := run("exit 9"); strings.Contains(again, "tombstone") {
				t.Errorf("an old tombstone: %s", again)
			}
		})
	}
}
