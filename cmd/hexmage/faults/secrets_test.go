//go:build linux

package faults_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// planted is what nothing else contains, and each secret of these tests does.
const planted = "hunter2-7f3a9c"

// spelt are the ways in which it is looked for.
func spelt() [][]byte {
	all := [][]byte{[]byte(planted), []byte(hex.EncodeToString([]byte(planted)))}
	for before := range 3 {
		text := base64.RawStdEncoding.EncodeToString([]byte("::"[:before] + planted))
		all = append(all, []byte(text[4:len(text)-1])) // without what others share a letter with
	}
	return all
}

// told tells whether the secret stands in b.
func told(b []byte) bool {
	return slices.ContainsFunc(spelt(), func(s []byte) bool { return bytes.Contains(b, s) })
}

// secretless runs hexmage, which must not say the secret. It returns what it printed.
func (w *world) secretless(t *testing.T, code int, args ...string) string {
	t.Helper()
	o := w.hexmage(t, args...)
	if o.code != code {
		t.Errorf("hexmage %s: exit code %d, want %d: %s%s", strings.Join(args, " "), o.code, code, o.stdout, o.stderr)
	}
	if told([]byte(o.stdout + o.stderr)) {
		t.Errorf("hexmage %s tells the secret:\n%s%s", strings.Join(args, " "), o.stdout, o.stderr)
	}
	return o.stdout + o.stderr
}

// secretFree looks for the secret in everything below the world's folder, in names and links too, but for files that
// give it.
func (w *world) secretFree(t *testing.T) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(w.base, func(path string, d fs.DirEntry, err error) error {
		if own := d.Name() == "p.hexvars.hcl" || d.Name() == "profile.hcl"; err != nil || own {
			return err
		}
		files++
		b := []byte(path)
		if d.Type().IsRegular() {
			b, err = os.ReadFile(path)
		} else if d.Type() == fs.ModeSymlink {
			var to string
			to, err = os.Readlink(path)
			b = []byte(to)
		}
		if told(b) || told([]byte(path)) {
			t.Errorf("%s has the secret", path)
		}
		return err
	})
	if err != nil || files < 10 {
		t.Fatalf("%d files, %v", files, err)
	}
}

// withSecrets is a pipeline that is told secrets in every way there is, and whose steps are given them.
const withSecrets = `
variable "by_env" {
  type      = string
  sensitive = true
}
variable "by_flag" {
  type      = string
  sensitive = true
}
variable "by_file" { sensitive = true }
variable "by_default" {
  sensitive = true
  default   = ["none", { key = "none" }]
}
variable "end" { default = "exit 0" }
locals {
  header = "Bearer ${var.by_file[0].key}"
}
step "exec" "use" {
  argv  = [<<-EOT
    echo "1 $BY_ENV"; echo "2 $BY_FLAG" >&2; echo "3 $HEADER"; cat "$FILE"
    echo "progress 1 2 $BY_ENV" >&2
    echo "warning: $BY_FLAG" >&2
    printf 'user:%s' "$BY_ENV" | base64
    printf '%s' "$BY_FLAG" | od -An -tx1 | tr -d ' \n'
    env; set
    cp "$FILE" "$HOME/.netrc"; cp "$FILE" "$TMPDIR/x"
    i=0; while [ $i -lt 3000 ]; do echo "$i $HEADER"; i=$((i+1)); done
    echo made > o; echo o > v
    echo "no such file: $BY_ENV/$BY_FLAG" >&2
    ${var.end}
  EOT
  ]
  shell = true
  env = {
    BY_ENV  = var.by_env
    BY_FLAG = "${var.by_flag};"
    HEADER  = local.header
  }
  secret_file "FILE" {
    content = "machine m login l password ${var.by_env}\n${var.by_flag}\n"
  }
  output "o" { file = "o" }
  output "v" { value = "v" }
}
step "exec" "later" {
  argv   = ["echo \"$TOKEN\"; cat $FILE; (printf %s \"$TOKEN\"; cat $FILE) | sha256sum; (printf %s \"$TOKEN\"; cat $FILE) | sha256sum | grep -q SUM; cp src/a.c o"]
  shell  = true
  inputs = ["src/a.c"]
  env   = { TOKEN = "${step.exec.use.outputs.v} ${var.by_env}" }
  secret_file "FILE" { content = "${step.exec.use.outputs.v} ${var.by_flag}" }
  output "o" { file = "o" }
}
output "o" { value = step.exec.use.outputs.o }
output "later" { value = step.exec.later.outputs.o }
output "header" { value = local.header }
`

// pipeline writes the pipeline p, and waits until nothing of it can change without another time: then the next run is
// a no-op.
func (w *world) pipeline(t *testing.T, text string) {
	t.Helper()
	w.write(t, "pipelines/p.hcl", text)
	time.Sleep(2100 * time.Millisecond)
}

// tellSecrets gives the pipeline p its secrets.
func (w *world) tellSecrets(t *testing.T) (flags []string) {
	t.Helper()
	w.vars = []string{"HEXMAGE_VAR_by_env=" + planted + "-env"}
	w.write(t, "pipelines/p.hexvars.hcl", "by_file = [{ key = \""+planted+"-file\" }]\n")
	flag := planted + " flag'\"\nsecond line " + planted + "\n"
	sum := sha256.Sum256([]byte("o " + planted + "-envo " + flag))
	w.pipeline(t, strings.Replace(withSecrets, "SUM", hex.EncodeToString(sum[:]), 1))
	return []string{"--var", "by_flag=" + flag}
}

// The value of a sensitive variable stands in nothing that hexmage prints or writes, wherever it comes from and
// whatever a command that is given it prints: no message, plan, key, record, log, event or output.
func TestSecrets(t *testing.T) {
	for _, level := range []string{"strict", "staged"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 0)
			flags := w.tellSecrets(t)
			w.vars = append(w.vars, "HEXMAGE_SANDBOX="+level)
			hexmage := func(code int, args ...string) string {
				t.Helper()
				return w.secretless(t, code, append(args, flags...)...)
			}
			for _, args := range [][]string{{"validate", "p"}, {"plan", "p"}, {"-v", "plan", "p"},
				{"--json", "plan", "p"}, {"run", "p"}, {"-v", "run", "p"}, {"--json", "run", "p", "--force"},
				{"run", "p", "--verify"}, {"run", "p", "--force", "--trace", filepath.Join(w.base, "trace.json")},
				{"graph", "p"}, {"--json", "graph", "p"},
				{"explain", "p", "exec.use"}, {"--json", "explain", "p", "exec.use"}, {"plan", "p"}, {"lock", "p"}} {
				hexmage(exitOK, args...)
			}
			if b, err := os.ReadFile(filepath.Join(w.out(), "later")); err != nil || string(b) != "source a\n" {
				t.Errorf("the output is %q, %v", b, err)
			}
			for _, args := range [][]string{{"cache", "stats"}, {"cache", "verify"}, {"cache", "gc"}} {
				w.secretless(t, exitOK, args...)
			}
			if o := w.hexmage(t, "doctor"); told([]byte(o.stdout + o.stderr)) { // it may lack something
				t.Errorf("doctor tells the secret:\n%s", o)
			}
			// In a run after an edit, too, an action gets what it needs.
			w.write(t, "src/a.c", "source b\n")
			hexmage(exitOK, "-v", "run", "p")
			if b, err := os.ReadFile(filepath.Join(w.out(), "later")); err != nil || string(b) != "source b\n" {
				t.Errorf("the output is %q, %v", b, err)
			}
			// The value is in no key, and where it comes from is.
			hexmage(exitOK, "run", "p")
			if text := w.secretless(t, exitOK, "run", "p", "--var", "by_flag="+planted+"-other", "--sandbox",
				level); !strings.Contains(text, "0 executed") {
				t.Errorf("another value runs a step again:\n%s", text)
			}
			pipeline, err := os.ReadFile(filepath.Join(w.dir, "pipelines", "p.hcl"))
			if err != nil {
				t.Fatal(err)
			}
			w.write(t, "pipelines/p.hcl", strings.Replace(string(pipeline), "HEADER  = local.header", "HEADER  = "+
				"\"x ${local.header}\"", 1))
			if text := hexmage(exitOK, "run", "p"); strings.Contains(text, "0 executed") {
				t.Errorf("another text around the value runs nothing:\n%s", text)
			}
			if text := hexmage(exitOK, "explain", "p", "exec.use"); strings.Contains(text, planted) {
				t.Errorf("explain: %s", text)
			}
			for name, end := range map[string]string{
				"fails": "exit 3", "has it in an output": "cp $FILE o; exit 0",
				"has it in an output, and fails": "cp $FILE o; exit 3", "prints it and is killed": "kill -9 $$",
			} {
				for _, how := range [][]string{{"run", "p"}, {"-v", "run", "p"}, {"--json", "run", "p"},
					{"run", "p", "-k", "--trace", filepath.Join(w.base, "failed.json")}} {
					text := hexmage(exitFailed, append(how, "--var", "end="+end)...)
					if end == "cp $FILE o; exit 0" && !strings.Contains(text, "output o contains the value of") {
						t.Errorf("a step that %s: %s", name, text)
					}
				}
				hexmage(exitOK, "explain", "p", "exec.use", "--var", "end="+end)
			}
			w.watches(t, flags)
			w.secretFree(t)
		})
	}
}

// watches has hexmage watch the pipeline until a build is done.
func (w *world) watches(t *testing.T, flags []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	cmd := w.command(ctx, append([]string{"--json", "watch", "p"}, flags...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var printed bytes.Buffer
	for lines := bufio.NewScanner(out); lines.Scan(); {
		printed.Write(lines.Bytes())
		if bytes.Contains(lines.Bytes(), []byte("finished")) {
			break
		}
	}
	cancel()
	_ = cmd.Wait()
	if printed.Len() == 0 || told(printed.Bytes()) || told(stderr.Bytes()) {
		t.Errorf("watch prints:\n%s%s", &printed, &stderr)
	}
}

// What is wrong with a value, or with an expression that uses one, is told without it.
func TestSecretsInErrors(t *testing.T) {
	w := newWorld(t, 0)
	given := []string{"--var", "token=" + planted, "--var", `tokens=["` + planted + `", "` + planted + `x"]`}
	const variables = `
variable "token" { sensitive = true }
variable "tokens" {
  type      = list(string)
  sensitive = true
}
locals {
  header = "Bearer ${var.token}"
`
	for name, expr := range map[string]string{
		"tonumber": `tonumber(var.token)`, "parseint": `parseint(var.token, 10)`, "tobool": `tobool(var.token)`,
		"file":    `file(var.token)`,
		"fileset": `fileset(var.token)`, "an operator": `var.token + 1`,
		"an element": `[for t in var.tokens : tonumber(t)]`, "a local": `tonumber(local.header)`,
		"a key": `{ a = 1 }[var.token]`, "an attribute": `lookup({ a = 1 }, var.token)`,
		"a regular expression": `regex("^x", var.token)`,
		"a bad expression":     `regex("(${var.token}", "x")`, "try": `try(tonumber(var.token))`,
		"json": `jsondecode(var.token)`, "a directive": `"%{for t in var.tokens}${tonumber(t)}%{endfor}"`,
		"a condition": `var.token ? 1 : 2`, "format": `format("%d", var.token)`,
		"a time": `csvdecode("${var.token}\na,b")`,
	} {
		w.write(t, "pipelines/bad.hcl", variables+"  bad    = "+expr+"\n}\n")
		if text := w.secretless(t, 2, append([]string{"plan", "bad"}, given...)...); !strings.Contains(text,
			"pipelines/bad.hcl") {
			t.Errorf("%s: nothing says where:\n%s", name, text)
		}
	}
	for name, body := range map[string]string{
		"argv": `argv = ["x", local.header]`, "stdin": "argv = [\"x\"]\n  stdin = var.token",
		"upper":   "argv = [\"x\"]\n  env = { T = upper(var.token) }",
		"strlen":  "argv = [\"x\"]\n  env = { T = strlen(var.token) }",
		"substr":  "argv = [\"x\"]\n  secret_file \"T\" { content = substr(local.header, 0, 9) }",
		"a dummy": "argv = [\"x\"]\n  env = { T = \"${var.token} hexmageDummy7c1e9a53n0e\" }",
		"PATH":    "argv = [\"x\"]\n  env = { PATH = var.token }",
		"twice":   "argv = [\"x\"]\n  env = { T = \"t\" }\n  secret_file \"T\" { content = var.token }",
		"a list":  "argv = [\"x\"]\n  env = { T = var.tokens }",
	} {
		w.write(t, "pipelines/used.hcl", variables+"}\nstep \"exec\" \"s\" {\n  "+body+"\n}\n")
		if text := w.secretless(t, 2, append([]string{"plan", "used"}, given...)...); !strings.Contains(text,
			"pipelines/used.hcl") {
			t.Errorf("%s: nothing says where:\n%s", name, text)
		}
	}
	w.write(t, "pipelines/short.hcl", "variable \"token\" {\n  sensitive = true\n  validation {\n    condition     "+
		"= tonumber(var.token) > 1\n    error_message = \"no\"\n  }\n}\nvariable \"tokens\" {\n  sensitive = true\n "+
		" type = list(number)\n}\n")
	w.secretless(t, 2, append([]string{"plan", "short"}, given...)...)
	// The line in which a value stands is not shown.
	for name, file := range map[string]string{
		"not valid": "token = \"" + planted + "\"", "the wrong type": "token = { a = \"" + planted + "\" }",
		"another name": "tokn = \"" + planted + "\"", "a reference": "token = \"" + planted + "${x}\"",
		"no text": "token = \"" + planted + "\n", "twice": "token = \"" + planted + "\"\ntoken = \"" + planted + "\"",
	} {
		w.write(t, "pipelines/p.hcl", "variable \"token\" {\n  type      = string\n  sensitive = true\n  default   "+
			"= \"none\"\n  validation {\n    condition     = var.token == \"none\"\n    error_message = \"It is "+
			"${var.token}.\"\n  }\n}\n")
		w.write(t, "pipelines/p.hexvars.hcl", file+"\n")
		t.Log(name)
		w.secretless(t, 2, "plan", "p")
		w.secretless(t, 2, "--json", "validate", "p")
	}
	w.write(t, "pipelines/profile.hcl", "variable \"token\" {\n  type      = number\n  sensitive = true\n}\nprofile "+
		"\"x\" {\n  variables = { token = \""+planted+"\" }\n}\n")
	w.secretless(t, 2, "plan", "profile")
	w.secretFree(t)
}

// A hexmage that is killed leaves no file with a secret for longer than until the next build that has one.
func TestKilledWithSecrets(t *testing.T) {
	w := newWorld(t, 0)
	runtime := t.TempDir() // not in memory, or it is
	if dir, err := os.MkdirTemp(quick(), "hexmage-runtime-"); err == nil {
		runtime = dir
		t.Cleanup(func() { remove(dir) })
	}
	for _, at := range []string{"", runtime} {
		w.vars = []string{"XDG_RUNTIME_DIR=" + at, "HEXMAGE_VAR_token=" + planted}
		began := filepath.Join(w.base, "began")
		w.write(t, "pipelines/p.hcl", `
variable "token" { sensitive = true }
variable "wait" { default = "" }
step "exec" "s" {
  argv  = ["test -s \"$FILE\"; echo made > o; ${var.wait}"]
  shell = true
  secret_file "FILE" { content = var.token }
  output "o" { file = "o" }
}
`)
		ctx, cancel := context.WithTimeout(t.Context(), runLimit)
		defer cancel()
		cmd := w.command(ctx, "run", "p", "--sandbox=staged", "--var",
			"wait=echo $FILE > "+began+".new; mv "+began+".new "+began+"; sleep 600")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var file []byte
		for file == nil && ctx.Err() == nil {
			time.Sleep(20 * time.Millisecond)
			file, _ = os.ReadFile(began)
		}
		secret := strings.TrimSpace(string(file))
		if b, err := os.ReadFile(secret); err != nil || string(b) != planted {
			t.Errorf("while the command runs, %s is %q, %v", secret, b, err)
		}
		if st, err := os.Stat(filepath.Dir(secret)); err != nil || st.Mode().Perm() != 0o700 {
			t.Errorf("the folder is %v, %v", st, err)
		}
		_ = syscall.Kill(cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		if at != "" && strings.HasPrefix(secret, at) { // of another process with its number?
			old := time.Now().Add(-time.Hour)
			if err := os.Chtimes(filepath.Dir(secret), old, old); err != nil {
				t.Error(err)
			}
		}
		_ = os.Remove(began)
		if o := w.run(t, "--sandbox=staged", "--force"); o.code != exitOK {
			t.Fatalf("the next build: %s", o)
		}
		if _, err := os.Stat(secret); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("after the next build %s is still there: %v", secret, err)
		}
		if left, err := filepath.Glob(filepath.Join(runtime, "*", "*", "*")); err != nil || len(left) > 0 {
			t.Errorf("left in memory: %q, %v", left, err)
		}
		w.secretFree(t)
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
	for _, args := range [][]string{{"plan", "p"}, {"run", "p"}, {"graph", "p"},
		{"--color", "always", "run", "p", "--force"}, {"explain", "p", "exec.s"}, {"plan", "p\x1b[2J"},
		{"plan", "p", "--var", "x\x1b[2J=1"}, {"x\x1b[2J"}} {
		w.quiet(t, args...)
	}
	w.write(t, "pipelines/p.hcl",
		"step \"exec\" \"s\" {\n  argv = [\"sh\", \"-ec\", \"echo 'c"+hidden+"'; exit 1\"]\n}\n")
	w.quiet(t, "run", "p")
	w.write(t, "pipelines/p.hcl", "locals {\n  a = file(\"x"+hidden+"\") # "+hidden+"\n}\n")
	w.quiet(t, "plan", "p")
	w.quiet(t, "--color", "always", "plan", "p")

	// The other commands, of which each shows what some file or name says.
	inHCL := strings.ReplaceAll(hidden, "\r", "")
	w.write(t, "pipelines/p.hcl",
		"toolchain \"x\" { version = \"1"+inHCL+"\" }\nstep \"exec\" \"s\" {\n  argv = [\"x"+inHCL+"\"]\n}\n")
	w.write(t, "toolchains/x.hcl",
		"toolchain \"x\" {\n  description = \"d"+inHCL+"\"\n  release \"1"+inHCL+
			"\" {\n    source \"archive\" {\n      url = \"http://127.0.0.1:1/"+inHCL+"\"\n    }\n  }\n}\n")
	w.write(t, "src/f"+hidden+".cpp", "int x"+hidden+";\n")
	w.write(t, "log", "nothing "+hidden+"\n<E> Failed to find available PD for contextId 51"+hidden+"\n")
	w.write(t, "elf"+hidden, "\x7fELF"+hidden)
	w.write(t, "devices.hcl", "device \"d\" {\n  serial = \"127.0.0.1:1\"\n  model"+hidden+" = 1\n}\n")
	w.vars = []string{"HEXMAGE_DEVICES=" + filepath.Join(w.dir, "devices.hcl")}
	for _, args := range [][]string{{"doctor"}, {"doctor", "p"}, {"toolchain", "list"}, {"toolchain", "list", "x"},
		{"show", "toolchain", "x"}, {"toolchain", "verify", "elf" + hidden}, {"toolchain", "fetch", "x@1" + hidden},
		{"inspect", "elf" + hidden, "src"}, {"show", "kind", "x" + hidden}, {"diagnose", "log"},
		{"diagnose", "x" + hidden},
		{"device", "list"}, {"device", "pull", "/x" + hidden, "y"},
		{"patch", "check", "src", "--sdk", "x" + hidden}, {"patch", "lint", "src", "--sdk", "x"}, {"makefile", "src"},
		{"ide", "src"}, {"compat", "x" + hidden}, {"env", "p"},
		{"lock", "p"}, {"lock", "--check", "p"}, {"validate"}, {"fmt", "x" + hidden}, {"cache", "path", "x" + hidden},
		{"watch", "x" + hidden}, {"version", hidden}} {
		w.quiet(t, args...)
	}
}

// quiet runs a command that prints nothing to control a terminal but colors.
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
	for _, args := range [][]string{{"run", "p"}, {"--json", "run", "p"}, {"plan", "p"}, {"--json", "plan", "p"},
		{"graph", "p"}, {"version"}, {"show", "kinds"}, {"--help"},
		{"cache", "stats"}, {"doctor"}, {"explain", "p", "exec.link"}} {
		cmd := w.command(t.Context(), args...)
		var stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = full, &stderr
		_ = cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != exitEngine ||
			!strings.Contains(stderr.String(), "cannot write the output: ") {
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
