//go:build linux

package faults_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// wide is a pipeline whose plan takes some 300 MB.
const wide = `
step "exec" "s" {
  for_each = toset(flatten([for a in range(60) : [for b in range(1000) : "${a}-${b}"]]))
  argv     = ["sh", "-c", "echo ${each.key} > o"]
  output "o" { file = "o" }
}
`

// under runs a command from a shell that first does something about limits.
func (w *world) under(t *testing.T, limit string, args ...string) *outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	cmd := w.command(ctx, args...)
	cmd.Args = append([]string{"bash", "-c", limit + ` && exec "$0" "$@"`}, cmd.Args...)
	path, err := exec.LookPath("bash") // other shells have no limit on processes, or name it otherwise
	if err != nil {
		t.Skip(err)
	}
	cmd.Path = path
	cmd.Env = append(cmd.Env, "GOMAXPROCS=2")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return &outcome{code: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
}

// short checks that a command did what it should, or said in a sentence what was short, and tells which.
func (o *outcome) short(t *testing.T, limit, want, remedy string) bool {
	t.Helper()
	said := strings.TrimSpace(o.stderr)
	switch {
	case strings.Contains(o.stderr, "goroutine ") || strings.Contains(o.stderr, "fatal error"):
		t.Errorf("%s: it crashed: exit code %d: %.2000s", limit, o.code, o.stderr)
	case o.code == exitOK:
		return false
	case o.code != exitEngine:
		t.Errorf("%s: %s", limit, o)
	case !strings.Contains(said, want) || !strings.Contains(said, remedy) || strings.Count(said, "\n") > 0:
		t.Errorf("%s: it does not say in a sentence what is short and what to do: %s", limit, said)
	}
	t.Logf("%s: %s", limit, said)
	return true
}

// TestMemoryLimit plans with few addresses. Go's runtime itself wants 0.8 GB of them, or 1.3 GB if there are more than 1.1 GB, before
// any of hexmage begins.
func TestMemoryLimit(t *testing.T) {
	w := newWorld(t, 0)
	w.write(t, "pipelines/p.hcl", wide)
	failed := 0
	for _, mb := range []int{900, 1400, 4000} {
		limit := fmt.Sprintf("ulimit -v %d000", mb)
		if w.under(t, limit, "plan", "p").short(t, limit, "out of memory: it may have", "ulimit -v") {
			failed++
		}
	}
	if failed == 0 || failed == 3 {
		t.Errorf("%d plans failed", failed)
	}
	// What ends for other reasons ends as ever.
	if o := w.under(t, "ulimit -v 4000000", "plan", "q"); o.code != 2 || !strings.Contains(o.stderr, "pipeline") {
		t.Errorf("a usage error: %s", o)
	}
	if o := w.under(t, "ulimit -v 4000000", "version"); o.code != exitOK || !strings.HasPrefix(o.stdout, "hexmage ") || o.stderr != "" {
		t.Errorf("a child's output: %s", o)
	}
}

// TestThreadLimit builds as a user who may have few processes.
func TestThreadLimit(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be a user of whom there is no other process")
	}
	w := newWorld(t, 0)
	w.user = uint32(1_000_000 + os.Getpid())
	for _, dir := range []string{w.base, w.dir, w.cache} {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	failed := 0
	for _, n := range []int{14, 15, 16, 18, 20, 23, 30, 200} {
		limit := fmt.Sprintf("ulimit -u %d", n)
		o := w.under(t, limit, "run", "p", "--fresh")
		lines := strings.Split(strings.TrimSpace(o.stderr), "\n")
		switch last := lines[len(lines)-1]; {
		case o.code != 0 && strings.Contains(last, " executed, ") && !strings.Contains(o.stderr, "goroutine "):
			if failed++; !strings.Contains(strings.ToLower(o.stderr), "fork") { // a command could not start others, or hexmage the command
				t.Errorf("%s: it does not say what is short: %s", limit, o)
			}
		default:
			if !strings.Contains(o.stderr, "goroutine ") {
				o.stderr = last // after what it did until then
			}
			if o.short(t, limit, "no more threads", "ulimit -u") {
				failed++
			}
		}
	}
	if failed == 0 || failed == 8 {
		t.Errorf("%d builds failed", failed)
	}
}

// TestMemoryOfGroup plans in a control group that has little memory, in which the kernel kills what takes more.
func TestMemoryOfGroup(t *testing.T) {
	w := newWorld(t, 0)
	w.write(t, "pipelines/p.hcl", wide)
	dir, file := memoryGroup(t)
	failed := 0
	for _, mb := range []int64{24, 32, 48, 400} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(strconv.FormatInt(mb<<20, 10)), 0o644); err != nil {
			t.Fatal(err)
		}
		limit := fmt.Sprintf("%d MB", mb)
		if w.under(t, "echo $$ > "+filepath.Join(dir, "cgroup.procs"), "plan", "p").short(t, limit, "out of memory: it may have", dir) {
			failed++
		}
	}
	if failed == 0 || failed == 4 {
		t.Errorf("%d plans failed", failed)
	}
}

// memoryGroup makes a control group, and returns its folder and the file of its limit.
func memoryGroup(t *testing.T) (dir, file string) {
	t.Helper()
	for root, file := range map[string]string{"/sys/fs/cgroup/memory": "memory.limit_in_bytes", "/sys/fs/cgroup": "memory.max"} {
		dir, err := os.MkdirTemp(root, "hexmage-faults-")
		if err != nil {
			continue
		}
		t.Cleanup(func() { os.Remove(dir) })
		if _, err := os.Stat(filepath.Join(dir, file)); err == nil {
			return dir, file
		}
	}
	t.Skip("no control group with a limit of memory can be made here")
	return "", ""
}
