//go:build linux

package faults_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The exit codes that matter here.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
	exitEngine = 3
)

const runLimit = 2 * time.Minute

// mixed is a pipeline with all that a build may be made of: many small actions with a shared input, a link over them,
// trees, large files, a value with a step that is planned when it is known, and outputs of all classes.
// A command that is killed in the middle of a script fails the script: so there is no pipe in it, whose first half
// may die unnoticed.
const mixed = `
variable "size" {
  type    = number
  default = 20000000
}
step "exec" "compile" {
  for_each = toset(["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"])
  argv     = ["sh", "-ec", "cat src/common.h src/${each.value}.c > o"]
  inputs   = ["src/common.h", "src/${each.value}.c"]
  output "o" { file = "o" }
}
step "exec" "link" {
  argv = concat(["sh", "-ec", "cat \"$@\" > prog; chmod +x prog", "link"], [for k, s in step.exec.compile : s.outputs.o])
  output "prog" { file = "prog" }
}
step "exec" "tree" {
  for_each = toset(["x", "y", "z"])
  argv     = ["sh", "-ec", "mkdir -p t/sub/deep t/empty; for i in 1 2 3 4 5 6 7 8; do (echo ${each.value} $i; cat src/common.h) > t/sub/$i; done; cp t/sub/1 t/sub/deep/run; chmod +x t/sub/deep/run; ln -s sub/deep t/link"]
  inputs   = ["src/common.h"]
  output "t" { tree = "t" }
}
step "exec" "big" {
  argv   = ["sh", "-ec", "cat src/common.h src/common.h > x; n=18; while [ $n -lt ${var.size} ]; do cat x x > y; mv y x; n=$((2*n)); done; head -c ${var.size} x > big"]
  inputs = ["src/common.h"]
  output "big" { file = "big" }
}
step "exec" "upper" {
  argv  = ["sh", "-ec", "tr a-z A-Z > upper"]
  stdin = step.exec.big.outputs.big
  output "upper" { file = "upper" }
}
step "exec" "count" {
  argv  = ["sh", "-ec", "wc -c > n"]
  stdin = step.exec.upper.outputs.upper
  output "n" { value = "n" }
}
step "exec" "deferred" {
  argv   = ["sh", "-ec", "(echo $0; cat \"$1\"/sub/deep/run) > d", "n ${step.exec.count.outputs.n}", step.exec.tree["y"].outputs.t]
  output "d" { file = "d" }
}
output "prog" { value = step.exec.link.outputs.prog }
output "trees" { value = { for k, s in step.exec.tree : k => s.outputs.t } }
output "upper" { value = step.exec.upper.outputs.upper }
output "deferred" { value = step.exec.deferred.outputs.d }
`

// actions is how many actions mixed has.
const actions = 12 + 1 + 3 + 4

// world is a workspace with a cache.
type world struct {
	base, dir, cache string
	size             int // of the large files, in bytes
	user             uint32
	vars             []string // more of the environment
}

// newWorld makes a workspace with the pipeline p and its sources, and an empty cache.
func newWorld(t *testing.T, size int) *world { return newWorldIn(t, shared.base, size) }

func newWorldIn(t *testing.T, dir string, size int) *world {
	t.Helper()
	base, err := os.MkdirTemp(dir, "world-")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{base: base, dir: filepath.Join(base, "workspace"), cache: filepath.Join(base, "cache", "v3"),
		size: size}
	t.Cleanup(func() { remove(base) })
	if err := errors.Join(os.Chmod(base, 0o755), os.MkdirAll(w.cache, 0o755)); err != nil {
		t.Fatal(err)
	}
	w.write(t, "pipelines/p.hcl", mixed)
	for c := 'a'; c <= 'l'; c++ {
		w.write(t, fmt.Sprintf("src/%c.c", c), fmt.Sprintf("source %c\n", c))
	}
	w.variant(t, 0)
	return w
}

// variant changes a source that nearly everything is made from, and one that little is.
func (w *world) variant(t *testing.T, n int) {
	t.Helper()
	for name, text := range map[string]string{"src/common.h": fmt.Sprintf("common %d\n", n),
		"src/c.c": fmt.Sprintf("source c, variant %d\n", n%2)} {
		if is, err := os.ReadFile(filepath.Join(w.dir, name)); err != nil || string(is) != text {
			w.write(t, name, text)
		}
	}
}

func (w *world) write(t *testing.T, name, text string) {
	t.Helper()
	p := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// command is hexmage with an environment of its own.
func (w *world) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, shared.hexmage, args...)
	cmd.Dir = w.dir
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + w.base,
		"HEXMAGE_CACHE=" + filepath.Dir(w.cache), fmt.Sprintf("HEXMAGE_VAR_size=%d", w.size)}
	cmd.Env = append(cmd.Env, w.vars...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if w.user != 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: w.user, Gid: w.user}
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// outcome is how one command ended.
type outcome struct {
	code           int
	stdout, stderr string
	took           time.Duration
	executed       int
	ran            []string // keys of the actions that were executed
}

func (o *outcome) String() string {
	return fmt.Sprintf("exit code %d after %v\n%s\n%s", o.code, o.took, o.stdout, o.stderr)
}

// failure is what it says of what failed.
func (o *outcome) failure() string {
	text := o.stderr
	for line := range strings.Lines(o.stdout) {
		var l struct{ Failure struct{ Summary string } }
		if json.Unmarshal([]byte(line), &l) == nil && l.Failure.Summary != "" {
			text += l.Failure.Summary + "\n"
		}
	}
	return text
}

// hexmage runs a command to its end.
func (w *world) hexmage(t *testing.T, args ...string) *outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	cmd := w.command(ctx, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("hexmage %q: %v", args, err)
	}
	o := &outcome{code: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String(),
		took: time.Since(start)}
	for _, bad := range []string{"panic: ", "goroutine ", "runtime error"} {
		if strings.Contains(o.stderr, bad) {
			t.Fatalf("hexmage %q crashed: %s", args, o)
		}
	}
	return o
}

// run runs the pipeline p.
func (w *world) run(t *testing.T, args ...string) *outcome {
	t.Helper()
	o := w.hexmage(t, append([]string{"--json", "run", "p"}, args...)...)
	for text := range strings.Lines(o.stdout) {
		var l struct{ Event, Key, Outcome string }
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("an event that is no JSON: %v: %s", err, text)
		}
		if l.Event == "action_finished" && l.Outcome == "executed" {
			o.executed++
			o.ran = append(o.ran, l.Key)
		}
	}
	return o
}

// outputs returns what the run put out: for every path its mode and its digest, or where it leads.
func (w *world) outputs(t *testing.T) map[string]string {
	t.Helper()
	all, err := snapshot(w.out())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// out is the folder that outputs are copied to.
func (w *world) out() string { return filepath.Join(w.dir, "out", "p") }

func snapshot(root string) (map[string]string, error) {
	all := map[string]string{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(p)
			all[rel] = "symlink to " + to
			return err
		case d.IsDir():
			all[rel] = info.Mode().String()
			return nil
		}
		b, err := os.ReadFile(p)
		sum := sha256.Sum256(b)
		all[rel] = info.Mode().String() + " " + hex.EncodeToString(sum[:])
		return err
	})
	return all, err
}

// differ says where two snapshots differ, in a few lines, or nothing.
func differ(want, got map[string]string) string {
	var lines []string
	for p, w := range want {
		if g, ok := got[p]; !ok {
			lines = append(lines, p+": missing")
		} else if g != w {
			lines = append(lines, fmt.Sprintf("%s: %s, want %s", p, g, w))
		}
	}
	for p, g := range got {
		if _, ok := want[p]; !ok {
			lines = append(lines, p+": should not be there: "+g)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines[:min(len(lines), 10)], "\n")
}

// builds runs the pipeline, which must succeed with the wanted outputs.
func (w *world) builds(t *testing.T, want map[string]string, args ...string) *outcome {
	t.Helper()
	o := w.run(t, args...)
	if o.code != exitOK {
		t.Fatalf("it does not build: %s", o)
	}
	if d := differ(want, w.outputs(t)); d != "" {
		t.Fatalf("outputs are not those of a clean build:\n%s\n%s", d, o)
	}
	return o
}

// quick returns a folder in memory, where there is one: syncing costs nothing there.
func quick() string {
	const shm = "/dev/shm"
	if dir, err := os.MkdirTemp(shm, "hexmage-faults-"); err == nil {
		os.Remove(dir)
		return shm
	}
	return shared.base
}

// clean returns the outputs of a build from nothing, for each of n variants.
func clean(t *testing.T, size, n int) []map[string]string {
	t.Helper()
	w := newWorldIn(t, quick(), size)
	var all []map[string]string
	for i := range n {
		w.variant(t, i)
		remove(w.cache)
		o := w.run(t)
		if o.code != exitOK || o.executed != actions {
			t.Fatalf("a clean build: %s", o)
		}
		all = append(all, w.outputs(t))
		if len(all[i]) < 30 {
			t.Fatalf("outputs: %v", all[i])
		}
	}
	return all
}

// sound checks the cache with hexmage's own means.
func (w *world) sound(t *testing.T) {
	t.Helper()
	if o := w.hexmage(t, "cache", "verify"); o.code != exitOK {
		t.Errorf("cache verify: %s", o)
	}
}

// tidy checks that nothing is left of the dead: no process, nothing in the cache's tmp/ nor beside the outputs.
// It returns how large what stays for a while is.
func (w *world) tidy(t *testing.T) int64 {
	t.Helper()
	if left := w.running(); len(left) > 0 {
		t.Errorf("still running: %q", left)
	}
	if left, _ := filepath.Glob(filepath.Join(w.dir, "out", "p", ".hexmage*")); len(left) > 0 {
		t.Errorf("left beside the outputs: %q", left)
	}
	var size int64
	_ = filepath.WalkDir(filepath.Join(w.cache, "tmp"), func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil
	})
	// Single files that were being written stay for an hour; exec roots, in which the large ones are, go at once.
	if dirs, _ := filepath.Glob(filepath.Join(w.cache, "tmp", "run-*")); len(dirs) > 0 {
		t.Errorf("left in tmp/: %q, %d bytes", dirs, size)
	}
	return size
}

// running returns the processes that have to do with the world. What was just killed gets a moment to be gone.
func (w *world) running() []string {
	var found []string
	for deadline := time.Now().Add(3 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		found = nil
		dirs, _ := filepath.Glob("/proc/[0-9]*")
		for _, dir := range dirs {
			if dir == fmt.Sprintf("/proc/%d", os.Getpid()) {
				continue
			}
			text, _ := os.Readlink(filepath.Join(dir, "cwd"))
			env, _ := os.ReadFile(filepath.Join(dir, "environ"))
			if strings.Contains(text+"\x00"+string(env), w.base+"/") {
				args, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
				found = append(found, filepath.Base(dir)+": "+strings.ReplaceAll(string(args), "\x00", " "))
			}
		}
		if len(found) == 0 || time.Now().After(deadline) {
			return found
		}
	}
}

// remove removes a folder in which there may be folders without write permission.
func remove(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(p, 0o755)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}
