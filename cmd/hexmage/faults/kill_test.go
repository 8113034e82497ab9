//go:build linux

package faults_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/execute/sandbox"
)

// TestKilled kills hexmage, its process group, or one of the commands that it runs, at random points of a build: the
// next build has the outputs of a clean one, whatever was there before.
func TestKilled(t *testing.T) {
	const size, variants = 20_000_000, 3
	want := clean(t, size, variants)
	w := newWorld(t, size)
	r := chance(t)
	start := time.Now()
	if o := w.run(t); o.code != exitOK {
		t.Fatal(o)
	}
	whole := time.Since(start)
	ended, left := map[string]int{}, int64(0)
	for round := range rounds(8, 300) {
		v := r.IntN(variants)
		w.variant(t, v)
		if r.IntN(3) == 0 {
			remove(filepath.Join(w.dir, "out"))
		}
		for range 1 + r.IntN(3) {
			if r.IntN(3) > 0 { // else it goes on from what the last one left
				remove(w.cache)
			}
			ended[w.kill(t, r, whole)]++
		}
		w.builds(t, want[v])
		left = max(left, w.tidy(t))
		if round%4 == 0 {
			w.sound(t)
			if o := w.builds(t, want[v]); o.executed != 0 {
				t.Errorf("what was done is not known: %s", o)
			}
		}
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	t.Logf("a build takes %v; %v; at most %d bytes were left in tmp/", whole, ended, left)
	if left > 3*size {
		t.Errorf("%d bytes of the dead were left in tmp/", left)
	}
	if ended["hexmage"]+ended["group"] == 0 {
		t.Error("no build was killed")
	}
}

// TestKilledAtTheEnd: what a build left that was killed while it removed its scratch folder, when all was done, goes
// with the next run, which has nothing to do.
func TestKilledAtTheEnd(t *testing.T) {
	const size = 1000
	want := clean(t, size, 1)
	w := newWorld(t, size)
	w.variant(t, 0)
	w.builds(t, want[0])
	for i, args := range [][]string{{"run", "p"}, {"run", "p", "--force"}} {
		left := filepath.Join(w.cache, "tmp", fmt.Sprintf("run-%d-7", 1<<22+i), "exec-1", "root")
		if err := os.MkdirAll(left, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, f := range []string{filepath.Join(left, "file"), filepath.Join(left, "..", "..", "lock")} {
			if err := os.WriteFile(f, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if o := w.hexmage(t, args...); o.code != exitOK {
			t.Fatal(o)
		}
		w.tidy(t)
	}
}

// kill starts a build and kills something of it. It says what.
func (w *world) kill(t *testing.T, r *rand.Rand, whole time.Duration) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	cmd := w.command(ctx, "run", "p")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	what := [...]string{"hexmage", "group", "command"}[r.IntN(3)]
	select {
	case <-time.After(time.Duration(r.Float64() * r.Float64() * float64(whole) * 1.5)):
	case err := <-ended:
		if err != nil {
			t.Fatalf("it failed before it was killed: %v\n%s", err, &out)
		}
		return "ended before"
	}
	switch what {
	case "hexmage":
		_ = cmd.Process.Kill()
	case "group":
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	default:
		children := descendants(cmd.Process.Pid)
		if len(children) == 0 {
			what = "no command"
			break
		}
		_ = syscall.Kill(children[r.IntN(len(children))], syscall.SIGKILL)
	}
	<-ended
	if what == "command" || what == "no command" {
		// The step has failed, or it got around it; nothing is wrong with the engine.
		if code := cmd.ProcessState.ExitCode(); code != exitOK && code != exitFailed {
			t.Errorf("a command was killed, and hexmage ended with exit code %d\n%s", code, &out)
		}
	}
	if left := w.running(); len(left) > 0 {
		t.Errorf("%s was killed; still running: %q", what, left)
	}
	return what
}

// descendants returns the processes that a process started, and those that they did.
func descendants(pid int) []int {
	parents := map[int][]int{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range files {
		b, _ := os.ReadFile(f)
		_, rest, ok := strings.Cut(string(b), ") ")
		fields := strings.Fields(rest)
		child, err := strconv.Atoi(strings.Split(f, "/")[2])
		if !ok || len(fields) < 2 || err != nil {
			continue
		}
		parent, _ := strconv.Atoi(fields[1])
		parents[parent] = append(parents[parent], child)
	}
	var all []int
	for next := []int{pid}; len(next) > 0; next = next[1:] {
		all = append(all, parents[next[0]]...)
		next = append(next, parents[next[0]]...)
	}
	return all
}

// TestProcesses has several processes build at once, in workspaces of their own, on one cache: the same pipeline, or
// one that has half of its steps in common. Each action is executed once in all.
func TestProcesses(t *testing.T) {
	const size = 2_000_000
	want := clean(t, size, 1)[0]
	for round := range rounds(1, 20) {
		for _, n := range []int{2, 8} {
			var worlds []*world
			for i := range n {
				w := newWorld(t, size)
				if i > 0 {
					w.cache = worlds[0].cache
				}
				if i%2 == 1 { // another pipeline, with most steps in common
					w.write(t, "pipelines/p.hcl", mixed+`
step "exec" "own" {
  argv = ["sh", "-c", "cat \"$0\" > own", step.exec.link.outputs.prog]
  output "own" { file = "own" }
}
output "own" { value = step.exec.own.outputs.own }
`)
				}
				worlds = append(worlds, w)
			}
			done := make(chan *outcome, n)
			for _, w := range worlds {
				go func() { done <- w.run(t) }()
			}
			times := map[string]int{}
			for range n {
				o := <-done
				if o.code != exitOK {
					t.Errorf("one of %d: %s", n, o)
				}
				for _, key := range o.ran {
					times[key]++
				}
			}
			if len(times) != actions+1 {
				t.Errorf("%d processes executed %d actions, want %d", n, len(times), actions+1)
			}
			for key, k := range times {
				if k != 1 {
					t.Errorf("%d processes executed action %s %d times", n, key, k)
				}
			}
			for i, w := range worlds {
				got := w.outputs(t)
				if i%2 == 1 {
					if got["own"] == "" {
						t.Error("there is no output own")
					}
					delete(got, "own")
				}
				if d := differ(want, got); d != "" {
					t.Errorf("process %d of %d:\n%s", i, n, d)
				}
			}
			worlds[0].sound(t)
			for _, w := range worlds {
				w.tidy(t)
			}
			if t.Failed() {
				t.Fatalf("in round %d", round)
			}
		}
	}
}

// background is a pipeline whose command leaves children behind in every way that there is, and waits. Each sleeps
// for as long as no other process does.
const background = `
variable "mark" { type = string }
step "exec" "long" {
  argv = ["sh", "-c", join("\n", [
    "sleep ${var.mark}1 &",
    "setsid sleep ${var.mark}2 &",
    "env -i sleep ${var.mark}3 &",
    "(env -i setsid sh -c 'cd /; exec sleep ${var.mark}4 <&- >&- 2>&-' &)",
    "(trap '' HUP INT TERM; setsid sh -c 'while :; do sleep ${var.mark}5; done' &)",
    "sleep ${var.mark}6; touch o",
  ])]
  output "o" { file = "o" }
}
`

// beside is a pipeline that runs for as long as it is let.
const beside = `
step "exec" "long" {
  argv = ["sh", "-ec", "touch WORLD/started; while [ ! -e WORLD/go ]; do sleep 0.05; done; touch o"]
  output "o" { file = "o" }
}
`

// TestKilledWithChildren kills a hexmage whose command has children in the background: all of them are gone soon
// after, at every level of the sandbox, as root and as a user; and if what sees to that is killed with it, those that
// can be told are gone when the next build begins.
func TestKilledWithChildren(t *testing.T) {
	users := []uint32{0}
	if os.Getuid() == 0 {
		users = append(users, 65534)
	}
	levels := []sandbox.Level{sandbox.Staged, sandbox.Off}
	if _, err := sandbox.Open(); err == nil {
		levels = append(levels, sandbox.Strict)
	}
	for _, user := range users {
		for _, level := range levels {
			for _, what := range []string{"hexmage", "group", "everything of hexmage",
				"everything of hexmage, beside another"} {
				t.Run(fmt.Sprintf("%s, user %d, %s", level, user, what), func(t *testing.T) {
					w := newWorldIn(t, quick(), 0)
					if w.user = user; user != 0 {
						if err := filepath.WalkDir(w.base, func(p string, _ fs.DirEntry, err error) error {
							return errors.Join(err, os.Lchown(p, int(user), int(user)))
						}); err != nil {
							t.Fatal(err)
						}
					}
					if strings.HasSuffix(what, "another") {
						other := *w
						other.dir += "-2"
						other.write(t, "pipelines/p.hcl", strings.ReplaceAll(beside, "WORLD", other.dir))
						if err := os.Lchown(other.dir, int(user), int(user)); err != nil {
							t.Fatal(err)
						}
						ended := make(chan *outcome, 1)
						go func() { ended <- other.run(t, "--sandbox", sandbox.Staged.String()) }()
						for {
							if _, err := os.Stat(other.dir + "/started"); err == nil {
								break
							}
							select {
							case o := <-ended:
								t.Fatal(o)
							case <-time.After(10 * time.Millisecond):
							}
						}
						defer func() {
							other.write(t, "go", "")
							if o := <-ended; o.code != exitOK {
								t.Errorf("the build beside it: %s", o)
							}
						}()
					}
					mark := fmt.Sprint(1_000_000 + rand.IntN(1_000_000))
					w.write(t, "pipelines/p.hcl", background)
					ctx, cancel := context.WithTimeout(t.Context(), runLimit)
					defer cancel()
					cmd := w.command(ctx, "run", "p", "--var", "mark="+mark, "--sandbox", level.String())
					var out bytes.Buffer
					cmd.Stdout, cmd.Stderr = &out, &out
					if err := cmd.Start(); err != nil {
						t.Fatal(err)
					}
					ended := make(chan error, 1)
					go func() { ended <- cmd.Wait() }()
					for len(sleepers(mark)) < 6 {
						select {
						case <-ended:
							t.Fatalf("only %q started\n%s", sleepers(mark), &out)
						case <-time.After(10 * time.Millisecond):
						}
					}
					pids := []int{cmd.Process.Pid}
					switch what {
					case "group":
						pids[0] = -pids[0]
					case "everything of hexmage", "everything of hexmage, beside another":
						pids = append(hexmages(cmd.Process.Pid), pids...)
						if len(pids) < 2 {
							t.Fatal("there is nothing beside hexmage")
						}
					}
					for _, pid := range pids {
						_ = syscall.Kill(pid, syscall.SIGKILL)
					}
					<-ended
					if len(pids) > 1 {
						w.write(t, "pipelines/p.hcl", `
step "exec" "short" {
  argv = ["touch", "o"]
  output "o" { file = "o" }
}`)
						if o := w.run(t, "--sandbox", level.String()); o.code != exitOK {
							t.Errorf("the next build: %s", o)
						}
					}
					for deadline := time.Now().Add(2 * time.Second); ; time.Sleep(10 * time.Millisecond) {
						left := sleepers(mark)
						if len(left) == 0 {
							break
						}
						if time.Now().After(deadline) {
							t.Fatalf("%s was killed; still there: %q", what, left)
						}
					}
				})
			}
		}
	}
}

// sleepers are the processes that sleep for so long.
func sleepers(mark string) (found []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if b, _ := os.ReadFile(f); bytes.HasPrefix(b, []byte("sleep\x00"+mark)) {
			found = append(found, strings.ReplaceAll(string(b), "\x00", " "))
		}
	}
	return found
}

// hexmages are the children of hexmage that are of its own.
func hexmages(pid int) (found []int) {
	for _, child := range descendants(pid) {
		if b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child)); bytes.Contains(b,
			[]byte(shared.hexmage+"\x00tool\x00worker")) {
			found = append(found, child)
		}
	}
	return found
}
