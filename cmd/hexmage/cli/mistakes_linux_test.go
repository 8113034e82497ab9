package cli_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// mistakesFile has the mistakes, and what hexmage says of each.
const mistakesFile = "mistakes.md"

// A mistake is one that people make.
type mistake struct {
	title    string
	files    []mistakeFile
	commands []string // for a shell; the last is the one that is wrong
	said     string   // as the file has it, with the exit code
}

type mistakeFile struct{ path, text string }

// command is the one that is wrong.
func (m *mistake) command() string { return m.commands[len(m.commands)-1] }

// TestMistakes makes each of the mistakes. What hexmage says must be what the file has, and what helps: one message,
// with a place and a next step.
func TestMistakes(t *testing.T) {
	path := filepath.Join("testdata", mistakesFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := mistakesOf(t, string(text))
	if len(all) < 100 {
		t.Errorf("there are %d mistakes, fewer than 100", len(all))
	}
	bin := mistakesPath(t)
	done := make([]mistakeSaid, len(all))
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.NumCPU() {
		workers.Go(func() {
			for i := range next {
				done[i] = all[i].makeIt(t, bin)
			}
		})
	}
	for i := range all {
		next <- i
	}
	close(next)
	workers.Wait()
	update := flag.Lookup("update").Value.String() == "true"
	titles := map[string]bool{}
	for i, m := range all {
		t.Run(m.title, func(t *testing.T) {
			if titles[m.title] {
				t.Error("there are two of this name")
			}
			titles[m.title] = true
			if done[i].err != nil {
				t.Fatal(done[i].err)
			}
			for _, lack := range done[i].lacks(m) {
				t.Errorf("%s:\n$ %s\n%s", lack, m.command(), done[i])
			}
			if d := cmp.Diff(m.said, done[i].String()); d != "" && !update {
				t.Errorf("it says something else (go test -run Mistakes -update writes it down):\n%s", d)
			}
		})
	}
	if update {
		if err := os.WriteFile(path, []byte(written(string(text), done)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var (
	mistakeBlock = regexp.MustCompile("(?ms)^```(\\S+)(?: (\\S+))?\n(.*?)^```$")
	console      = regexp.MustCompile("(?ms)^```console\n(.*?)^```$")
)

// mistakesOf reads the file: below each heading are the files that somebody wrote, and what was typed. What stands
// before the first is in all.
func mistakesOf(t *testing.T, text string) (all []*mistake) {
	t.Helper()
	parts := strings.Split(text, "\n### ")
	common, _ := filesOf(parts[0])
	for _, part := range parts[1:] {
		title, body, _ := strings.Cut(part, "\n")
		m := &mistake{title: title}
		own, typed := filesOf(body)
		m.files = append(slices.Clone(common), own...)
		for line := range strings.Lines(typed) {
			if command, ok := strings.CutPrefix(line, "$ "); ok && m.said == "" {
				m.commands = append(m.commands, strings.TrimSuffix(command, "\n"))
			} else {
				m.said += line
			}
		}
		if len(m.commands) == 0 {
			t.Fatalf("%s: nothing is typed", title)
		}
		all = append(all, m)
	}
	return all
}

func filesOf(text string) (files []mistakeFile, typed string) {
	for _, b := range mistakeBlock.FindAllStringSubmatch(text, -1) {
		if b[2] != "" {
			files = append(files, mistakeFile{b[2], b[3]})
		} else {
			typed = b[3]
		}
	}
	return files, typed
}

// written is the text with what was said now.
func written(text string, done []mistakeSaid) string {
	i := 0
	return console.ReplaceAllStringFunc(text, func(block string) string {
		var b strings.Builder
		for line := range strings.Lines(block) {
			if strings.HasPrefix(line, "```console") || strings.HasPrefix(line, "$ ") {
				b.WriteString(line)
			}
		}
		i++
		return b.String() + done[i-1].String() + "```"
	})
}

// mistakesPath is a folder with hexmage and the few programs that the commands use: no adb, no compiler.
func mistakesPath(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	links := map[string]string{"hexmage": self}
	for _, name := range []string{"sh", "chmod", "cp", "mkdir", "rm", "sed", "touch"} {
		if links[name], err = exec.LookPath(name); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// mistakeSaid is what came of a mistake.
type mistakeSaid struct {
	text, stdout string
	code         int
	err          error // it could not be made
}

// String is as the file has it.
func (s mistakeSaid) String() string { return fmt.Sprintf("%sexit code %d\n", s.text, s.code) }

// mistakeRoom is how long the path of a mistake's folder is: messages are folded at a width.
const mistakeRoom = 40

// makeIt makes the mistake in a folder of its own.
func (m *mistake) makeIt(t *testing.T, bin string) (s mistakeSaid) {
	dir, err := os.MkdirTemp("", "m")
	if len(dir) >= mistakeRoom { // TMPDIR is long
		_ = os.Remove(dir)
		dir, err = os.MkdirTemp("/tmp", "m")
	}
	if err != nil {
		return mistakeSaid{err: err}
	}
	defer func() {
		_ = exec.Command("chmod", "-R", "u+rwX", dir).Run()
		if err := os.RemoveAll(dir); s.err == nil {
			s.err = err
		}
	}()
	room := filepath.Join(dir, strings.Repeat("x", mistakeRoom-len(dir)))
	work := filepath.Join(room, "desk")
	for _, f := range m.files {
		at := filepath.Join(work, filepath.FromSlash(f.path))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755),
			os.WriteFile(at, []byte(f.text), 0o644)); err != nil {
			return mistakeSaid{err: err}
		}
	}
	var stdout, stderr bytes.Buffer
	for i, command := range m.commands {
		ctx, cancel := context.WithTimeout(t.Context(), stuck)
		defer cancel()
		stdout.Reset()
		stderr.Reset()
		cmd := exec.CommandContext(ctx, filepath.Join(bin, "sh"), "-c", command)
		cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = work, &stdout, &stderr, 5*time.Second
		cmd.Env = []string{"PATH=" + bin, "HOME=" + filepath.Join(room, "home"),
			"HEXMAGE_CACHE=" + filepath.Join(room, "cache"),
			"ADB_SERVER_SOCKET=localfilesystem:" + filepath.Join(room, "adb"), "TMPDIR=" + dir}
		err := runPlain(cmd)
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			return mistakeSaid{err: err}
		}
		if s.code = cmd.ProcessState.ExitCode(); i < len(m.commands)-1 && s.code != 0 {
			return mistakeSaid{err: fmt.Errorf("%s: exit code %d: %s", command, s.code, stderr.String())}
		}
	}
	s.text, s.stdout = anywhere(stderr.String(), room), stdout.String()
	return s
}

// runPlain runs a command as somebody who may not read all files, as root may.
func runPlain(cmd *exec.Cmd) error {
	if os.Getuid() != 0 {
		return cmd.Run()
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		for _, c := range []uintptr{unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH} {
			if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
				done <- err
				return
			}
		}
		done <- cmd.Run()
	}()
	return <-done
}

var (
	anyTime = regexp.MustCompile(`\b\d+(\.\d+)? (ms|s)\b`)
	anyLog  = regexp.MustCompile(`(state/logs/\S+)-[0-9a-f]{16}/`)
)

// anywhere is what was said without what is of the machine and the moment.
func anywhere(text, room string) string {
	text = strings.ReplaceAll(text, room, "")
	text = anyTime.ReplaceAllString(text, "0 s")
	text = anyLog.ReplaceAllString(text, "$1-…/")
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

var (
	messages = regexp.MustCompile(`(?m)^(Error: |hexmage: |inspect: |✗ |  failed +(module\.\S+\.)?check\.)`)
	place    = regexp.MustCompile(`on \S+ line \d+|\w\.\w+:\d+|/\w+\.hcl |\b(PATH|[A-Z]+_[A-Z_]+|here|this workspace)\b`)
	goish    = regexp.MustCompile(
		`%!|<nil>|goroutine |panic|runtime error|0xc[0-9a-f]{9}|unmarshal|strconv\.|(^|\s)(json: |(cty|hcl|fs)\.[A-Z])|\[\]string|map\[string|\d bit int|(int|bool) value`)
	nextStep = regexp.MustCompile("(?m)(?i:did you mean |(^[ ▏]*|[.;:,(]\\s+|\\b(or|and|then)\\s+|→ " +
		")(add|ask|change|check|choose|chmod|compare|correct|create|declare|download|edit|end|get|give|install|keep|" +
		"leave|make|move|name|open|pass|put|raise|remove|rename|replace|run|say|see|select|set|take|unset|use|want|" +
		"wait|write)\\b)|There are: |; there (is|are) |(Available|Known)[a-z ]*:\\s" +
		"|(has|have) to be|must be|such as|\\bas in\\b|written without|use an absolute|exist only in|is " +
		"required|`hexmage ")
)

// lacks says what a message lacks.
func (s mistakeSaid) lacks(m *mistake) (all []string) {
	if n := len(messages.FindAllString(s.text, -1)); n != 1 {
		all = append(all, fmt.Sprintf("there are %d messages, not one", n))
	}
	if s.stdout != "" {
		all = append(all, "something is on standard output: "+s.stdout)
	}
	if !slices.Contains([]int{1, 2, 3, 5}, s.code) {
		all = append(all, fmt.Sprintf("exit code %d", s.code))
	}
	if (strings.HasPrefix(s.text, "Error: ") || strings.Contains(s.text, "\nSee: ")) && s.code != 2 {
		all = append(all, fmt.Sprintf("exit code %d for what a file or a command line has wrong", s.code))
	}
	if !place.MatchString(s.text) && !s.names(m) {
		all = append(all, "it has no place")
	}
	if !nextStep.MatchString(s.text) && s.code != 5 { // of a check the pipeline's author says what to do
		all = append(all, "it has no next step")
	}
	if found := goish.FindString(s.text); found != "" {
		all = append(all, fmt.Sprintf("it says %q", found))
	}
	if _, self, _, ok := runtime.Caller(0); ok && strings.Contains(s.text, filepath.Dir(self)) {
		all = append(all, "it shows where hexmage was built")
	}
	return all
}

var word = regexp.MustCompile(`[\w@./:-]*\w`)

// names tells whether the message names something that was typed, or a file that was written.
func (s mistakeSaid) names(m *mistake) bool {
	_, args, _ := strings.Cut(m.command(), "hexmage")
	vars, _, _ := strings.Cut(m.command(), "hexmage")
	words := word.FindAllString(args, -1)
	for _, v := range strings.Fields(vars) {
		name, _, _ := strings.Cut(v, "=")
		words = append(words, name)
	}
	for _, f := range m.files {
		words = append(words, f.path)
	}
	return slices.ContainsFunc(words, func(w string) bool { return len(w) > 1 && strings.Contains(s.text, w) })
}
