//go:build linux

package worldtest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Running lists the processes that run the binary under test or use the world's folders. It waits up to two seconds for
// these processes to end.
func Running(w *World) []string {
	base := filepath.Dir(w.Home)
	var found []string
	for deadline := time.Now().Add(2 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		found = nil
		dirs, _ := filepath.Glob("/proc/[0-9]*")
		for _, dir := range dirs {
			if dir == fmt.Sprintf("/proc/%d", os.Getpid()) {
				continue
			}
			text := ""
			for _, link := range []string{"exe", "cwd", "root"} {
				target, _ := os.Readlink(filepath.Join(dir, link))
				text += target + "\x00"
			}
			env, _ := os.ReadFile(filepath.Join(dir, "environ"))
			text += string(env)
			if strings.Contains(text, base+"/") || strings.Contains(text, Hexmage()) {
				args, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
				found = append(found, filepath.Base(dir)+": "+strings.ReplaceAll(string(args), "\x00", " "))
			}
		}
		if len(found) == 0 || time.Now().After(deadline) {
			return found
		}
	}
}

// Kill starts a run with the name and flags in the parameter pipeline. It waits for an event that contains the text in
// the parameter after, and then for the duration wait. Then it kills hexmage's process group and returns the process
// ID, or 0 if the run ended earlier.
func Kill(t *testing.T, w *World, pipeline, after string, wait time.Duration) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), RunLimit)
	defer cancel()
	cmd := w.Command(ctx, append([]string{"--json", "run"}, strings.Fields(pipeline)...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	seen, last := make(chan struct{}), ""
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		found := false
		for s := bufio.NewScanner(stdout); s.Scan(); {
			if last = s.Text(); !found && strings.Contains(last, after) {
				found = true
				close(seen)
			}
		}
	}()
	select {
	case <-seen:
		time.Sleep(wait)
	case <-ended:
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	<-ended
	_ = cmd.Wait()
	if left := Running(w); len(left) > 0 {
		t.Errorf("processes still run after hexmage was killed %v after the output %q: %q", wait, after, left)
	}
	if cmd.ProcessState.ExitCode() > 0 {
		t.Fatalf("before it was to be killed it failed: %s\n%s", last, stderr.String())
	}
	t.Logf("killed %v after %s, at %.100s", wait, after, last)
	if cmd.ProcessState.Exited() {
		return 0
	}
	return cmd.Process.Pid
}
