package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/engine"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/plan"
)

// A program of this machine is in the key by its content: not by its name, place or time.
func TestHostPrograms(t *testing.T) {
	w := newWorld(t)
	bin := t.TempDir()
	program := func(dir, says string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "hexmage-test-tool"), []byte("#!/bin/sh\necho "+says+"\n"),
			0o755); err != nil {
			t.Fatal(err)
		}
	}
	program(bin, "one")
	n := sh("a", "hexmage-test-tool > out")
	n.Specs[0].Env = map[string]string{"PATH": bin + ":/usr/bin:/bin"}
	n.Specs[0].Programs = []string{"hexmage-test-tool"}
	p := planOf([]plan.Output{output("o", "a", "")}, n)
	w.ok(p, 1)
	w.ok(p, 0)
	program(bin, "one")
	if err := os.Chtimes(filepath.Join(bin, "hexmage-test-tool"), time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	w.ok(p, 0)
	program(bin, "two")
	w.ok(p, 1)
	if got := list(t, w.Out)["o"]; got != "two\n" {
		t.Errorf("got %q", got)
	}
	program(bin, "one")
	w.ok(p, 0)

	// By its path, as argv[0].
	direct := sh("b", "")
	direct.Specs[0].Args = []string{filepath.Join(bin, "hexmage-test-tool")}
	direct.Specs[0].Outputs, direct.Outputs = nil, nil
	w.ok(planOf(nil, direct), 1)
	w.ok(planOf(nil, direct), 0)
	program(bin, "three")
	w.ok(planOf(nil, direct), 1)

	// Gone: an error that says where it was looked for, and no result.
	if err := os.Remove(filepath.Join(bin, "hexmage-test-tool")); err != nil {
		t.Fatal(err)
	}
	_, err := w.run(p)
	var e *execute.Error
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "program hexmage-test-tool not found in "+bin) ||
		len(w.failure().Hints) == 0 || !strings.Contains(w.failure().Hints[0], "toolchain") {
		t.Errorf("%v, %+v", err, w.failure())
	}
}

// Programs of another machine, and hexmage's own tools, are not looked for on this machine.
func TestOtherPrograms(t *testing.T) {
	w := newWorld(t)
	n := sh("a", "")
	n.Specs[0].Args = []string{"no-such-program"}
	n.Specs[0].Platform = map[string]string{action.PropertyExecutor: "elsewhere"}
	if _, err := w.run(planOf(nil, n)); err == nil || strings.Contains(err.Error(), "find a program") {
		t.Errorf("%v", err)
	}
}

func TestWorkspaceProgramMustBeExecutable(t *testing.T) {
	w := newWorld(t)
	w.write(map[string]string{"tools/gen": "#!/bin/sh\necho generated > out\n"})
	n := sh("a", "", hostIn("tools/gen"))
	n.Specs[0].Args = []string{"./tools/gen"}
	p := planOf(nil, n)
	_, err := w.run(p)
	if !errors.As(err, new(*engine.InputError)) || !strings.Contains(err.Error(), "chmod +x tools/gen") {
		t.Errorf("%v", err)
	}
	if err := os.Chmod(filepath.Join(w.Workspace, "tools/gen"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.ok(p, 1)
}

// How long a command may run changes no result: another limit runs nothing again.
func TestTimeoutIsNotInTheKey(t *testing.T) {
	w := newWorld(t)
	n := sh("a", "touch out")
	w.ok(planOf(nil, n), 1)
	n.Specs[0].Timeout = time.Hour
	w.ok(planOf(nil, n), 0)
}

// A result counts for those who allow its exit code, and for nobody else.
func TestOKExitCodesAreRemembered(t *testing.T) {
	w := newWorld(t)
	count := filepath.Join(t.TempDir(), "count")
	step := func(codes ...int) *plan.Plan {
		n := sh("a", "echo x >> "+count+"; touch out; exit 3")
		n.Specs[0].OKExitCodes = codes
		return planOf(nil, n)
	}
	w.ok(step(2, 3), 1)
	w.ok(step(2, 3), 0)
	w.ok(step(3), 0)
	if r, err := w.run(step(2)); err != nil || r.Failed != 1 || w.failure().ExitCode != 3 {
		t.Errorf("%+v, %v", r.BuildFinished, err)
	}
	w.ok(step(3), 0)
	if b, _ := os.ReadFile(count); len(b) != 4 {
		t.Errorf("ran %d times, want 2", len(b)/2)
	}
}

// A step with effects beside its outputs runs when its inputs are not those of its last run here, which must have
// succeeded.
func TestSideEffects(t *testing.T) {
	w := newWorld(t)
	board := filepath.Join(t.TempDir(), "board")
	n := sh("flash", "cat image > "+board+"; touch out; test $(cat image) != bad", hostIn("image"))
	n.SideEffects = true
	p := planOf(nil, n)
	flash := func(image string, executed, failed int) {
		t.Helper()
		w.write(map[string]string{"image": image})
		r, err := w.run(p)
		if b, _ := os.ReadFile(board); err != nil || r.Executed != executed || r.Failed != failed ||
			string(b) != image {
			t.Errorf("%s: %+v, %v, and the board has %q", image, r.BuildFinished, err, b)
		}
	}
	flash("a", 1, 0)
	flash("a", 0, 0)
	flash("b", 1, 0)
	flash("a", 1, 0) // the board has b
	flash("a", 0, 0)
	flash("bad", 0, 1)
	flash("a", 1, 0) // the board has what the failed run left
	status := func(want engine.Status) {
		t.Helper()
		v, err := engine.Preview(t.Context(), p, w.Options, nil)
		if err != nil || len(v.Actions) != 1 || v.Actions[0].Status != want {
			t.Errorf("%+v, %v; want %s", v, err, want)
		}
	}
	status(engine.WillUse)
	w.write(map[string]string{"image": "b"})
	status(engine.WillRun)
	again := sh("again", n.Specs[0].Args[2], hostIn("image")) // the same command, with effects of its own
	again.SideEffects = true
	w.ok(planOf(nil, n, again), 2)
	w.ok(planOf(nil, n, again), 0)
	w.Force = func(string) bool { return true }
	w.ok(planOf(nil, n, again), 2)
	w.Force = nil
	other := openWorld(t, w.cache, t.TempDir(), t.TempDir())
	other.write(map[string]string{"image": "a"})
	other.ok(p, 1) // another workspace's step is another step
}

// A step that ran out of time is tried again only where it says so.
func TestRetryAfterTimeout(t *testing.T) {
	w := newWorld(t)
	count := filepath.Join(t.TempDir(), "count")
	n := sh("slow", "echo x >> "+count+"; test $(wc -l < "+count+") -ge 2 || sleep 60; touch out")
	n.Retries, n.Specs[0].Timeout = 3, 300*time.Millisecond
	if r, err := w.run(planOf(nil, n)); err != nil || r.Failed != 1 {
		t.Errorf("%+v, %v", r.BuildFinished, err)
	}
	if b, _ := os.ReadFile(count); string(b) != "x\n" {
		t.Errorf("tried %d times", len(b)/2)
	}
	if err := os.Remove(count); err != nil {
		t.Fatal(err)
	}
	n.Specs[0].RetryExitCodes = []int{action.TimeoutExitCode}
	w.ok(planOf(nil, n), 1)
}
