//go:build linux

package faults_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// planted is a secret that nothing else contains.
const planted = "hunter2-7f3a9c"

// The value of a sensitive variable stands in nothing that hexmage prints or writes: no message, plan, key, record, log or output.
func TestSecrets(t *testing.T) {
	w := newWorld(t, 0)
	w.write(t, "pipelines/p.hcl", `
variable "token" {
  type      = string
  sensitive = true
  validation {
    condition     = strlen(var.token) > 3
    error_message = "The token ${var.token} is too short."
  }
}
variable "tokens" {
  type      = list(string)
  sensitive = true
}
locals {
  header  = "Bearer ${var.token}"
  lengths = [for t in var.tokens : strlen(t)]
}
step "exec" "s" {
  argv = ["sh", "-ec", "echo made > o"]
  output "o" { file = "o" }
}
output "made" { value = step.exec.s.outputs.o }
output "header" { value = local.header }
output "lengths" { value = local.lengths }
`)
	given := []string{"--var", "token=" + planted, "--var", `tokens=["` + planted + `", "` + planted + `x"]`}
	var said strings.Builder
	hexmage := func(code int, args ...string) {
		t.Helper()
		o := w.hexmage(t, append(args, given...)...)
		if o.code != code {
			t.Errorf("hexmage %s: exit code %d, want %d: %s", strings.Join(args, " "), o.code, code, o.stderr)
		}
		if strings.Contains(o.stdout+o.stderr, planted) {
			t.Errorf("hexmage %s tells the secret:\n%s%s", strings.Join(args, " "), o.stdout, o.stderr)
		}
		said.WriteString(o.stderr)
	}
	for _, args := range [][]string{{"plan", "p"}, {"--json", "plan", "p"}, {"run", "p"}, {"-v", "run", "p"}, {"--json", "run", "p", "--fresh"},
		{"graph", "p"}, {"--json", "graph", "p"}, {"explain", "p", "exec.s"}, {"validate", "p"}} {
		hexmage(exitOK, args...)
	}
	for name, expr := range map[string]string{
		"tonumber": `tonumber(var.token)`, "parseint": `parseint(var.token, 10)`, "tobool": `tobool(var.token)`, "file": `file(var.token)`,
		"fileset": `fileset(var.token)`, "an operator": `var.token + 1`, "an element": `[for t in var.tokens : tonumber(t)]`, "a local": `tonumber(local.header)`,
		"a key": `{ a = 1 }[var.token]`, "an attribute": `lookup({ a = 1 }, var.token)`, "a regular expression": `regex("^x", var.token)`,
		"a bad expression": `regex("(${var.token}", "x")`, "try": `try(tonumber(var.token))`, "json": `jsondecode(var.token)`, "a directive": `"%{for t in var.tokens}${tonumber(t)}%{endfor}"`,
		"a condition": `var.token ? 1 : 2`, "format": `format("%d", var.token)`, "a time": `csvdecode("${var.token}\na,b")`,
	} {
		w.write(t, "pipelines/bad.hcl", `
variable "token" { sensitive = true }
variable "tokens" {
  type      = list(string)
  sensitive = true
}
locals {
  header = "Bearer ${var.token}"
  bad    = `+expr+`
}
`)
		before := said.Len()
		hexmage(2, "plan", "bad")
		if text := said.String()[before:]; !strings.Contains(text, "pipelines/bad.hcl") {
			t.Errorf("%s: nothing says where:\n%s", name, text)
		}
	}
	w.write(t, "pipelines/short.hcl", "variable \"token\" {\n  sensitive = true\n  validation {\n    condition     = tonumber(var.token) > 1\n    error_message = \"no\"\n  }\n}\nvariable \"tokens\" {\n  sensitive = true\n  type = list(number)\n}\n")
	hexmage(2, "plan", "short")
	for _, arg := range []string{"argv", "env"} {
		body := map[string]string{"argv": `argv = ["x", var.token]`, "env": "argv = [\"x\"]\n  env = { T = var.token }"}[arg]
		w.write(t, "pipelines/used.hcl", "variable \"token\" { sensitive = true }\nvariable \"tokens\" {}\nstep \"exec\" \"s\" {\n  "+body+"\n}\n")
		hexmage(2, "plan", "used")
	}
	err := filepath.WalkDir(w.base, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err == nil && bytes.Contains(b, []byte(planted)) {
			t.Errorf("%s has the secret", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What controls a terminal is written out, wherever it comes from.
func TestControlCharacters(t *testing.T) {
	w := newWorld(t, 0)
	const hidden = "\x1b[2Jx\u009b8m\u202ey\ry"
	w.write(t, "pipelines/p.hcl", `
step "exec" "s" {
  for_each    = toset(["a`+hidden+`"])
  description = "b`+hidden+`"
  argv        = ["sh", "-ec", "echo 'c`+hidden+`' | tee o; exit $CODE"]
  env         = { CODE = "0" }
  output "o" { file = "o" }
}
output "t" { value = "d`+hidden+`" }
`)
	for _, args := range [][]string{{"plan", "p"}, {"run", "p"}, {"graph", "p"}, {"--colour", "always", "run", "p", "--fresh"}, {"explain", "p", "exec.s"}, {"plan", "p\x1b[2J"},
		{"plan", "p", "--var", "x\x1b[2J=1"}, {"x\x1b[2J"}} {
		w.quiet(t, args...)
	}
	w.write(t, "pipelines/p.hcl", "step \"exec\" \"s\" {\n  argv = [\"sh\", \"-ec\", \"echo 'c"+hidden+"'; exit 1\"]\n}\n")
	w.quiet(t, "run", "p")
	w.write(t, "pipelines/p.hcl", "locals {\n  a = file(\"x"+hidden+"\") # "+hidden+"\n}\n")
	w.quiet(t, "plan", "p")
	w.quiet(t, "--colour", "always", "plan", "p")

	// The other commands, of which each shows what some file or name says.
	inHCL := strings.ReplaceAll(hidden, "\r", "")
	w.write(t, "pipelines/p.hcl", "toolchain \"x\" { version = \"1"+inHCL+"\" }\nstep \"exec\" \"s\" {\n  argv = [\"x"+inHCL+"\"]\n}\n")
	w.write(t, "toolchains/x.hcl", "toolchain \"x\" {\n  description = \"d"+inHCL+"\"\n  release \"1"+inHCL+"\" {\n    source \"archive\" {\n      url = \"http://127.0.0.1:1/"+inHCL+"\"\n    }\n  }\n}\n")
	w.write(t, "src/f"+hidden+".cpp", "int x"+hidden+";\n")
	w.write(t, "log", "nothing "+hidden+"\n<E> Failed to find available PD for contextId 51"+hidden+"\n")
	w.write(t, "elf"+hidden, "\x7fELF"+hidden)
	w.write(t, "devices.hcl", "device \"d\" {\n  serial = \"127.0.0.1:1\"\n  model"+hidden+" = 1\n}\n")
	w.vars = []string{"HEXMAGE_DEVICES=" + filepath.Join(w.dir, "devices.hcl")}
	for _, args := range [][]string{{"doctor"}, {"doctor", "p"}, {"toolchain", "list"}, {"toolchain", "list", "x"}, {"toolchain", "show", "x"}, {"toolchain", "verify", "elf" + hidden}, {"toolchain", "fetch", "x@1" + hidden},
		{"inspect", "elf" + hidden, "src"}, {"kinds", "x" + hidden}, {"diagnose", "log"}, {"diagnose", "x" + hidden}, {"device", "list"}, {"device", "pull", "/x" + hidden, "y"},
		{"patch", "check", "src", "--sdk", "x" + hidden}, {"patch", "lint", "src", "--sdk", "x"}, {"makefile", "src"}, {"ide", "src"}, {"compat", "x" + hidden}, {"env", "p"},
		{"lock", "p"}, {"lock", "--check", "p"}, {"validate"}, {"fmt", "x" + hidden}, {"cache", "path", "x" + hidden}, {"watch", "x" + hidden}, {"version", hidden}} {
		w.quiet(t, args...)
	}
}

// quiet runs a command that prints nothing to control a terminal but colours.
func (w *world) quiet(t *testing.T, args ...string) {
	t.Helper()
	o := w.hexmage(t, args...)
	for _, bad := range []string{"\x1b[2J", "\u009b", "\u202e", "\ry"} {
		if strings.Contains(o.stdout+o.stderr, bad) {
			t.Errorf("hexmage %q prints %q:\n%q\n%q", args, bad, o.stdout, o.stderr)
		}
	}
}

// A command whose output cannot be written says so, and does not succeed.
func TestFullOutput(t *testing.T) {
	w := newWorld(t, 1000)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for _, args := range [][]string{{"run", "p"}, {"--json", "run", "p"}, {"plan", "p"}, {"--json", "plan", "p"}, {"graph", "p"}, {"version"}, {"kinds"}, {"--help"},
		{"cache", "stats"}, {"doctor"}, {"explain", "p", "exec.link"}} {
		cmd := w.command(t.Context(), args...)
		var stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = full, &stderr
		_ = cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != exitEngine || !strings.Contains(stderr.String(), "could not be written: ") {
			t.Errorf("hexmage %s > /dev/full: exit code %d: %s", strings.Join(args, " "), code, stderr.String())
		}
	}
	r, closed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer closed.Close()
	r.Close()
	cmd := w.command(t.Context(), "run", "p")
	cmd.Stdout = closed
	if err := cmd.Run(); err != nil && !errors.Is(err, syscall.EPIPE) {
		t.Errorf("hexmage run with a reader that went away: %v", err)
	}
}
