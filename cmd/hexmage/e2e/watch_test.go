//go:build linux

package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestWatchRuns: `watch --run` builds a saved op, pushes it and runs it on the phone; a save that does not compile leaves the libraries of the last good
// build, and the phone alone; undone, nothing has to run.
func TestWatchRuns(t *testing.T) {
	const (
		op       = "oppackage/example/LLaMAPackage/src/ops/SiLU.cpp"
		before   = "BEGIN_PKG_OP_DEFINITION(PKG_SiLU);"
		constant = `extern "C" int constant() { return 42; } `
	)
	w := warmed(t)
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	cmd := w.command(ctx, "--json", "watch", pipeline, "--run")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	said := &strings.Builder{}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	events := bufio.NewScanner(stdout)
	events.Buffer(nil, 1<<24)
	// until reads events up to one, and returns what was executed and what failed before it.
	until := func(name string) (executed, failed []string) {
		t.Helper()
		for events.Scan() {
			var l line
			if err := json.Unmarshal(events.Bytes(), &l); err != nil {
				t.Fatalf("%v: %s", err, events.Bytes())
			}
			if l.Event == "node_finished" && l.Outcome == "executed" {
				executed = append(executed, strings.TrimSpace(l.Step+" "+l.Name))
			}
			if l.Event == "node_finished" && l.Outcome == "failed" {
				failed = append(failed, strings.TrimSpace(l.Step+" "+l.Name))
			}
			if l.Event == name {
				return executed, failed
			}
		}
		t.Fatalf("it ended without %s: %v\n%s", name, events.Err(), said)
		return nil, nil
	}
	linked := func() string {
		return read(t, filepath.Join(w.out("oppackage"), "htp_v79", library))
	}
	until("watch_started")
	first := linked()

	w.edit(t, op, before, constant+before)
	ran, failed := until("build_finished")
	for _, want := range []string{"run.qwen3 run", "run.qwen3 metrics", "oppackage.llama htp_v79/" + library} {
		if !slices.Contains(ran, want) {
			t.Errorf("a saved op: executed %q, want %q among it", ran, want)
		}
	}
	good := linked()
	if len(failed) > 0 || good == first {
		t.Errorf("a saved op: %q failed; is the library another one: %v", failed, good != first)
	}

	w.edit(t, op, constant, `extern "C" int constant() { return 42 } `)
	ran, failed = until("build_finished")
	if len(failed) == 0 || slices.Contains(ran, "run.qwen3 run") {
		t.Errorf("a mistake: executed %q, failed %q", ran, failed)
	}
	if linked() != good {
		t.Error("a build that failed took the place of the last good one")
	}

	w.edit(t, op, `extern "C" int constant() { return 42 } `, "")
	if ran, failed = until("build_finished"); len(ran)+len(failed) > 0 {
		t.Errorf("undone: executed %q, failed %q", ran, failed)
	}
	if linked() != first {
		t.Error("undone: the library is not the first one")
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for events.Scan() { // the pipe has to be read to its end before Wait
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		t.Fatal("Ctrl-C did not end it")
	}
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d after Ctrl-C: %s", code, said)
	}
}
