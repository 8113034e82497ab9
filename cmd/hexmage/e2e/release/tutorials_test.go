//go:build linux

package release_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// TestTutorials runs what docs/tutorials tell a reader to type, each page from its top in a new home that has nothing
// but the released archive, and wants printed what the page shows. A line "<!-- there is: FOLDER -->" names a folder
// of this repository that the reader has, too. go test ./cmd/hexmage/e2e/release -run Tutorials -update writes anew
// what is not printed any more.
func TestTutorials(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(Repo(), "docs", "tutorials", "*.md"))
	if err != nil || len(pages) < 6 {
		t.Fatalf("%d tutorials: %v", len(pages), err)
	}
	for _, page := range pages {
		t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) {
			text := Read(t, page)
			if lines := strings.Count(text, "\n"); lines > 120 {
				t.Errorf("%d lines: no more than 120 are read", lines)
			}
			commands := typed(t, text)
			printed := typeAll(t, newHome(t, text), commands)
			now, done := "", 0
			for i, c := range commands {
				if !shows(c.output, printed[i]) {
					t.Errorf("$ %s\nprints\n%s\nand the page shows\n%s", c.line, printed[i], c.output)
					now, done = now+text[done:c.at]+printed[i], c.at+len(c.output)
				}
			}
			if Update() && done > 0 {
				if err := os.WriteFile(page, []byte(now+text[done:]), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestFirstAfternoon: the page that needs no other one has fewer than ten commands, and each one of hexmage's was
// printed before it is typed.
func TestFirstAfternoon(t *testing.T) {
	said := "$ hexmage\n" // its name is what was installed
	commands := typed(t, Read(t, filepath.Join(Repo(), "docs", "tutorials", "first-afternoon.md")))
	if len(commands) >= 10 || len(commands) < 6 {
		t.Errorf("%d commands", len(commands))
	}
	for _, c := range commands {
		if strings.HasPrefix(c.line, "hexmage") &&
			!regexp.MustCompile(`(?m)(^|[ :])`+regexp.QuoteMeta(c.line)+`( |$)`).MatchString(said) {
			t.Errorf("nothing that was printed before leads to: %s", c.line)
		}
		said += c.output
	}
}

// A typedCommand is one that a page has its reader type.
type typedCommand struct {
	line, output string // what is typed, and what the page shows that it prints
	at           int    // where on the page the output begins
}

// typed reads a page's blocks of class console: commands behind "$ ", which go on behind "> ", and what each of them
// prints.
func typed(t *testing.T, page string) (all []typedCommand) {
	t.Helper()
	at, block := 0, false
	for line := range strings.Lines(page) {
		at += len(line)
		command, begins := strings.CutPrefix(line, "$ ")
		more, goesOn := strings.CutPrefix(line, "> ")
		switch {
		case strings.HasPrefix(line, "```"):
			block = line == "```console\n"
		case !block:
		case begins:
			all = append(all, typedCommand{strings.TrimSuffix(command, "\n"), "", at})
		case len(all) == 0:
			t.Fatalf("a block begins with no command: %s", line)
		case goesOn && all[len(all)-1].output == "":
			all[len(all)-1].line += "\n" + strings.TrimSuffix(more, "\n")
			all[len(all)-1].at = at
		default:
			all[len(all)-1].output += line
		}
	}
	return all
}

var (
	measured = regexp.MustCompile(
		`(< )?\d[\d.]*( ± [\d.]+)? (ns|µs|ms|s|min|h|[kMG]?B|[KMG]iB|tokens/s|cores|percent|°C)\b|\d[\d.]* ± [\d.]+`)
	// when, which run or key, which port
	recorded = regexp.MustCompile(
		`\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b|\b[0-9a-f]{8}([0-9a-f]{4})?\b|\b127\.0\.0\.1:\d+\b`)
	skipped  = regexp.MustCompile(`(?m)^  cached  .*\n|\d+ actions \(\d+ cached\), `) // told by a run that planned anew
	counted  = regexp.MustCompile(`(?m)^(  samples +)\d+$`)
	sideways = regexp.MustCompile(`(?m)(^  (ok  |note:)[^\n]*\n)+`) // as they may, side by side
)

// steady is a text without what no two runs have alike: times and sizes, when it was, the order of steps, how wide
// columns are.
func steady(text string) string {
	text = skipped.ReplaceAllString(recorded.ReplaceAllString(measured.ReplaceAllString(text, "N"), "ID"), "")
	text = counted.ReplaceAllString(text, "${1}N")
	text = sideways.ReplaceAllStringFunc(text, func(lines string) string {
		return strings.Join(slices.Sorted(strings.Lines(lines)), "")
	})
	text = regexp.MustCompile(`─+`).ReplaceAllString(text, "─")
	return regexp.MustCompile(`(?m) +$`).ReplaceAllString(regexp.MustCompile(` {2,}`).ReplaceAllString(text, "  "), "")
}

// shows tells whether a page's text is what was printed. "…" on the page stands for what varies within a line, and as
// a line for any lines.
func shows(page, printed string) bool {
	var want strings.Builder
	for line := range strings.Lines(steady(page)) {
		switch {
		case strings.TrimSpace(line) == "…":
			want.WriteString(`([^\n]*\n)*?`)
		default:
			want.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", `[^\n]*`))
		}
	}
	return regexp.MustCompile(`^` + want.String() + `$`).MatchString(steady(printed))
}

// TestShows: what no two runs have alike may differ, and nothing else.
func TestShows(t *testing.T) {
	const page = "p\n  ok       exec.a  12 ms\n  ok       exec.b  2 actions (1 cached), 1.2 s\n3 actions in 1.30 s: " +
		"2 executed, 1 cached\n…\n  peak RSS   16.8 MB\n  file  …/o\n"
	const now = "p\n  cached   toolchain.x\n  ok       exec.b  930 ms\n  ok       exec.a  1.0 s\n3 actions in 2 ms: " +
		"2 executed, 1 cached\nx\ny\n  peak RSS      9 MB\n  file  out/o\n"
	if !shows(page, now) {
		t.Error("it wants more than it may")
	}
	for _, other := range []string{
		strings.Replace(now, "2 executed, 1", "1 executed, 2", 1), strings.Replace(now, "exec.b", "exec.c", 1),
		strings.Replace(now, "peak RSS", "peak PSS", 1),
		strings.Replace(now, "out/o", "out/p", 1), strings.Replace(now, "  ok       exec.a  1.0 s\n", "", 1),
		now + "more\n", "before\n" + now, strings.Replace(now, "9 MB", "9 tokens", 1),
	} {
		if shows(page, other) {
			t.Errorf("it takes for the page:\n%s", other)
		}
	}
}

// newHome makes a home with the archive, with what the page says that there is, and with what tests keep of downloads.
func newHome(t *testing.T, page string) *World {
	t.Helper()
	base, err := os.MkdirTemp(Base(), "home-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { Remove(base) })
	w := &World{Dir: base, Home: base, Cache: filepath.Join(base, ".cache", "hexmage", "v3")}
	if strings.Contains(page, "(profile: emulator)") {
		w.WithEmulatorDownloads(t)
	} else {
		w.WithDownloads(t)
	}
	if err := CopyFile(releaseArchive(t), filepath.Join(base, released+".tar.gz")); err != nil {
		t.Fatal(err)
	}
	for _, is := range regexp.MustCompile(`(?m)^<!-- there is: (\S+) -->$`).FindAllStringSubmatch(page, -1) {
		if err := os.CopyFS(filepath.Join(base, filepath.Base(is[1])),
			os.DirFS(filepath.Join(Repo(), filepath.FromSlash(is[1])))); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// typeAll types the commands into one shell, and returns what each of them printed, with its exit code if that is not
// 0.
func typeAll(t *testing.T, w *World, commands []typedCommand) []string {
	t.Helper()
	const end = "\x1eexit code "
	var script strings.Builder
	if !strings.Contains(commands[0].line, "tar ") {
		fmt.Fprintf(&script, "tar xzf %[1]s.tar.gz; export PATH=\"$HOME/%[1]s:$PATH\"; rm %[1]s.tar.gz\n", released)
	}
	for _, c := range commands {
		fmt.Fprintf(&script, "{ %s\n} </dev/null\nprintf '%s%%d\\n' $?\n", c.line, end)
	}
	at := filepath.Join(t.TempDir(), "typed")
	if err := os.WriteFile(at, []byte(script.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), RunLimit)
	defer cancel()
	sh := exec.CommandContext(ctx, "sh", "-c", "exec sh \"$1\" 2>&1", "sh", at)
	sh.Dir, sh.Env = w.Dir, []string{"HOME=" + w.Home, "PATH=/usr/local/bin:/usr/bin:/bin"}
	for _, name := range []string{"TMPDIR", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY",
		"NO_PROXY"} {
		if v, ok := os.LookupEnv(name); ok {
			sh.Env = append(sh.Env, name+"="+v)
		}
	}
	sh.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	sh.Cancel = func() error { return syscall.Kill(-sh.Process.Pid, syscall.SIGKILL) }
	sh.WaitDelay = 5 * time.Second
	o := Ended(t, sh)
	printed := strings.Split(o.Stdout, end)
	if len(printed) != len(commands)+1 {
		t.Fatalf("%d of %d commands ended: %s", len(printed)-1, len(commands), o)
	}
	for i := range commands {
		code, rest, _ := strings.Cut(printed[i+1], "\n")
		if code != "0" {
			printed[i] += "[exit code " + code + "]\n"
		}
		printed[i] = regexp.MustCompile(`(?m) +$`).ReplaceAllString(strings.ReplaceAll(printed[i], w.Home,
			"/home/you"), "")
		printed[i+1] = rest
	}
	return printed[:len(commands)]
}
