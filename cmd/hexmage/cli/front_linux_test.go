package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hexmage/hexmage/cmd/hexmage/cli"
	"github.com/hexmage/hexmage/cmd/hexmage/front"
)

const frontPipeline = `
variable "least" { default = 3 }
variable "token" {
  type      = string
  default   = "x"
  sensitive = true
}
profile "other" {}
step "exec" "count" {
  argv   = ["sh", "-c", "wc -w < text > n"]
  inputs = ["text"]
  output "n" { value = "n" }
}
step "exec" "e" {
  for_each = toset([for i in range(9) : tostring(i)])
  argv     = ["sh", "-c", "echo ${each.key} > o"]
  output "o" { file = "o" }
}
step "exec" "table" {
  argv   = ["cp", "table.json", "t"]
  inputs = ["table.json"]
  output "t" { file = "t" }
}
check "words" {
  condition     = step.exec.count.outputs.n >= var.least
  error_message = "There are only ${step.exec.count.outputs.n}.\nWrite more."
}
check "many" {
  description   = "a hundred"
  severity      = "warning"
  condition     = step.exec.count.outputs.n >= 100
  error_message = "Not a hundred."
}
output "many" { value = [for s in step.exec.e : s.outputs.o] }
output "one"  { value = step.exec.e["1"].outputs.o }
output "table" {
  value = step.exec.table.outputs.t
  show  = "table"
}
`

// frontWorld is a workspace whose files are so old that they leave a snapshot, and what a process is given there.
func frontWorld(t *testing.T) cli.Env {
	t.Helper()
	return worldWith(t, map[string]string{
		"pipelines/p.hcl": frontPipeline, "text": "one two three\n", "sub/x": "",
		"table.json": `{"title": "Speed", "profile": "open", "rows": [{"name": "a", "value": 1.5, "unit": "ms"}, {"name": "b\u001b[2J", "value": "x"}]}`,
	})
}

func worldWith(t *testing.T, files map[string]string) cli.Env {
	t.Helper()
	dir, cache := t.TempDir(), t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(2200 * time.Millisecond)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return cli.Env{Stdin: strings.NewReader(""), Dir: dir, Self: self, Front: self, Vars: []string{"HEXMAGE_CACHE=" + cache, "HOME=" + dir, "PATH=" + os.Getenv("PATH")}}
}

// said is what comes of a command line: what it printed where, and the exit code. Times are left out.
func said(t *testing.T, env cli.Env, pty bool, run func(env cli.Env) int) string {
	t.Helper()
	var out, errs bytes.Buffer
	env.Stdout, env.Stderr = &out, &errs
	end := func() {}
	if pty {
		env.Terminal, env.Width = true, 70
		var screen *os.File
		screen, end = terminal(t, &out)
		env.Stdout, env.Stderr = screen, screen
	}
	code := run(env)
	end()
	text := regexp.MustCompile(` in [0-9.]+ m?s:`).ReplaceAllString(fmt.Sprintf("%d\n%s\n%s", code, out.String(), errs.String()), " in T:")
	return regexp.MustCompile(`"(seconds|time)":[^,}]+`).ReplaceAllString(text, `"$1":T`)
}

// openTerminal opens both ends of a terminal: what is behind it, and the screen.
func openTerminal(t *testing.T) (master, screen *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("this machine has no terminals to give: %v", err)
	}
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if screen, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	return master, screen
}

// terminal is one whose screen goes to w, until end is called.
func terminal(t *testing.T, w io.Writer) (screen *os.File, end func()) {
	t.Helper()
	master, screen := openTerminal(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(w, master) // it fails when nobody has the screen any more
	}()
	return screen, func() {
		screen.Close()
		<-done
		master.Close()
	}
}

// Where there is nothing to do, the program hexmage says byte for byte what the engine says.
func TestFrontSaysTheSame(t *testing.T) {
	env := frontWorld(t)
	for _, c := range []struct {
		line, vars string
		code       int
	}{
		{line: "run p"}, {line: "run p -v"}, {line: "--json run p"}, {line: "--colour always -vj 3 run p"}, {line: "run p --out elsewhere -k"},
		{line: "run p --var least=9", code: cli.ExitCheck}, {line: "run --json p --var least=9", code: cli.ExitCheck}, {line: "run p --var token=secret -v"},
		{line: "run p", vars: "HEXMAGE_VAR_least=8", code: cli.ExitCheck}, {line: "run p", vars: "HEXMAGE_PROFILE=other"}, {line: "run p exec.count -v"},
		{line: "run p exec.e exec.table"}, {line: "run p --profile other"}, {line: "-C sub run p"}, {line: "run p", vars: "HEXMAGE_DIGEST=sha256"}, {line: "run p -s phone1"},
		{line: "run p", vars: "CI=1"}, {line: "run p", vars: "TERM=dumb"}, {line: "run p", vars: "NO_COLOR=1"},
	} {
		args := append([]string{"hexmage"}, strings.Fields(c.line)...)
		env := env
		if c.vars != "" {
			env.Vars = append(env.Vars[:len(env.Vars):len(env.Vars)], c.vars)
		}
		engine := func(env cli.Env) int { return cli.Main(args, env) }
		for _, pty := range []bool{false, true} {
			said(t, env, pty, engine)
			var got, want string
			for range 5 { // on a busy machine the engine may have drawn how far it was
				want = said(t, env, pty, engine)
				got = said(t, env, pty, func(env cli.Env) int {
					code, done := front.Run(args[1:], env)
					if !done {
						t.Errorf("%s %s, terminal %v: it did not see that there is nothing to do", c.vars, c.line, pty)
					}
					return code
				})
				if got == want || t.Failed() {
					break
				}
			}
			if got != want {
				t.Errorf("%s %s, terminal %v: it said\n%s\nand the engine\n%s", c.vars, c.line, pty, got, want)
			}
			if !strings.HasPrefix(want, fmt.Sprintln(c.code)) || !strings.Contains(want, "cached") {
				t.Errorf("%s %s: %s", c.vars, c.line, want)
			}
		}
	}
}

const plainPipeline = `
step "exec" "part" {
  for_each = toset(["a", "b"])
  argv     = ["sh", "-c", "if grep -q fail src/${each.key}; then cat src/${each.key}; exit 3; fi; grep -v '#' src/${each.key} > o"]
  inputs   = ["src/${each.key}"]
  output "o" { file = "o" }
}
step "exec" "all" {
  argv = ["sh", "-c", "cat \"$@\" > all", "sh", step.exec.part["a"].outputs.o, step.exec.part["b"].outputs.o]
  output "all" { file = "all" }
}
output "all" { value = step.exec.all.outputs.all }
output "a"   { value = step.exec.part["a"].outputs.o }
`

// What changed the program hexmage carries out as the engine does, and says so byte for byte, also of an action that fails.
func TestFrontCarriesOut(t *testing.T) {
	files := map[string]string{"pipelines/p.hcl": plainPipeline, "src/a": "one\n", "src/b": "two\n"}
	ours, theirs := worldWith(t, files), worldWith(t, files)
	normal := func(text string, env cli.Env) string {
		text = strings.NewReplacer(env.Dir, "DIR", strings.TrimPrefix(env.Vars[0], "HEXMAGE_CACHE="), "CACHE").Replace(text)
		text = regexp.MustCompile(`"(took_s|seconds|time|left_s|start|started|worker|log|duration_ns)":("[^"]*"|[^,}]+)`).ReplaceAllString(text, `"$1":X`)
		text = regexp.MustCompile(`logs/p-[0-9a-f]+`).ReplaceAllString(text, "logs/p-X")
		return regexp.MustCompile(`\b[0-9]+(\.[0-9]+)? m?s\b *`).ReplaceAllString(text, "T ")
	}
	run := func(line string, env cli.Env, by func(env cli.Env) int) string {
		t.Helper()
		return normal(said(t, env, false, by), env)
	}
	engine := func(line string, env cli.Env) string {
		return run(line, env, func(env cli.Env) int { return cli.Main(append([]string{"hexmage"}, strings.Fields(line)...), env) })
	}
	engine("run p", ours)
	engine("run p", theirs)
	for _, c := range []struct{ name, path, text, line, has string }{
		{"a source", "src/a", "three\n", "run p -j 1", "2 executed"},
		{"a comment", "src/a", "# more\nthree\n", "run p -j 1", "1 executed"},
		{"back", "src/a", "one\n", "run p -j 1 -v", "0 executed"},
		{"an output", "out/p/all", "", "--json run p -j 1", `"cached":3`},
		{"a failure", "src/b", "fail: error code 0x80000406\n", "run p -j 1", "remedy: "},
		{"the same failure", "src/b", "fail: error code 0x80000406\n", "--json run p -j 1", `"hints":["`},
		{"two failures", "src/a", "fail: No space left on device\n", "run p -k -j 1", "A disk is full"},
		{"one mended", "src/b", "four\n", "run p -j 1 -k", "1 failed"},
		{"both mended", "src/a", "five\n", "--json run p -j 1", `"executed":2`},
		{"nothing", "src/a", "five\n", "run p -j 1", "0 executed"},
	} {
		for _, env := range []cli.Env{ours, theirs} {
			if err := os.WriteFile(filepath.Join(env.Dir, c.path), []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want := engine(c.line, theirs)
		got := run(c.line, ours, func(env cli.Env) int {
			code, done := front.Run(strings.Fields(c.line), env)
			if !done {
				t.Errorf("%s: it left that to the engine", c.name)
			}
			return code
		})
		if got != want || !strings.Contains(want, c.has) {
			t.Errorf("%s: it said\n%s\nand the engine\n%s", c.name, got, want)
		}
		for _, name := range []string{"all", "a"} {
			a, errA := os.ReadFile(filepath.Join(ours.Dir, "out", "p", name))
			b, errB := os.ReadFile(filepath.Join(theirs.Dir, "out", "p", name))
			if errA != nil || errB != nil || !bytes.Equal(a, b) {
				t.Errorf("%s: %s is %q, and of the engine %q: %v, %v", c.name, name, a, b, errA, errB)
			}
		}
	}
	if text := engine("run p", ours); !strings.Contains(text, "3 cached") {
		t.Errorf("the engine does not find all that was done: %s", text)
	}
}

// An output that is made of a value is the engine's to make; where it is as it was, the rest is not.
func TestFrontLeavesTexts(t *testing.T) {
	env := worldWith(t, map[string]string{"text": "one two\n", "other": "a\n", "pipelines/p.hcl": `
step "exec" "count" {
  argv   = ["sh", "-c", "wc -w < text > n"]
  inputs = ["text"]
  output "n" { value = "n" }
}
step "exec" "copy" {
  argv   = ["cp", "other", "o"]
  inputs = ["other"]
  output "o" { file = "o" }
}
output "said" { value = "there are ${step.exec.count.outputs.n} words" }
output "o"    { value = step.exec.copy.outputs.o }
`})
	engine := func(env cli.Env) int { return cli.Main([]string{"hexmage", "run", "p"}, env) }
	said(t, env, false, engine)
	for _, c := range []struct {
		name, text, said, o string
		done                bool
	}{{"other", "b\n", "there are 2 words", "b\n", true}, {"text", "one\n", "there are 1 words", "b\n", false}} {
		if err := os.WriteFile(filepath.Join(env.Dir, c.name), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		done := false
		text := said(t, env, false, func(env cli.Env) (code int) {
			code, done = front.Run([]string{"run", "p"}, env)
			return code
		})
		if done != c.done || !done && text != "0\n\n" {
			t.Errorf("%s: it did it: %v; said %s", c.name, done, text)
		}
		if !done {
			said(t, env, false, engine)
		}
		for name, want := range map[string]string{"said": c.said, "o": c.o} {
			if b, err := os.ReadFile(filepath.Join(env.Dir, "out", "p", name)); err != nil || strings.TrimSpace(string(b)) != strings.TrimSpace(want) {
				t.Errorf("after %s, %s is %q: %v", c.name, name, b, err)
			}
		}
	}
}

// In any doubt the program hexmage says and changes nothing: the engine is to find out.
func TestFrontLeavesTheRest(t *testing.T) {
	env := frontWorld(t)
	engine := func(line string) {
		t.Helper()
		said(t, env, false, func(env cli.Env) int { return cli.Main(append([]string{"hexmage"}, strings.Fields(line)...), env) })
	}
	asks := func(what, line string, env cli.Env, want bool) {
		t.Helper()
		done := false
		text := said(t, env, false, func(env cli.Env) (code int) {
			code, done = front.Run(strings.Fields(line), env)
			return code
		})
		if done != want || !done && text != "0\n\n" {
			t.Errorf("%s: hexmage %s: there is nothing to do: %v; said %q", what, line, done, text)
		}
	}
	asks("first", "run p", env, false)
	engine("run p")
	asks("done", "run p", env, true)
	for _, line := range []string{"", "plan p", "version", "plan run", "run", "run --help", "run p --nosuch", "run p --var least", "run nosuch", "run a/b", "-C nosuch run p", "run p -j -1",
		"run p --sandbox nosuch", "run p --fresh", "run p --fresh=exec.count", "run p --verify", "run p --trace t", "run p --profile nosuch", "run p --out o", "run p exec.e"} {
		asks("another command", line, env, false)
	}
	with := func(vars ...string) cli.Env {
		e := env
		e.Vars = append(e.Vars[:len(e.Vars):len(e.Vars)], vars...)
		return e
	}
	for _, v := range []string{"HEXMAGE_CPUPROFILE=p", "HEXMAGE_MEMPROFILE=p", "HEXMAGE_VAR_least=4", "HEXMAGE_PROFILE=other", "HEXMAGE_DIGEST=nosuch", "HEXMAGE_DIGEST=sha256", "HEXMAGE_SANDBOX=nosuch", "HEXMAGE_CACHE=nosuch"} {
		asks("with "+v, "run p", with(v), false)
	}
	for _, program := range []string{"Self", "Front"} { // one of the two is of another build
		e, other := env, filepath.Join(env.Dir, "other")
		if err := os.WriteFile(other, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if program == "Self" {
			e.Self = other
		} else {
			e.Front = other
		}
		asks("another "+program, "run p", e, false)
	}
	at := func(name string) string { return filepath.Join(env.Dir, filepath.FromSlash(name)) }
	for range 2 { // and the second time it knows the new one
		if err := os.Chtimes(at("text"), time.Now(), time.Now()); err != nil {
			t.Fatal(err)
		}
		asks("an input with another time", "run p", env, true)
	}
	for what, do := range map[string]func() error{
		"an input":      func() error { return os.WriteFile(at("text"), []byte("four words are here\n"), 0o644) },
		"the pipeline":  func() error { return os.WriteFile(at("pipelines/p.hcl"), []byte(frontPipeline+"# more\n"), 0o644) },
		"an output":     func() error { return os.Remove(at("out/p/one")) },
		"a table":       func() error { return os.WriteFile(at("out/p/table"), []byte("no table"), 0o644) },
		"a link at out": func() error { return os.Rename(at("out"), at("away")) },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
		if what == "a link at out" {
			if err := os.Symlink("away", at("out")); err != nil {
				t.Fatal(err)
			}
		}
		// What is only to be put in its place again it does itself.
		asks("after a change of "+what, "run p", env, what == "an output" || what == "a table")
		if what == "a link at out" {
			if err := os.Remove(at("out")); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2200 * time.Millisecond)
		engine("run p")
		asks("after the engine did "+what, "run p", env, true)
	}
}
