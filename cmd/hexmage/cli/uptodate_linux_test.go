package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/cmd/hexmage/cli"
)

// steady is a workspace in which planning, actions and outputs look at each kind of thing that a no-op looks at.
func steady(t *testing.T) *steadyPlace {
	t.Helper()
	p := &steadyPlace{t: t, dir: t.TempDir(), cache: t.TempDir()}
	for name, text := range map[string]string{
		"pipelines/p.hcl": `
variable "least" { default = 3 }
profile "usual" { default = true }
profile "other" {}
profile "third" {}
toolchain "mine" { source = "installed" }
step "exec" "count" {
  argv     = ["sh", "-c", "wc -w < text > n; helper"]
  inputs   = ["text"]
  programs = ["helper"]
  env      = { PATH = "${abspath}/first:${abspath}/second:/usr/bin:/bin" }
  output "n" { value = "n" }
}
step "exec" "copy" {
  for_each = toset(fileset("src", "*"))
  argv     = ["cp", each.value, "o"]
  inputs   = [each.value]
  output "o" { file = "o" }
}
step "exec" "folder" {
  argv   = ["sh", "-c", "ls folder > o"]
  inputs = ["folder"]
  output "o" { file = "o" }
}
locals {
  late = join("", [for f in fileset("late", "*") : file(f) if step.exec.count.outputs.n >= 0])
}
output "late" { value = local.late }
check "words" {
  condition     = step.exec.count.outputs.n >= var.least
  error_message = "There are only ${step.exec.count.outputs.n}."
}
output "copies" { value = [for s in step.exec.copy : s.outputs.o] }
output "tools"  { value = "${toolchain.mine.dir}/bin/mine" }
output "list"   { value = step.exec.folder.outputs.o }
output "note"   { value = try(file("note"), "none") }
`,
		"pipelines/other.hcl": "", "pipelines/p.hexvars.hcl": "",
		"toolchains/mine.hcl": `
toolchain "mine" {
  description = "a tool of this machine"
  default     = "1"
  release "1" {
    source "installed" {
      program "bin/mine" { names = ["mine"] }
    }
  }
}
`,
		"text": "one two three\n", "src/a": "a\n", "src/b": "b\n", "folder/x": "", "sub/x": "",
		"late/a": "late\n",
	} {
		p.write(name, strings.ReplaceAll(text, "${abspath}", p.dir))
	}
	for _, name := range []string{"second/mine", "second/helper"} {
		p.write(name, "#!/bin/sh\n")
		p.must(os.Chmod(p.at(name), 0o755))
	}
	p.must(os.Mkdir(p.at("first"), 0o755))
	self, err := os.Executable()
	p.must(err)
	path := p.at("first") + ":" + p.at("second") + ":" + os.Getenv("PATH")
	t.Setenv("PATH", path) // toolchains are looked for in the PATH of the process
	p.env = cli.Env{Stdin: strings.NewReader(""), Dir: p.dir, Self: self,
		Vars: []string{"HEXMAGE_CACHE=" + p.cache, "HOME=" + p.dir, "HEXMAGE_SANDBOX=staged", "PATH=" + path}}
	return p
}

// steadyPlace is a workspace, its cache, and what a process is given there.
type steadyPlace struct {
	t          *testing.T
	dir, cache string
	env        cli.Env
}

func (p *steadyPlace) at(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

func (p *steadyPlace) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *steadyPlace) write(name, text string) {
	p.t.Helper()
	p.must(os.MkdirAll(filepath.Dir(p.at(name)), 0o755))
	p.must(os.WriteFile(p.at(name), []byte(text), 0o644))
}

// ran runs a command line, and tells whether it opened the cache, in which it makes a scratch folder then.
func (p *steadyPlace) ran(line string, env cli.Env) (opened bool, code int, stdout, stderr string) {
	p.t.Helper()
	var out, errs bytes.Buffer
	env.Stdout, env.Stderr = &out, &errs
	scratch, old := filepath.Join(p.cache, "v3", "tmp"), time.Unix(1e9, 0)
	if err := os.Chtimes(scratch, old, old); err != nil && !errors.Is(err, os.ErrNotExist) {
		p.t.Fatal(err)
	}
	code = cli.Main(append([]string{"hexmage"}, strings.Fields(line)...), env)
	info, err := os.Stat(scratch)
	return err == nil && !info.ModTime().Equal(old), code, out.String(), errs.String()
}

// settles runs a command line until there is nothing to do. That takes two runs, and two seconds where files are so
// young that their times tell nothing.
func (p *steadyPlace) settles(line string, env cli.Env) (code int, stdout, stderr string) {
	p.t.Helper()
	for range 12 {
		opened, code, stdout, stderr := p.ran(line, env)
		if !opened && code != cli.ExitUsage {
			return code, stdout, stderr
		}
		time.Sleep(300 * time.Millisecond)
	}
	_, code, stdout, stderr = p.ran(line, env)
	p.t.Fatalf("hexmage %s: there is always something to do: exit code %d\n%s%s", line, code, stdout, stderr)
	return code, stdout, stderr
}

// with returns the environment with more variables.
func (p *steadyPlace) with(vars ...string) cli.Env {
	env := p.env
	env.Vars = append(env.Vars[:len(env.Vars):len(env.Vars)], vars...)
	return env
}

// TestUpToDate changes each thing that a no-op looks at, once, and expects a run; and then a no-op again.
func TestUpToDate(t *testing.T) {
	p := steady(t)
	p.settles("run p", p.env)
	edit := func(name, text string) func() { return func() { p.write(name, text) } }
	for _, c := range []struct {
		name   string
		change func()
	}{
		{"the pipeline", func() {
			b, err := os.ReadFile(p.at("pipelines/p.hcl"))
			p.must(err)
			p.write("pipelines/p.hcl", string(b)+"# more\n")
		}},
		{"a file of variables", edit("pipelines/p.hexvars.hcl", "least = 2\n")},
		{"a new file in pipelines/", edit("pipelines/new.hcl", "")},
		{"the catalog of the workspace", func() {
			b, err := os.ReadFile(p.at("toolchains/mine.hcl"))
			p.must(err)
			p.write("toolchains/mine.hcl", string(b)+"# more\n")
		}},
		{"a new catalog", edit("toolchains/new.hcl", "")},
		{"a lock file where there was none", edit("hexmage.lock.hcl", "")},
		{"a file where file() found none", edit("note", "some\n")},
		{"what file() read", edit("note", "more\n")},
		{"a new file for fileset()", edit("src/c", "c\n")},
		{"what file() read with a step's value", edit("late/a", "later\n")},
		{"an input", edit("text", "four words are here\n")},
		{"the mode of an input", func() { p.must(os.Chmod(p.at("text"), 0o755)) }},
		{"an input that is a link now", func() {
			p.must(os.Rename(p.at("src/a"), p.at("a")))
			p.must(os.Symlink("../a", p.at("src/a")))
		}},
		{"where a link leads", edit("a", "else\n")},
		{"a new file in a folder that is an input", edit("folder/y", "")},
		{"an installed tool", func() { p.write("second/mine", "#!/bin/sh\n# other\n") }},
		{"a tool before the one that was found", func() {
			p.write("first/mine", "#!/bin/sh\n")
			p.must(os.Chmod(p.at("first/mine"), 0o755))
		}},
		{"a program before the one that an action found", func() {
			p.write("first/helper", "#!/bin/sh\n# other\n")
			p.must(os.Chmod(p.at("first/helper"), 0o755))
		}},
		{"a program of an action", edit("first/helper", "#!/bin/sh\n# another\n")},
		{"an output that is gone", func() { p.must(os.Remove(p.at("out/p/note"))) }},
		{"an output that was changed", func() {
			p.must(os.Remove(p.at("out/p/list")))
			p.write("out/p/list", "no list\n")
		}},
	} {
		if opened, code, _, _ := p.ran("run p", p.env); opened || code != cli.ExitOK {
			t.Fatalf("before %s: it ran: %v, exit code %d", c.name, opened, code)
		}
		c.change()
		if opened, code, stdout, stderr := p.ran("run p", p.env); !opened || code != cli.ExitOK {
			t.Errorf("%s: it ran: %v, exit code %d\n%s%s", c.name, opened, code, stdout, stderr)
		}
		p.settles("run p", p.env)
	}
	touched := time.Now().Add(-time.Hour)
	p.must(os.Chtimes(p.at("src/b"), touched, touched))
	if _, code, _, stderr := p.ran("run p", p.env); code != cli.ExitOK || !strings.Contains(stderr, ": 0 executed, ") {
		t.Errorf("a file with another time alone: exit code %d\n%s", code, stderr)
	}
	p.must(os.Rename(p.at("out"), p.at("away")))
	p.must(os.Symlink("away", p.at("out")))
	if opened, code, _, _ := p.ran("run p", p.env); opened || code != cli.ExitUsage {
		t.Errorf("out is a link: it ran: %v, exit code %d", opened, code)
	}
}

// TestUpToDateRequest asks for something else, once in each way, and expects a run.
func TestUpToDateRequest(t *testing.T) {
	p := steady(t)
	p.settles("run p", p.env)
	other := p.env
	other.Self = p.at("second/mine") // hexmage itself is another
	for _, c := range []struct {
		line string
		env  cli.Env
	}{
		{"run p --var least=2", p.env}, {"run p --profile other", p.env}, {"run p exec.count", p.env},
		{"run p --out elsewhere", p.env}, {"run p --soc SM8650", p.env}, {"run p -s phone1", p.env},
		{"run p --force", p.env}, {"run p --force=exec.count", p.env}, {"run p --verify", p.env},
		{"run p", p.with("HEXMAGE_VAR_least=2")}, {"run p", p.with("HEXMAGE_PROFILE=third")},
		{"run p", p.with("HEXMAGE_DIGEST=sha256")}, {"run p", other},
	} {
		if opened, code, stdout, stderr := p.ran(c.line, c.env); !opened || code != cli.ExitOK {
			t.Errorf("%s %s: it ran: %v, exit code %d\n%s%s", c.env.Vars[4:], c.line, opened, code, stdout, stderr)
		}
	}
	cache := t.TempDir()
	p.must(os.RemoveAll(cache))
	if _, code, _, _ := p.ran("run p", p.with("HEXMAGE_CACHE="+cache)); code != cli.ExitOK {
		t.Errorf("another cache: exit code %d", code)
	}
	if _, err := os.Stat(filepath.Join(cache, "v3", "tmp")); err != nil {
		t.Errorf("another cache: %v", err)
	}
}

// TestUpToDateOutput checks what a no-op prints and ends with, for people and for programs.
func TestUpToDateOutput(t *testing.T) {
	p := steady(t)
	for _, c := range []struct {
		line string
		vars []string
		code int
	}{
		{line: "run p"}, {line: "run p -v"}, {line: "--json run p"}, {line: "--color always -vj 3 run p"},
		{line: "run p --out elsewhere -k"}, {line: "-C sub run p"}, {line: "run p exec.copy -v"},
		{line: "run p --offline"},
		{line: "run p --var least=9", code: cli.ExitCheck}, {line: "run --json p --var least=9", code: cli.ExitCheck},
		{line: "run p", vars: []string{"HEXMAGE_VAR_least=8"}, code: cli.ExitCheck}, {line: "run p --trace trace.json"},
		{line: "run p --junit junit.xml"},
	} {
		// each action, so they plan
		reports := strings.Contains(c.line, "--json") || strings.Contains(c.line, "--junit")
		code, stdout, stderr := 0, "", ""
		if reports {
			_, _, _, _ = p.ran(c.line, p.with(c.vars...))
			_, code, stdout, stderr = p.ran(c.line, p.with(c.vars...))
		} else {
			code, stdout, stderr = p.settles(c.line, p.with(c.vars...))
		}
		if code != c.code {
			t.Errorf("%s %s: exit code %d, want %d", c.vars, c.line, code, c.code)
		}
		if !strings.Contains(c.line, "--json") {
			if !strings.Contains(stderr, ": 0 executed, ") || !strings.Contains(stdout, "copies.0") {
				t.Errorf("%s %s:\n%s\n%s", c.vars, c.line, stdout, stderr)
			}
			continue
		}
		seen := map[string]int{}
		for line := range strings.Lines(stdout) {
			var e struct{ Event, Outcome string }
			p.must(json.Unmarshal([]byte(line), &e))
			seen[strings.TrimSpace(e.Event+" "+e.Outcome)]++
		}
		if seen["build_started"] != 1 || seen["action_finished cached"] != 5 || seen["build_finished"] != 1 {
			t.Errorf("%s: %v\n%s", c.line, seen, stdout)
		}
	}
}
