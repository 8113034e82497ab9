//go:build linux

package faults_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What planning may take, whatever a pipeline says. Time is for a busy machine: it fails what hangs.
const (
	bombMemory = 512 << 20 // bytes
	bombTime   = 30 * time.Second
)

// doubling are locals of which each has twice what the one before has.
func doubling(n int, first, format string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "locals {\n  a0 = %s\n", first)
	for i := range n {
		fmt.Fprintf(&b, "  a%d = %s\n", i+1, strings.ReplaceAll(format, "PREV", fmt.Sprintf("local.a%d", i)))
	}
	return b.String() + "}\n"
}

func local(expr string) string { return "locals {\n  a = " + expr + "\n}\n" }

// Each pipeline that asks for too much is refused, with a place, and costs little.
func TestBombs(t *testing.T) {
	const many = 1 << 20
	for name, bomb := range map[string]struct {
		hcl   string
		files map[string]string
		flags []string
		want  string // of what is said
	}{
		"nested brackets": {hcl: local(strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)),
			want: "Nested too deeply"},
		"nested brackets, unclosed": {hcl: local(strings.Repeat("[", many/2-100)), want: "Nested too deeply"},
		"nested parentheses": {hcl: local(strings.Repeat("(", 100_000) + "1" + strings.Repeat(")", 100_000)),
			want: "Nested too deeply"},
		"nested templates": {hcl: local(strings.Repeat(`"${`, 80_000) + "1" + strings.Repeat(`}"`, 80_000)),
			want: "Nested too deeply"},
		"nested directives": {hcl: local(`"` + strings.Repeat(`%{if true}`, 25_000) +
			strings.Repeat(`%{endif}`, 25_000) + `"`), want: "Nested too deeply"},
		"nested blocks": {hcl: strings.Repeat("a {\n", 80_000) + strings.Repeat("}\n", 80_000),
			want: "Nested too deeply"},
		"nested blocks, unclosed": {hcl: strings.Repeat("a{\n", many/6), want: "Nested too deeply"},
		"nested types": {hcl: "variable \"v\" {\n  type = " + strings.Repeat("object({ a = ", 30_000) +
			"string" + strings.Repeat("})", 30_000) + "\n}\n", want: "Nested too deeply"},
		"negations":  {hcl: local(strings.Repeat("!", 400_000) + "true"), want: "Nested too deeply"},
		"a long sum": {hcl: local("1" + strings.Repeat("+1", 200_000)), want: "Nested too deeply"},
		"a long sum in brackets": {hcl: local("(1" + strings.Repeat(" +\n1", 100_000) + ")"),
			want: "Nested too deeply"},
		"many indices":    {hcl: local("[]" + strings.Repeat("[0]", 150_000)), want: "Nested too deeply"},
		"many conditions": {hcl: local(strings.Repeat("true ? 1 : ", 40_000) + "2"), want: "Nested too deeply"},
		"a variable of brackets": {hcl: "variable \"v\" { type = list(any) }\n",
			flags: []string{"--var", "v=" + strings.Repeat("[", 100_000)}, want: "--var v"},

		"doubling texts":   {hcl: doubling(60, `"0123456789"`, `"${PREV}${PREV}"`), want: "a string has"},
		"doubling lists":   {hcl: doubling(60, "[1]", "[PREV, PREV]"), want: "more than 300000 elements"},
		"doubling objects": {hcl: doubling(60, "{}", "{ a = PREV, b = PREV }"), want: "more than 300000 elements"},
		"doubling concat":  {hcl: doubling(60, "[1]", "concat(PREV, PREV)"), want: "more than 300000 elements"},
		"doubling merge": {hcl: doubling(60, "{ a = 1 }",
			`merge({ for k, v in PREV : "a${k}" => v }, { for k, v in PREV : "b${k}" => v })`),
			want: "Plan too large"},
		"doubling replace": {hcl: doubling(60, `"aa"`, `replace(PREV, "a", PREV)`), want: "a string has"},
		"doubling numbers": {hcl: doubling(60, "1e300", "PREV * PREV"), want: "more than 19,000 digits"},
		"doubling json":    {hcl: doubling(60, `"\"\\"`, "jsonencode([PREV, PREV])"), want: "a string has"},
		"doubling in itself": {hcl: local(strings.Repeat("[for x in ", 60) + "[1]" +
			strings.Repeat(" : [x, x]]", 60)), want: "Plan too large"},

		"setproduct": {hcl: local("setproduct(range(1000), range(1000), range(1000))"), want: "a list has"},
		"indent":     {hcl: local(`indent(2000000000, "a\nb")`), want: "exceeds the string limit"},
		"format":     {hcl: local(`format("%999999999d", 1)`), want: "a width or precision"},
		"format, many": {hcl: local(`format("` + strings.Repeat("%999d", 5000) + `", ` + strings.Repeat("1, ", 5000) +
			")"),
			want: "a string has"},
		"range": {hcl: local("range(1000000000)"), want: "more than 1024 values"},
		"join": {hcl: local(`join(file("long.txt"), range(1024))`),
			files: map[string]string{"long.txt": strings.Repeat("a", many)}, want: "a string has"},
		"split": {hcl: local(`split("", file("long.txt"))`),
			files: map[string]string{"long.txt": strings.Repeat("a", 3*many)}, want: "a list has"},
		"regexreplace": {hcl: local(`regexreplace(file("long.txt"), "a", file("long.txt"))`),
			files: map[string]string{"long.txt": strings.Repeat("a", many/8)}, want: "a string has"},
		"regexreplace, all": {hcl: local(`regexreplace(file("long.txt"), "a*", "` + strings.Repeat("$0", 1000) +
			`")`), files: map[string]string{"long.txt": strings.Repeat("a", many)}, want: "a string has"},
		"regex, long": {hcl: local(`regex("(?:(?:a?){30}){30}b", file("long.txt"))`),
			files: map[string]string{"long.txt": strings.Repeat("a", 3*many)}, want: "the search needs"},
		"regexall, quadratic": {hcl: local(`regexall("a(?:.*b)?", file("long.txt"))`),
			files: map[string]string{"long.txt": strings.Repeat("a", 3*many)}, want: "the search needs"},
		"trim": {hcl: local(`trim(file("long.txt"), file("long.txt"))`),
			files: map[string]string{"long.txt": strings.Repeat("ä", many)}, want: "characters to trim"},
		"distinct": {hcl: local("distinct(flatten([for a in range(1000) : [for b in range(100) : a * 100 + b]]))"),
			want: "distinct takes at most 2000"},
		"jsondecode, deep": {hcl: local(`jsondecode(file("deep.json"))`),
			files: map[string]string{"deep.json": strings.Repeat("[", 2*many) + strings.Repeat("]", 2*many)},
			want:  "deep"},
		"jsondecode, wide": {hcl: local(`jsondecode(file("wide.json"))`),
			files: map[string]string{"wide.json": "[" + strings.Repeat("1,", 2*many-10) + "1]"}, want: "a list has"},
		"jsondecode, number": {hcl: local(`"${jsondecode("1e600000000")}"`), want: "more than 19,000 digits"},
		"a list of a tuple": {hcl: local("tolist(flatten([for a in range(1000) : [for b in range(1000) : a]]))"),
			want: "Plan too large"},

		"squared": {hcl: local(
			"[for a in range(1024) : [for b in range(1024) : [for c in range(1024) : a]]]"),
			want: "the plan needs more"},
		"squared templates": {hcl: local(
			`"%{for a in range(1024)}%{for b in range(1024)}%{for c in range(1024)}${a}%{endfor}%{endfor}%{endfor}"`),
			want: "the plan needs more"},
		"repeated long text": {hcl: local(`"%{for a in range(1024)}${file("long.txt")}%{endfor}"`),
			files: map[string]string{"long.txt": strings.Repeat("a", 3*many)}, want: "the plan needs more"},
		"a million errors": {hcl: local(`[for a in range(1024) : [for b in range(1024) : tonumber("x")]]`),
			want: ""},
		"for_each over 10^7": {hcl: "step \"exec\" \"s\" {\n  for_each = toset(flatten([for a in range(1000) : " +
			"[for b in range(1000) : [for c in range(10) : \"${a}-${b}-${c}\"]]]))\n  argv = [\"true\"]\n}\n",
			want: "Plan too large"},
		"for_each over 250,000": {hcl: "step \"exec\" \"s\" {\n  for_each = toset(flatten([for a in range(1000) : " +
			"[for b in range(250) : \"${a}-${b}\"]]))\n  argv = [\"true\"]\n}\n", want: "Plan too large"},

		"a number literal":      {hcl: local(`"${1e999999999}"`), want: "Number too long"},
		"a long number literal": {hcl: local(strings.Repeat("9", 500_000)), want: "Number too long"},
		"a long text, a number": {hcl: local(`file("long.txt") + 1`),
			files: map[string]string{"long.txt": strings.Repeat("9", 3*many)}, want: "is too long for a number"},
		"a text, a large number": {hcl: local(`"${-"1e600000000"}"`), want: "more than 19,000 digits"},
		"divided by zero":        {hcl: local("1 / 0"), want: "Infinite number"},

		"a long identifier": {hcl: local("local."+strings.Repeat("b", 400_000)) + "locals {\n  " +
			strings.Repeat("c", 200_000) + " = 1\n}\n", want: "local."},
		"a long heredoc": {hcl: local("<<E\n" + strings.Repeat("a\n", 1_200_000) + "E"),
			want: "the limit is 2097152"},
		"an enormous file": {hcl: strings.Repeat("# nothing\n", 300_000), want: "the limit is 2097152"},
		"an enormous block": {hcl: "locals {\n" + strings.Repeat("  a = 1\n", 400_000) + "}\n",
			want: "the limit is 2097152"},
		"a million mistakes": {hcl: strings.Repeat("}\n", 250_000), want: ""},
		"a million blocks":   {hcl: strings.Repeat("locals {}\nx {}\n", 250_000), want: "the limit is 2097152"},
		"unknown blocks":     {hcl: strings.Repeat("locals {}\nx {}\n", 45_000), want: "The block x is not valid"},
		"arguments outside":  {hcl: strings.Repeat("a = 1\n", 80_000), want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 0)
			w.write(t, "pipelines/p.hcl", bomb.hcl)
			for name, text := range bomb.files {
				w.write(t, name, text)
			}
			w.refused(t, bomb.want, append([]string{"plan", "p"}, bomb.flags...)...)
		})
	}
	t.Run("a pipe as a file", func(t *testing.T) {
		w := newWorld(t, 0)
		w.write(t, "pipelines/p.hcl", local(`file("pipe")`))
		w.pipe(t, "pipe")
		w.refused(t, "pipe is not a regular file", "plan", "p")
	})
	t.Run("a pipe as the pipeline", func(t *testing.T) {
		w := newWorld(t, 0)
		w.pipe(t, "pipelines/q.hcl")
		w.refused(t, "not a regular file", "plan", "q")
	})
}

func (w *world) pipe(t *testing.T, name string) {
	t.Helper()
	if err := syscall.Mkfifo(filepath.Join(w.dir, name), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The same holds for the other files of a workspace, and of a user.
func TestBombsElsewhere(t *testing.T) {
	const series = "series/2.9-2.10"
	for file, about := range map[string]struct {
		block, argument string // of which the file is made
		args            []string
		code            int
	}{
		"toolchains/x.hcl": {"soc \"SM1\"", "marketing_name", []string{"plan", "p"}, exitUsage},
		"metrics/x.hcl":    {"metric \"m\"", "unit", []string{"plan", "p"}, exitUsage},
		"diagnosis/x.hcl":  {"failure \"f\"", "cause", []string{"diagnose", "log"}, exitUsage},
		"hexmage.lock.hcl": {"toolchain \"t\" \"1\"", "source", []string{"plan", "p"}, exitUsage},
		"devices.hcl":      {"device \"d\"", "serial", []string{"device", "list"}, exitUsage},
		series + "/rules.hcl": {"rename \"r\"", "to",
			[]string{"patch", "check", "src", "--series", "own=series", "--sdk", "sdk"}, exitFailed},
		"pipelines/second.hcl": {"locals", "a", []string{"validate", "second"}, exitUsage},
	} {
		t.Run(strings.ReplaceAll(file, "/", " "), func(t *testing.T) {
			w := newWorld(t, 0)
			w.write(t, "pipelines/p.hcl", "step \"run\" \"r\" {\n  argv = [\"true\"]\n  push = {}\n}\n")
			w.write(t, "log", "nothing\n")
			w.write(t, "sdk/include/QNN/QnnTypes.h", "\n")
			w.vars = []string{"HEXMAGE_DEVICES=" + filepath.Join(w.dir, "devices.hcl")}
			arg := func(expr string) string { return about.block + " {\n  " + about.argument + " = " + expr + "\n}\n" }
			place := filepath.Base(file)
			for _, bomb := range []struct{ text, want string }{
				{arg(strings.Repeat("[", 50_000) + strings.Repeat("]", 50_000)), "Nested too deeply"},
				{arg("1" + strings.Repeat("+1", 200_000)), "Nested too deeply"},
				{strings.Repeat("a {\n", 80_000) + strings.Repeat("}\n", 80_000), "Nested too deeply"},
				{arg(`"${1e999999999}"`), "Number too long"},
				{arg(`join("", ["a"])`), ""}, // none can be called but in a pipeline
				{arg("[" + strings.Repeat("for a in [1,2,3,4,5,6,7,8,9,10] : [", 9) + "1" + strings.Repeat("]", 9) +
					"]"), ""},
				{arg(`"` + strings.Repeat("%{for a in [1,2,3,4,5,6,7,8,9,10]}", 9) + "long" +
					strings.Repeat("%{endfor}", 9) + `"`), ""},
				{strings.Repeat("# nothing\n", 2_000_000), ""},
			} {
				w.write(t, file, bomb.text)
				if file == "pipelines/second.hcl" && strings.Contains(bomb.text, "join(") {
					continue
				}
				w.refusedAt(t, about.code, place, bomb.want, about.args...)
			}
			if strings.HasPrefix(file, "toolchains/") { // a rule is asked when the pipeline is known
				const many = "[1,2,3,4,5,6,7,8,9,10]"
				nested := strings.Repeat("[for a in "+many+" : ", 8) + "target.arch" + strings.Repeat("]", 8)
				for _, rule := range []string{"when = length(" + nested + ") > 0\n  reason = \"x\"",
					"when = true\n  reason = join(\"\", flatten(" + nested + "))",
					"each = " + nested + "\n  reason = \"x\""} {
					w.write(t, file, "compat \"c\" {\n  summary = \"s\"\n  argument = \"version\"\n  "+rule+
						"\n  remedy = \"r\"\n  source = \"s\"\n}\n")
					w.write(t, "pipelines/p.hcl", "target \"SM8750\" {}\n")
					w.refusedAt(t, about.code, place, "", about.args...)
				}
			}
			if file == "devices.hcl" { // the user's own
				return
			}
			if err := os.Remove(filepath.Join(w.dir, file)); err != nil {
				t.Fatal(err)
			}
			w.pipe(t, file)
			w.refusedAt(t, about.code, place, "regular file", about.args...)
		})
	}
}

// refused runs a command that says no, with a place in a pipeline, and takes little.
func (w *world) refused(t *testing.T, want string, args ...string) {
	t.Helper()
	w.refusedAt(t, exitUsage, "pipelines/", want, args...)
}

func (w *world) refusedAt(t *testing.T, code int, place, want string, args ...string) {
	t.Helper()
	cmd := w.command(t.Context(), args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	watchdog := time.AfterFunc(bombTime, func() { _ = cmd.Cancel() })
	defer watchdog.Stop()
	start := time.Now()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	took := time.Since(start)
	text := out.String()
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	cpu, memory := cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), usage.Maxrss<<10
	t.Logf("%.2f s, %.2f s of processors, %d MB", took.Seconds(), cpu.Seconds(), memory>>20)
	if dir := os.Getenv("HEXMAGE_FAULTS_SHOW"); dir != "" {
		t.Log(text[:min(len(text), 1500)])
	}
	switch {
	case cmd.ProcessState.ExitCode() != code:
		t.Errorf("exit code %d after %v", cmd.ProcessState.ExitCode(), took)
	case !strings.Contains(text, want):
		t.Errorf("it does not say %q", want)
	case !strings.Contains(text, place) && !strings.Contains(text, "--var"):
		t.Error("it does not say where")
	case strings.Contains(text, "goroutine ") || strings.Contains(text, "panic"):
		t.Error("it crashed")
	case memory > bombMemory:
		t.Errorf("it took %d MB", memory>>20)
	case len(text) > 1<<20:
		t.Errorf("it says %d bytes", len(text))
	default:
		return
	}
	t.Logf("%.2000s", text)
}
