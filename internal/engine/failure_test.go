package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/engine"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/plan"
)

func TestFailures(t *testing.T) {
	w := newWorld(t)
	bad := sh("bad/one[x]", `i=0; while [ $i -lt 60 ]; do echo "line $i"; i=$((i+1)); done; printf 'end \377' >&2; exit 7`)
	bad.Explains = true
	w.Hints = func(at addrs.Instance, _ plan.ResolvedInputs, spec string, output []byte) []string {
		return []string{fmt.Sprintf("hint for %s of %s after %d bytes", spec, at, len(output))}
	}
	r, err := w.run(planOf(nil, bad))
	f := w.failure()
	if err != nil || r.Failed != 1 || f.ExitCode != 7 || f.Summary != "exit code 7" || f.Where != "p.hcl:1" ||
		f.InfrastructureError ||
		!strings.HasPrefix(f.Output, "… 21 lines omitted …\nline 21\n") || !strings.HasSuffix(f.Output, "end \xff") ||
		f.Hints[0] != "hint for bad/one[x] of step.exec.bad/one[x] after 475 bytes" {
		t.Errorf("%+v, %v\n%+v", r, err, f)
	}
	if b, err := os.ReadFile(f.Log); err != nil || !strings.HasPrefix(string(b), "line 0\n") {
		t.Errorf("log %s: %v", f.Log, err)
	}
	long := sh(strings.Repeat("long/", 100), "echo out; exit 1")
	if _, err := w.run(planOf(nil, long)); err != nil || w.failure().Log == "" {
		t.Errorf("the log of an action with a long name: %v", err)
	}
	for script, want := range map[string]string{"true": "did not write its output out",
		"mkdir out": "output out must be a file, but the command wrote a folder"} {
		if _, err := w.run(planOf(nil, sh("a", script))); err != nil ||
			!strings.Contains(w.failure().Summary, want) || len(w.failure().Hints) == 0 {
			t.Errorf("%s: %v, %+v", script, err, w.failure())
		}
	}
	fine := sh("fine", "touch out; exit 4")
	fine.Specs[0].OKExitCodes = []int{4}
	w.ok(planOf(nil, fine), 1)
	warns := sh("warns", "touch out; echo 'warning: old SDK' >&2; echo other >&2")
	w.ok(planOf(nil, warns), 1)
	for _, e := range w.events {
		if e, ok := e.(event.ActionFinished); ok && e.Warning != "old SDK" {
			t.Errorf("warning %q", e.Warning)
		}
	}
}

// A step that ran out of time has failed, and what it printed until then is shown.
func TestTimeout(t *testing.T) {
	w := newWorld(t)
	slow := sh("slow", "echo before; sleep 60")
	slow.Specs[0].Timeout = 200 * time.Millisecond
	r, err := w.run(planOf(nil, slow))
	f := w.failure()
	if err != nil || r.Failed != 1 || f.InfrastructureError || f.Output != "before" ||
		!strings.Contains(f.Summary, "timeout of 200ms") || len(f.Hints) == 0 {
		t.Errorf("%+v, %v, %+v", r, err, f)
	}
}

func TestRetries(t *testing.T) {
	w := newWorld(t)
	count := filepath.Join(t.TempDir(), "count")
	flaky := sh("flaky", "echo x >> "+count+"; test $(wc -l < "+count+") -ge 3 && touch out")
	flaky.Retries = 5
	if r, err := w.run(planOf(nil, flaky)); err != nil || r.Failed != 1 {
		t.Errorf("an exit code that nobody named: %+v, %v", r, err)
	}
	if b, _ := os.ReadFile(count); string(b) != "x\n" {
		t.Errorf("tried %d times", len(b)/2)
	}
	if err := os.Remove(count); err != nil {
		t.Fatal(err)
	}
	flaky.Retries, flaky.Specs[0].RetryExitCodes = 1, []int{75, 1}
	if r, err := w.run(planOf(nil, flaky)); err != nil || r.Failed != 1 {
		t.Errorf("twice is not enough: %+v, %v", r, err)
	}
	if err := os.Remove(count); err != nil {
		t.Fatal(err)
	}
	flaky.Retries = 5
	w.ok(planOf(nil, flaky), 1)
	warned := false
	for _, e := range w.events {
		if e, ok := e.(event.ActionFinished); ok {
			warned = strings.Contains(e.Warning, "at attempt 3")
		}
	}
	if b, _ := os.ReadFile(count); string(b) != "x\nx\nx\n" || !warned {
		t.Errorf("tried %d times; warned %v", len(b)/2, warned)
	}
	gone := sh("gone", "")
	gone.Retries, gone.Specs[0].Args = 100, []string{"no-such-program"}
	start := time.Now()
	if r, err := w.run(planOf(nil, gone)); err == nil || r.Failed != 1 || time.Since(start) > 5*time.Second {
		t.Errorf("what cannot help is tried again: %+v, %v", r, err)
	}
}

// What an interrupt stops has not failed, and everything that was planned is accounted for.
func TestInterrupt(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("interrupted")
	unknown := &plan.Instance{At: at("unknown"), Deps: []addrs.Instance{at("slow")}, Waits: plan.ForListing,
		Await: []action.Input{{Path: "x", Artifact: out("slow")}}}
	started := filepath.Join(t.TempDir(), "started")
	go func() {
		for {
			if _, err := os.Stat(started); err == nil {
				cancel(cause)
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	r, err := engine.Run(ctx,
		planOf(nil, sh("slow", "touch "+started+"; sleep 60"),
			sh("after", "touch out", action.Input{Path: "i", Artifact: out("slow")}), unknown), w.Options)
	if !errors.Is(err, cause) || r.Failed != 0 || r.NotRun != 3 || r.Actions != 3 || w.failure().Summary != "" {
		t.Errorf("%+v, %v, %+v", r.BuildFinished, err, w.failure())
	}
}
