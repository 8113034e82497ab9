//go:build linux

package phone_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// watching is a `hexmage watch --json` that runs.
type watching struct {
	cmd    *exec.Cmd
	events *bufio.Scanner
	said   *strings.Builder // standard error
}

// startWatch starts `hexmage watch`, which ends with the context.
func startWatch(t *testing.T, w *World, ctx context.Context, args ...string) *watching {
	t.Helper()
	v := &watching{cmd: w.Command(ctx, append([]string{"--json", "watch"}, args...)...), said: &strings.Builder{}}
	stdout, err := v.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	v.events = bufio.NewScanner(stdout)
	v.events.Buffer(nil, 1<<24)
	v.cmd.Stderr = v.said
	if err := v.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return v
}

// until reads events up to one, and returns what was executed and what failed before it.
func (v *watching) until(t *testing.T, name string) (executed, failed []string) {
	t.Helper()
	for v.events.Scan() {
		var l Line
		if err := json.Unmarshal(v.events.Bytes(), &l); err != nil {
			t.Fatalf("%v: %s", err, v.events.Bytes())
		}
		if l.Event == "action_finished" && l.Outcome == "executed" {
			executed = append(executed, strings.TrimSpace(l.Step+" "+l.Name))
		}
		if l.Event == "action_finished" && l.Outcome == "failed" {
			failed = append(failed, strings.TrimSpace(l.Step+" "+l.Name))
		}
		if l.Event == name {
			return executed, failed
		}
	}
	t.Fatalf("it ended without %s: %v\n%s", name, v.events.Err(), v.said)
	return nil, nil
}

// interrupt ends it as Ctrl-C does.
func (v *watching) interrupt(t *testing.T) {
	t.Helper()
	if err := v.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for v.events.Scan() { // the pipe has to be read to its end before Wait
	}
	ended := make(chan error, 1)
	go func() { ended <- v.cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		_ = syscall.Kill(-v.cmd.Process.Pid, syscall.SIGKILL)
		t.Fatal("Ctrl-C did not end it")
	}
	if code := v.cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d after Ctrl-C: %s", code, v.said)
	}
}

// TestWatchRuns: `watch --run` builds a saved op, pushes it and runs it on the phone; a save that does not compile
// leaves the libraries of the last good build, and the phone alone; undone, nothing has to run.
func TestWatchRuns(t *testing.T) {
	const (
		op       = "oppackage/example/LLaMAPackage/src/ops/SiLU.cpp"
		before   = "BEGIN_PKG_OP_DEFINITION(PKG_SiLU);"
		constant = `extern "C" int constant() { return 42; } `
	)
	w := Warmed(t)
	ctx, cancel := context.WithTimeout(t.Context(), RunLimit)
	defer cancel()
	v := startWatch(t, w, ctx, Simulated, Pipeline, "--run")
	linked := func() string {
		return Read(t, filepath.Join(w.Out("oppackage"), "htp_v79", Library))
	}
	v.until(t, "watch_started")
	first := linked()

	w.Edit(t, op, before, constant+before)
	ran, failed := v.until(t, "build_finished")
	for _, want := range []string{AOT + "run.llm run", AOT + "run.llm metrics",
		AOT + "oppackage.llama htp_v79/" + Library} {
		if !slices.Contains(ran, want) {
			t.Errorf("a saved op: executed %q, want %q among it", ran, want)
		}
	}
	good := linked()
	if len(failed) > 0 || good == first {
		t.Errorf("a saved op: %q failed; is the library another one: %v", failed, good != first)
	}

	w.Edit(t, op, constant, `extern "C" int constant() { return 42 } `)
	ran, failed = v.until(t, "build_finished")
	if len(failed) == 0 || slices.Contains(ran, AOT+"run.llm run") {
		t.Errorf("a mistake: executed %q, failed %q", ran, failed)
	}
	if linked() != good {
		t.Error("a build that failed took the place of the last good one")
	}

	w.Edit(t, op, `extern "C" int constant() { return 42 } `, "")
	if ran, failed = v.until(t, "build_finished"); len(ran)+len(failed) > 0 {
		t.Errorf("undone: executed %q, failed %q", ran, failed)
	}
	if linked() != first {
		t.Error("undone: the library is not the first one")
	}

	w.Edit(t, SimulatedFile, "seed         = 79", "seed         = 80")
	ran, failed = v.until(t, "build_finished")
	for _, want := range []string{AOT + "module.toy.toy_model.toy",
		AOT + "module.toy.context.toy compile", AOT + "run.llm run"} {
		if !slices.Contains(ran, want) {
			t.Errorf("a saved file of the module: executed %q, want %q among it", ran, want)
		}
	}
	if len(failed) > 0 || slices.ContainsFunc(ran,
		func(name string) bool { return strings.HasPrefix(name, AOT+"oppackage.") }) {
		t.Errorf("a saved file of the module: executed %q, failed %q", ran, failed)
	}
	v.interrupt(t)
}

// TestWatchedSaves: each save of an op of examples/oppackage-only gives, for both targets, the libraries that make
// links of the same sources. It logs how long both take; set HEXMAGE_WATCH_SAVES=50 to compare them on a quiet
// machine.
func TestWatchedSaves(t *testing.T) {
	saves := 2
	if s := os.Getenv("HEXMAGE_WATCH_SAVES"); s != "" {
		var err error
		if saves, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	const lib = "libQnnClipPackage.so"
	w := Warmed(t)
	if err := errors.Join(os.RemoveAll(w.Dir),
		os.CopyFS(w.Dir, os.DirFS(filepath.Join(Repo(), "examples", "oppackage-only")))); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), RunLimit)
	defer cancel()
	v := startWatch(t, w, ctx, "clip")
	v.until(t, "watch_started")
	out := filepath.Join(w.Dir, "out", "clip")
	made := filepath.Join(t.TempDir(), "clip")
	if err := os.CopyFS(made, os.DirFS(filepath.Join(out, "makefile"))); err != nil {
		t.Fatal(err)
	}
	shell := &World{Dir: w.Dir, Home: w.Home, Cache: w.Cache, Env: []string{"PATH=/usr/bin:/bin"}}
	o := shell.Run(t, "env", "clip")
	if o.Code != 0 {
		t.Fatalf("hexmage env: %s", o)
	}
	script := o.Stdout + "\nunset LD_LIBRARY_PATH\nexec " + toolchaintest.Path(t, "make", "usr/bin/make") +
		" -j2 htp_aarch64 htp_v79\n"
	makeIt := func() time.Duration {
		cmd := exec.CommandContext(ctx, "sh", "-c", script)
		cmd.Dir, cmd.Env = made, []string{"LC_ALL=C", "HOME=" + w.Home}
		begun := time.Now()
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("make: %v\n%s", err, said)
		}
		return time.Since(begun)
	}
	makeIt()
	const op = "src/ops/Clip.cpp"
	source := Read(t, filepath.Join(w.Dir, "clip", op))
	var ours, makes, more []time.Duration
	for i := range saves {
		text := source + fmt.Sprintf("extern \"C\" int saved() { return %d; }\n", i)
		if err := os.WriteFile(filepath.Join(made, op), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		makes = append(makes, makeIt())
		begun := time.Now()
		w.Write(t, "clip/"+op, text)
		v.until(t, "build_finished")
		ours = append(ours, time.Since(begun))
		more = append(more, ours[i]-makes[i])
		for target, folder := range map[string]string{"htp_aarch64": "aarch64-android", "htp_v79": "hexagon-v79"} {
			if Read(t, filepath.Join(out, "oppackage", target, lib)) != Read(t,
				filepath.Join(made, "build", folder, lib)) {
				t.Fatalf("save %d, %s: make's library is another", i, target)
			}
		}
	}
	for _, d := range [][]time.Duration{ours, makes, more} {
		slices.Sort(d)
	}
	t.Logf("%d saves, medians: %v from the save to both libraries, make %v, the difference %v", saves, ours[saves/2],
		makes[saves/2], more[saves/2])
	v.interrupt(t)
}
