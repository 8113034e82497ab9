//go:build linux

package promises_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCorruptBlob changes a byte of an output in the cache. The action must run again before hexmage delivers it.
func TestCorruptBlob(t *testing.T) {
	for _, size := range []int{100, 200_000} { // small blobs may be kept and read in another way
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			w := newWorld(t)
			w.pipeline(fmt.Sprintf(`
step "exec" "s" {
  argv = ["sh", "-ec", "echo ran >> LOGS/s; head -c %d /dev/zero | tr '\\0' a > o"]
  output "o" { file = "o" }
}
output "o" { value = step.exec.s.outputs.o }
`, size))
			w.runs(stagedLevel)
			w.wantLines("s", 1)
			whole := strings.Repeat("a", size)
			if n := w.corrupt(whole); n != 1 {
				t.Fatalf("%d files of the cache have the output", n)
			}
			if err := os.RemoveAll(filepath.Join(w.dir, "out")); err != nil {
				t.Fatal(err)
			}
			w.runs(stagedLevel)
			w.wantLines("s", 2)
			w.wantOut("o", whole)
		})
	}
}

// corrupt changes a byte of each file of the cache that has the content. Size, mode and times stay. It returns how
// many there are.
func (w *world) corrupt(content string) (n int) {
	w.t.Helper()
	err := filepath.WalkDir(w.cache, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil || string(b) != content {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		n++
		b[len(b)/2]++
		if err := os.Chmod(p, 0o644); err != nil {
			return err
		}
		if err := os.WriteFile(p, b, 0o644); err != nil {
			return err
		}
		if err := os.Chmod(p, info.Mode()); err != nil {
			return err
		}
		return os.Chtimes(p, info.ModTime(), info.ModTime())
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// TestInputChanged has an action change its input, which may be a link to the cache. Nothing is made from
// what it wrote.
func TestInputChanged(t *testing.T) {
	for _, args := range [][]string{{stagedLevel}, {}} { // {}: the level that hexmage chooses
		for _, size := range []int{100, 2_000_000} {
			w := newWorld(t)
			first := fmt.Sprintf(`
step "exec" "first" {
  argv = ["sh", "-ec", "head -c %d /dev/zero | tr '\\0' a > o"]
  output "o" { file = "o" }
}
`, size)
			w.pipeline(first + `
step "exec" "attack" {
  argv = ["sh", "-c", <<-EOT
    chmod u+w "$1"
    printf b | dd of="$1" conv=notrunc
    true > a/o
  EOT
  , "script", step.exec.first.outputs.o]
  output "o" { file = "a/o" }
}
output "o" { value = step.exec.attack.outputs.o }
`)
			w.runs(args...)
			w.pipeline(first + `
step "exec" "next" {
  argv = ["sh", "-ec", "cat \"$1\" > o", "script", step.exec.first.outputs.o]
  output "o" { file = "o" }
}
output "next" { value = step.exec.next.outputs.o }
`)
			w.runs(args...)
			w.wantOut("next", strings.Repeat("a", size))
		}
	}
}

// TestTwoProcesses starts two builds of one action at a time, in two workspaces with one cache.
func TestTwoProcesses(t *testing.T) {
	one := newWorld(t)
	two := *one
	two.dir = filepath.Join(one.base, "ws2")
	for _, w := range []*world{one, &two} {
		w.pipeline(`
step "exec" "shared" {
  argv = ["sh", "-ec", "echo ran >> LOGS/shared; while [ ! -e LOGS/go ]; do sleep 0.02; done; echo done > o"]
  output "o" { file = "o" }
}
output "o" { value = step.exec.shared.outputs.o }
`)
	}
	_, ended := one.start("run", "p", stagedLevel)
	await(t, "the first process runs the action", func() bool { return one.lines("shared") > 0 })
	// The second process runs a step of its own, and then the one that the first process runs.
	two.pipeline(`
step "exec" "own" {
  argv = ["sh", "-ec", "echo ran >> LOGS/own; echo own > o"]
  output "o" { file = "o" }
}
step "exec" "shared" {
  argv       = ["sh", "-ec", "echo ran >> LOGS/shared; while [ ! -e LOGS/go ]; do sleep 0.02; done; echo done > o"]
  depends_on = [step.exec.own]
  output "o" { file = "o" }
}
output "o" { value = step.exec.shared.outputs.o }
`)
	_, alsoEnded := two.start("run", "p", stagedLevel)
	await(t, "the second process comes to the action", func() bool { return two.lines("own") > 0 })
	for end := time.Now().Add(2 * time.Second); one.lines("shared") < 2 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if err := os.WriteFile(filepath.Join(one.logs, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, o := range []outcome{ended(), alsoEnded()} {
		if o.code != 0 {
			t.Errorf("exit code %d\n%s", o.code, o.text)
		}
	}
	one.wantLines("shared", 1)
	one.wantOut("o", "done\n")
	two.wantOut("o", "done\n")
}

// TestKilled kills hexmage in the middle of an action that has started processes in sessions of their own. All of them
// end, and the next run is right.
func TestKilled(t *testing.T) {
	w := newWorld(t)
	mark := fmt.Sprint(1_000_000 + rand.IntN(1_000_000)) // seconds that no other process sleeps
	w.pipeline(strings.ReplaceAll(`
step "exec" "s" {
  shell = true
  argv = [<<-EOT
    echo half > o
    [ ! -e LOGS/go ] || { echo whole > o; exit 0; }
    sleep MARK1 &
    setsid sleep MARK2 &
    (env -i setsid sh -c 'cd /; exec sleep MARK3 <&- >&- 2>&-' &)
    sleep MARK4
  EOT
  ]
  output "o" { file = "o" }
}
output "o" { value = step.exec.s.outputs.o }
`, "MARK", mark))
	cmd, ended := w.start("run", "p", stagedLevel)
	await(t, "four processes of the action", func() bool { return len(sleepers(mark)) == 4 })
	kill(cmd)
	ended()
	end := time.Now().Add(10 * time.Second)
	for len(sleepers(mark)) > 0 && time.Now().Before(end) {
		time.Sleep(10 * time.Millisecond)
	}
	if left := sleepers(mark); len(left) > 0 {
		t.Errorf("hexmage was killed, and these processes are left: %q", left)
	}
	if err := os.WriteFile(filepath.Join(w.logs, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	w.runs(stagedLevel)
	w.wantOut("o", "whole\n")
}

// sleepers returns the processes that sleep for a time that begins with the mark.
func sleepers(mark string) (found []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if b, _ := os.ReadFile(f); bytes.HasPrefix(b, []byte("sleep\x00"+mark)) {
			found = append(found, strings.ReplaceAll(string(b), "\x00", " "))
		}
	}
	return found
}
