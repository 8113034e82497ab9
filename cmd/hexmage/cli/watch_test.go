//go:build unix

package cli_test

import (
	"bufio"
	"bytes"
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
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hexmage/hexmage/cmd/hexmage/cli"
)

const watched = `
step "exec" "up" {
  for_each = toset(fileset("src", "*.txt"))
  argv     = ["sh", "-ec", "test ! -e src/slow -o $1 != src/a.txt || sleep 30; if grep -q broken $1; then exit 1; fi; tr a-z A-Z < $1 > o", "up", each.value]
  inputs   = [each.value]
  output "o" { file = "o" }
}
step "exec" "all" {
  argv = concat(["sh", "-ec", "cat \"$@\" > all", "all"], [for k, s in step.exec.up : s.outputs.o])
  output "all" { file = "all" }
}
output "all" { value = step.exec.all.outputs.all }
`

// watching is a real `hexmage watch` of a workspace, and what it says.
type watching struct {
	t    *testing.T
	dir  string
	cmd  *exec.Cmd
	done chan error

	mu     sync.Mutex
	lines  []line // of stdout, those that nobody waited for yet
	all    []line
	stderr bytes.Buffer
	news   chan struct{}
}

// line is an event.
type line struct {
	Event    string
	Paths    []string
	Executed int
	Failed   int
	Polling  bool
}

func (w *watching) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

// write puts a file there in one piece, as most editors do, so that there is one change and one build of it.
func (w *watching) write(name, text string) {
	w.t.Helper()
	const whole = ".whole" // in a folder of which no entry counts
	w.overwrite(whole, text)
	p := w.path(name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.Rename(w.path(whole), p)); err != nil {
		w.t.Fatal(err)
	}
}

// overwrite empties a file and then writes it: a build may come between.
func (w *watching) overwrite(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(w.path(name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *watching) out() string {
	b, _ := os.ReadFile(w.path("out/p/all"))
	return string(b)
}

// Write takes what the process says on stderr.
func (w *watching) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stderr.Write(b)
}

// startWatching has a workspace watched. It returns when the first build is over.
func startWatching(t *testing.T, args ...string) *watching {
	w := &watching{t: t, dir: t.TempDir(), done: make(chan error, 1), news: make(chan struct{}, 1)}
	w.write("pipelines/p.hcl", watched)
	w.write("src/a.txt", "a")
	w.write("src/b.txt", "b")
	w.start(args...)
	return w
}

func (w *watching) start(args ...string) {
	t := w.t
	w.cmd = exec.Command(binary(t), append([]string{"--json", "watch", "p"}, args...)...)
	w.cmd.Dir = w.dir
	w.cmd.Env = append(os.Environ(), "HEXMAGE_CACHE="+t.TempDir(), "HOME="+w.dir)
	w.cmd.Stderr = w
	stdout, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		s := bufio.NewScanner(stdout)
		s.Buffer(nil, 1<<24)
		for s.Scan() {
			var l line
			if json.Unmarshal(s.Bytes(), &l) != nil {
				l.Event = "not JSON: " + s.Text()
			}
			w.mu.Lock()
			w.lines, w.all = append(w.lines, l), append(w.all, l)
			w.mu.Unlock()
			select {
			case w.news <- struct{}{}:
			default:
			}
		}
	}()
	go func() { <-read; w.done <- w.cmd.Wait() }()
	t.Cleanup(func() {
		_ = w.cmd.Process.Kill()
		if t.Failed() {
			w.mu.Lock()
			t.Logf("events: %+v\nstderr:\n%s", w.lines[max(0, len(w.lines)-40):], w.stderr.String())
			w.mu.Unlock()
		}
	})
	w.until("it watches", func(l line) bool { return l.Event == "watch_started" })
}

// until waits for an event among those that nobody waited for yet, and returns it.
func (w *watching) until(what string, is func(line) bool) line {
	w.t.Helper()
	deadline := time.After(time.Minute)
	for {
		w.mu.Lock()
		i := slices.IndexFunc(w.lines, is)
		var l line
		if i >= 0 {
			l = w.lines[i]
			w.lines = w.lines[i+1:]
		}
		w.mu.Unlock()
		if i >= 0 {
			return l
		}
		select {
		case <-w.news:
		case <-deadline:
			w.t.Fatalf("waited for a minute: %s", what)
		}
	}
}

// built waits for the end of the build that makes the output as wanted. The end of an earlier one may be read only
// now, when the output is there already: so it waits until none is under way, and takes what they said.
func (w *watching) built(want string) {
	w.t.Helper()
	w.until(fmt.Sprintf("a build that makes %q", want),
		func(l line) bool { return l.Event == "build_finished" && w.out() == want })
	for read, deadline := -1, time.Now().Add(time.Minute); ; {
		if time.Now().After(deadline) {
			w.t.Fatal("it has built for a minute")
		}
		time.Sleep(100 * time.Millisecond) // for what was said to be read
		w.mu.Lock()
		underWay := 0
		for _, l := range w.all {
			switch l.Event {
			case "build_started":
				underWay++
			case "build_finished":
				underWay--
			}
		}
		was := read
		if read = len(w.all); underWay == 0 && read == was {
			w.lines = nil
			w.mu.Unlock()
			return
		}
		w.mu.Unlock()
	}
}

// idle fails if something is built.
func (w *watching) idle(after string) {
	w.t.Helper()
	time.Sleep(300 * time.Millisecond)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.lines {
		if l.Event == "build_finished" && l.Executed > 0 {
			w.t.Errorf("after %s: built once more", after)
		}
	}
	w.lines = nil
}

func TestWatch(t *testing.T) {
	t.Parallel()
	w := startWatching(t)
	if w.out() != "AB" {
		t.Fatalf("the first build made %q", w.out())
	}
	w.idle("the first build")

	w.write("src/a.txt", "c")
	w.built("CB")
	w.idle("a save")

	// An editor puts another file in the place of it, with a backup and a probe.
	w.write("src/4913", "")
	for _, err := range []error{os.Remove(w.path("src/4913")), os.Rename(w.path("src/a.txt"), w.path("src/a.txt~"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w.write("src/a.txt", "d")
	if err := os.Remove(w.path("src/a.txt~")); err != nil {
		t.Fatal(err)
	}
	w.built("DB")
	w.idle("an editor's save")

	// What fails leaves the output as it was, and is built when it is mended.
	w.overwrite("src/b.txt", "broken")
	w.until("a failure", func(l line) bool { return l.Event == "build_finished" && l.Failed == 1 })
	if w.out() != "DB" {
		t.Errorf("after a failure the output is %q", w.out())
	}
	w.overwrite("src/b.txt", "x")
	w.built("DX")

	// Files come and go.
	w.write("src/c.txt", "new")
	w.built("DXNEW")
	if err := os.Remove(w.path("src/a.txt")); err != nil {
		t.Fatal(err)
	}
	w.built("XNEW")
	w.write("src/other.c", "not in the fileset")
	w.idle("a file that nobody asked for")

	// The pipeline itself: a mistake, and its correction.
	w.write("pipelines/p.hcl", strings.Replace(watched, "cat ", "cat ]", 1)+"]")
	w.until("the change", func(l line) bool { return l.Event == "files_changed" })
	time.Sleep(200 * time.Millisecond)
	if w.out() != "XNEW" {
		t.Errorf("after a mistake in the pipeline the output is %q", w.out())
	}
	w.write("pipelines/p.hcl", strings.Replace(watched, "a-z A-Z", "a-z n-za-m", 1))
	w.built("karj")
	w.write("pipelines/p.hcl", watched)
	w.built("XNEW")

	// The folder goes, and comes back.
	if err := os.RemoveAll(w.path("src")); err != nil {
		t.Fatal(err)
	}
	w.until("the change", func(l line) bool { return l.Event == "files_changed" })
	time.Sleep(100 * time.Millisecond)
	w.write("src/z.txt", "z")
	w.until("a build", func(l line) bool { return l.Event == "build_finished" && w.out() == "Z" })

	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := <-w.done; !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Errorf("it ended with %v", err)
	}
}

// Saves that come one after another end in the build of the last of them, and few are built between.
func TestWatchManySaves(t *testing.T) {
	t.Parallel()
	w := startWatching(t)
	for i := range 500 {
		w.write("src/a.txt", fmt.Sprintf("%d ", i))
		time.Sleep(time.Millisecond)
	}
	for deadline := time.Now().Add(time.Minute); w.out() != "499 B"; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the output is %q", w.out())
		}
	}
	time.Sleep(300 * time.Millisecond) // a save that was seen late may be looked at once more
	w.mu.Lock()
	builds := 0
	for _, l := range w.lines {
		if l.Event == "build_finished" && l.Executed > 0 {
			builds++
		}
	}
	w.lines = nil
	w.mu.Unlock()
	if builds > 25 { // one, where nothing else keeps the machine busy
		t.Errorf("%d builds of 500 saves", builds)
	}
	w.idle("the last save")
	if w.out() != "499 B" {
		t.Errorf("the output is %q", w.out())
	}
}

// A save while a build runs stops it, with the processes that it started.
func TestWatchNewerSave(t *testing.T) {
	t.Parallel()
	w := startWatching(t)
	w.write("pipelines/p.hcl", strings.Replace(watched, `[each.value]`, `[each.value, "src/slow"]`, 1))
	w.write("src/slow", "")
	start := time.Now()
	w.until("the slow action", func(l line) bool { return l.Event == "action_started" })
	time.Sleep(100 * time.Millisecond)
	w.write("src/a.txt", "fast")
	if err := os.Remove(w.path("src/slow")); err != nil {
		t.Fatal(err)
	}
	w.write("pipelines/p.hcl", watched)
	w.until("the build", func(l line) bool { return l.Event == "build_finished" && w.out() == "FASTB" })
	if took := time.Since(start); took > 25*time.Second {
		t.Errorf("it took %v: the slow action was waited for", took)
	}
}

// Somebody who saves all the time gets a build all the same: one that was stopped five times in a row is carried to
// its end.
func TestWatchCarriesOn(t *testing.T) {
	t.Parallel()
	w := startWatching(t)
	w.write("pipelines/p.hcl", strings.Replace(watched, "[each.value]", "[each.value]\n  env = { N = "+
		"trimspace(file(\"n\")) }", 1))
	w.write("n", "0")
	w.built("AB")
	w.write("pipelines/p.hcl", strings.NewReplacer("[each.value]", "[each.value]\n  env = { N = "+
		"trimspace(file(\"n\")) }", "tr a-z", "sleep 3; tr a-z").Replace(watched))
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 1; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(200 * time.Millisecond):
			}
			if os.WriteFile(w.path("n"), []byte(strconv.Itoa(i)), 0o644) != nil {
				return
			}
		}
	}()
	w.until("a build that ends though saves go on",
		func(l line) bool { return l.Event == "build_finished" && l.Executed > 0 })
	close(stop)
	<-stopped
}

// Between builds it holds nothing that others wait for.
func TestWatchLetsOthersRun(t *testing.T) {
	t.Parallel()
	w := startWatching(t)
	for _, args := range [][]string{{"cache", "gc", "--max-age", "1h"}, {"run", "p"}, {"cache", "verify", "--repair"}} {
		cmd := exec.Command(binary(t), args...)
		cmd.Dir, cmd.Env = w.cmd.Dir, w.cmd.Env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%q beside a watch: %v\n%s", args, err, out)
		}
	}
	w.write("src/a.txt", "after")
	w.built("AFTERB")
}

// What depends_on puts first is done first in each build. It waits for a probe, which begins after all that does not
// wait as it should.
func TestWatchDependsOn(t *testing.T) {
	t.Setenv("HEXMAGE_SANDBOX", "staged") // the actions write to a log outside of their exec roots
	w := &watching{t: t, dir: t.TempDir(), done: make(chan error, 1), news: make(chan struct{}, 1)}
	step := func(name, more, script string) string {
		return fmt.Sprintf("step \"exec\" %q {\n  argv   = [\"cat src; cd %s; %s\"]\n  shell  = true\n  inputs = "+
			"[\"src\"]\n%s}\n", name, w.dir, script, more)
	}
	w.write("pipelines/p.hcl", step("first", "", "until test -e probe; do sleep 0.01; done; echo first >> log")+
		step("second", "  depends_on = [step.exec.first]\n", "echo second >> log")+
		step("probe", "", "touch probe"))
	time.Sleep(2200 * time.Millisecond) // then what a build leaves lets the next one do without a plan
	for i := range 3 {
		for _, name := range []string{"probe", "log"} {
			if err := os.RemoveAll(w.path(name)); err != nil {
				t.Fatal(err)
			}
		}
		w.write("src", fmt.Sprint(i))
		if i == 0 {
			w.start("-j", "2")
		} else {
			w.until("a build", func(l line) bool { return l.Event == "build_finished" && l.Executed == 3 })
		}
		if b, err := os.ReadFile(w.path("log")); string(b) != "first\nsecond\n" {
			t.Fatalf("build %d: %q, %v", i, b, err)
		}
	}
}

// A checkout of another branch changes many files at once, and takes some away.
func TestWatchCheckout(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	w := &watching{t: t, dir: t.TempDir(), done: make(chan error, 1), news: make(chan struct{}, 1)}
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(git,
			append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "init.defaultBranch=one"},
				args...)...)
		cmd.Dir = w.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	w.write("pipelines/p.hcl", watched)
	w.write(".gitignore", "out\n")
	want := map[string]string{}
	run("init", "-q")
	for _, b := range []struct {
		name  string
		files []string
	}{{"one", []string{"a", "b", "c"}}, {"two", []string{"b", "d", "e", "f"}}} {
		if b.name == "two" {
			run("checkout", "-q", "-b", "two")
			run("rm", "-q", "-r", "src")
		}
		for _, f := range b.files {
			w.write("src/"+f+".txt", f+b.name)
			want[b.name] += strings.ToUpper(f + b.name)
		}
		run("add", "-A")
		run("commit", "-q", "-m", b.name)
	}
	w.start()
	for _, branch := range []string{"one", "two", "one"} {
		run("checkout", "-q", branch)
		if w.out() != want[branch] {
			w.until("branch "+branch,
				func(l line) bool { return l.Event == "build_finished" && w.out() == want[branch] })
		}
	}
}

// With --until only that step and what it needs is built; what others read sets nothing off. With -k a failure stops
// only what needs it.
func TestWatchUntil(t *testing.T) {
	t.Parallel()
	w := &watching{t: t, dir: t.TempDir(), done: make(chan error, 1), news: make(chan struct{}, 1)}
	w.write("pipelines/p.hcl", watched+`
step "exec" "other" {
  argv   = ["cp", "other.txt", "${path.workspace}/o"]
  inputs = ["other.txt"]
  output "o" { file = "o" }
}
output "other" { value = step.exec.other.outputs.o }
`)
	w.write("src/a.txt", "a")
	w.write("src/b.txt", "b")
	w.write("other.txt", "other")
	w.start("--until", "exec.up", "-j1", "-k")
	w.write("other.txt", "changed")
	w.idle("a save of what no step reads that is wanted")
	w.write("src/a.txt", "broken")
	w.write("src/b.txt", "fine")
	w.until("what does not fail is built",
		func(l line) bool { return l.Event == "build_finished" && l.Failed == 1 && l.Executed == 1 })
	for _, out := range []string{"out/p/all", "out/p/other"} {
		if _, err := os.Stat(w.path(out)); !os.IsNotExist(err) {
			t.Errorf("%s: %v: it was made though nobody asked for it", out, err)
		}
	}
}

// Without events it looks at the files again and again.
func TestWatchPolling(t *testing.T) {
	t.Parallel()
	w := startWatching(t, "--poll")
	w.overwrite("src/a.txt", "polled")
	w.built("POLLEDB")
	w.write("src/c.txt", "c")
	w.built("POLLEDBC")
	if !strings.Contains(w.said(), "polling every") {
		t.Error("it does not say that it polls")
	}
}

func (w *watching) said() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stderr.String()
}

// A first build that fails is built again when what it looked at changes, though nothing of it was ever known.
func TestWatchFailsAtFirst(t *testing.T) {
	t.Parallel()
	w := &watching{t: t, dir: t.TempDir(), done: make(chan error, 1), news: make(chan struct{}, 1)}
	w.write("pipelines/p.hcl", watched)
	w.write("src/a.txt", "broken")
	time.Sleep(100 * time.Millisecond) // then the first build is sure to have seen the last save
	w.start()
	if w.out() != "" {
		t.Fatalf("the output is %q", w.out())
	}
	w.mu.Lock()
	if n := len(slices.DeleteFunc(slices.Clone(w.all),
		func(l line) bool { return l.Event != "build_finished" })); n != 1 {
		t.Errorf("%d builds before it watches", n)
	}
	w.mu.Unlock()
	w.overwrite("src/a.txt", "fine")
	w.built("FINE")
}

// What a person sees: one line for each build.
func TestWatchShows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := &watching{t: t, dir: dir, done: make(chan error, 1), news: make(chan struct{}, 1)}
	w.write("pipelines/p.hcl", watched+`
step "exec" "size" {
  argv  = ["wc -c < ${step.exec.all.outputs.all} > n"]
  shell = true
  output "n" { value = "n" }
}
check "short" {
  condition     = step.exec.size.outputs.n < 3
  error_message = "It has ${step.exec.size.outputs.n} letters."
}
`)
	w.write("src/a.txt", "a")
	w.cmd = exec.Command(binary(t), "watch", "p")
	w.cmd.Dir, w.cmd.Env, w.cmd.Stderr = dir, append(os.Environ(), "HEXMAGE_CACHE="+t.TempDir(), "HOME="+dir), w
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.cmd.Process.Kill(); _ = w.cmd.Wait() }()
	says := func(text string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !strings.Contains(w.said(),
			text); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("it does not say %q:\n%s", text, w.said())
			}
		}
	}
	says("  passed         check.short")
	says("watching ")
	w.write("src/a.txt", "bcd")
	says("src/a.txt  built: 3 actions (exec.up")
	says("  failed         check.short  error    It has 3 letters.")
	w.write("src/a.txt", "a")
	says("src/a.txt  up to date, from the cache")
	w.write("src/a.txt", "broken")
	says("src/a.txt  failed")
	says("exit code 1")
	says("  not evaluated  check.short  error    step.exec.size was not run")

	// As `sed -i` saves: the file that it came of is not named. A failure is shown once.
	w.write("src/a.txt", "xy")
	for deadline := time.Now().Add(time.Minute); w.out() != "XY" && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	w.overwrite("src/sedX1.tmp", strings.Replace(w.read("pipelines/p.hcl"), "step.exec.all.outputs.all }",
		"step.exec.all.outputs.all }\nstep \"exec\" \"lacks\" {\n  argv = [\"true\"]\n  inputs = [\"src/gone\"]\n}", 1))
	if err := os.Rename(w.path("src/sedX1.tmp"), w.path("pipelines/p.hcl")); err != nil {
		t.Fatal(err)
	}
	says("pipelines/p.hcl  failed: ")
	time.Sleep(300 * time.Millisecond) // for what would be built again
	if n := strings.Count(w.said(), "exec.lacks could not run"); n != 1 || strings.Contains(w.said(), "sedX1") {
		t.Errorf("the failure is there %d times, or a file that is gone is named:\n%s", n, w.said())
	}
	w.write("pipelines/p.hcl", watched+"]")
	says("pipelines/p.hcl  not built; the outputs are those of the last successful build")
}

func (w *watching) read(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

// A pipeline may be a folder: its files are watched one by one, also when nothing of it could be read at first.
func TestWatchFolder(t *testing.T) {
	t.Parallel()
	w := &watching{t: t, dir: t.TempDir(), done: make(chan error, 1), news: make(chan struct{}, 1)}
	w.write("pipelines/p/steps.hcl", watched+"]")
	w.write("src/a.txt", "a")
	w.start()
	w.write("pipelines/p/steps.hcl", watched)
	w.built("A")
	w.write("pipelines/p/more.hcl", "locals {")
	w.until("the change", func(l line) bool { return l.Event == "files_changed" })
	w.write("src/a.txt", "b")
	w.write("pipelines/p/more.hcl", "locals {}")
	w.built("B")
}

// What a pipeline's modules are made of is watched as its own files are: also one that is not there yet, a file that
// comes into a module's folder, and a module that a module calls since a moment ago.
func TestWatchModules(t *testing.T) {
	t.Parallel()
	w := &watching{t: t, dir: t.TempDir(), done: make(chan error, 1), news: make(chan struct{}, 1)}
	const module = `
variable "file" {}
step "exec" "up" {
  argv   = ["sh", "-ec", "%s < $1 > o", "up", var.file]
  inputs = [var.file]
  output "o" { file = "o" }
}
`
	const own, called = "output \"o\" { value = step.exec.up.outputs.o }\n",
		"module \"low\" {\n  source = \"../low\"\n  file   = step.exec.up.outputs.o\n}\noutput \"o\" { value = " +
			"module.low.o }\n"
	w.write("pipelines/p.hcl", `
module "up" {
  source   = "../modules/up"
  for_each = toset(fileset("src", "*.txt"))
  file     = each.value
}
step "exec" "all" {
  argv = concat(["sh", "-ec", "cat \"$@\" > all", "all"], [for m in module.up : m.o])
  output "all" { file = "all" }
}
output "all" { value = step.exec.all.outputs.all }
`)
	w.write("src/a.txt", "a")
	w.start()
	w.write("modules/up/m.hcl", fmt.Sprintf(module, "tr a-z A-Z")+own)
	w.built("A")
	w.write("src/b.txt", "b")
	w.built("AB")
	w.idle("a file for which there is one more copy")

	w.write("modules/up/m.hcl", fmt.Sprintf(module, "tr a-z 1-9")+own)
	w.built("12")
	w.write("modules/up/more.hcl", "locals {")
	w.until("the change", func(l line) bool {
		return l.Event == "files_changed" && slices.Contains(l.Paths, "modules/up/more.hcl")
	})
	time.Sleep(300 * time.Millisecond)
	w.write("modules/up/more.hcl", "locals {}") // also one that could not be read is watched
	w.built("12")
	w.write("modules/low/m.hcl", fmt.Sprintf(module, "tr 1-9 x-z")+own)
	w.write("modules/up/m.hcl", fmt.Sprintf(module, "tr a-z 1-9"))
	w.write("modules/up/more.hcl", called)
	w.built("xy")
	w.write("modules/low/m.hcl", fmt.Sprintf(module, "tr 1-9 p-z")+own)
	w.built("pq")
	w.write("modules/other/m.hcl", "not a module of the pipeline")
	w.idle("a module that nobody calls")
	if err := os.Remove(w.path("modules/up/more.hcl")); err != nil {
		t.Fatal(err)
	}
	w.until("the change", func(l line) bool { return l.Event == "files_changed" })
	w.write("modules/up/m.hcl", fmt.Sprintf(module, "tr a-z 1-9")+own)
	w.built("12")
}

// What the command line has wrong no save can mend: it is said once, and all is over.
func TestWatchGivenWrongly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := &watching{t: t, dir: dir}
	w.write("src/a.txt", "a")
	w.write("pipelines/p.hcl", watched+`variable "n" {
  type    = number
  default = 1
}
`)
	for _, tt := range []struct{ args, env, want string }{
		{args: "--until exec.nosuch", want: "no step exec.nosuch"},
		{args: "--until exec.nosuch --run", want: "no step exec.nosuch"},
		{args: "--until nosuch", want: "invalid step address"},
		{args: "--var nosuch=1", want: "Unknown variable"},
		{args: "--var n=x", want: "has the wrong type"},
		{env: "HEXMAGE_VAR_n=x", want: "has the wrong type"},
		{args: "--profile nosuch", want: "Unknown profile"},
		{args: "--profile nosuch --run", want: "Unknown profile"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := exec.CommandContext(ctx, binary(t), append([]string{"watch", "p"}, strings.Fields(tt.args)...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HEXMAGE_CACHE="+t.TempDir(), "HOME="+dir, tt.env)
		out, err := cmd.CombinedOutput()
		cancel()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != cli.ExitUsage || strings.Count(string(out), tt.want) != 1 {
			t.Errorf("%s %s: %v, want exit code 2 and %q, once:\n%s", tt.args, tt.env, err, tt.want, out)
		}
	}
}
