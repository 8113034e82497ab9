package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/report"
)

// story is a build with a bit of everything.
func story() []event.Event {
	return []event.Event{
		event.BuildStarted{Pipeline: "bench", Profile: "open", Actions: 3},
		event.ActionsPlanned{Step: "patch.ops", Actions: 1},
		event.ActionsPlanned{Step: "compile.library", Actions: 2},
		event.ActionsPlanned{Step: "run.bench", Actions: 1},
		event.ActionFinished{ID: 1, Step: "patch.ops", Outcome: event.Cached, Key: "ab"},
		event.ActionStarted{ID: 2, Step: "compile.library", Name: "a.o", Description: "compile a.cpp"},
		event.ActionProgress{ID: 2, Done: 1 << 20, Total: 4 << 20, Unit: "bytes", Text: "half way"},
		event.ActionFinished{ID: 2, Step: "compile.library", Name: "a.o", Outcome: event.Executed,
			Seconds: 1.5, Worker: "local", Warning: "old SDK\nold libc"},
		event.ActionFinished{ID: 3, Step: "compile.library", Name: "b.o", Outcome: event.Cached},
		event.ActionStarted{ID: 4, Step: "run.bench", Name: "run"},
		event.ActionFinished{ID: 4, Step: "run.bench", Name: "run", Outcome: event.Failed, Seconds: 12,
			Worker: "board-7", Failure: &event.Failure{
				Summary: "exit code 3", Where: "pipelines/bench.hcl:7", Source: []string{`step "run" "bench" {`, "}"},
				Command:  []string{"./run", "it's", "", "-m"},
				ExitCode: 3, Output: "10%\r100%\nbad\x1b[31m red\x1b[0m\tend\x07\n\n", Log: "/c/run.log",
				Hints: []string{"turn it off\nand on"},
			}},
		event.ActionsPlanned{Step: "report.html", Actions: 1},
		event.ActionFinished{Step: "report.html", Outcome: event.NotRun},
		event.OutputReady{Name: "lib", Path: "/o/lib"},
		event.BuildFinished{Actions: 5, Executed: 1, Cached: 2, Failed: 1, NotRun: 1, Seconds: 13.507},
	}
}

func show(o report.Options, events ...event.Event) string {
	var b bytes.Buffer
	d := report.Lines(&b, o)
	for _, e := range events {
		d.Send(e)
	}
	d.Close()
	return b.String()
}

// TestLongBlock: of a step's block as much is shown as it takes to know it again.
func TestLongBlock(t *testing.T) {
	var block []string
	for i := range 40 {
		block = append(block, fmt.Sprint("line ", i+1))
	}
	failed := func(source []string) string {
		return show(report.Options{}, event.ActionsPlanned{Step: "run.x", Actions: 1},
			event.ActionFinished{ID: 1, Step: "run.x", Outcome: event.Failed,
				Failure: &event.Failure{Summary: "exit code 1", Source: source}})
	}
	if got := failed(block); !strings.Contains(got, "│ line 8\n  │ … 32 more lines\n") ||
		strings.Contains(got, "line 9") {
		t.Error(got)
	}
	if got := failed(block[:10]); !strings.Contains(got, "│ line 10\n") || strings.Contains(got, "more lines") {
		t.Error(got)
	}
}

// TestCutLog: a log is called whole only if it is.
func TestCutLog(t *testing.T) {
	got := show(report.Options{}, event.ActionsPlanned{Step: "run.x", Actions: 1},
		event.ActionFinished{ID: 1, Step: "run.x", Outcome: event.Failed,
			Failure: &event.Failure{Summary: "exit code 1", Log: "/c/x.log", LogCut: true}})
	if strings.Contains(got, "whole") || !strings.Contains(got, "output, middle omitted: /c/x.log\n") {
		t.Error(got)
	}
}

// TestManyMachines: where a step ran.
func TestManyMachines(t *testing.T) {
	events := []event.Event{event.ActionsPlanned{Step: "run.x", Actions: 4}}
	for i, w := range []string{"board1", "board2", "board1", "local"} {
		events = append(events, event.ActionFinished{ID: i + 1, Step: "run.x", Name: w, Outcome: event.Executed,
			Worker: w})
	}
	if got := show(report.Options{}, events...); !strings.Contains(got, "on 2 machines") {
		t.Error(got)
	}
}

func TestLines(t *testing.T) {
	want := `bench  profile: open
  cached   patch.ops                    
  note: compile.library: old SDK
  old libc
  ok       compile.library              2 actions (1 cached), 1.5 s

✗ run.bench run failed: exit code 3
  ▏ 100%
  ▏ bad red    end·
  hint: turn it off
  and on
  whole output: /c/run.log
  at pipelines/bench.hcl:7
  │ step "run" "bench" {
  │ }
  command: ./run 'it'\''s' '' -m

  failed   run.bench                    on board-7, 12 s
  not run  report.html                  
5 actions in 13.51 s: 1 executed, 2 cached, 1 failed, 1 not run
`
	got := show(report.Options{}, story()...)
	if d := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); d != "" {
		t.Error(d)
	}
	verbose := show(report.Options{Verbose: true}, story()...)
	for _, line := range []string{"    executed compile.library a.o  1.5 s\n",
		"    cached   compile.library b.o  0 ms\n", "  output   lib → /o/lib\n"} {
		if !strings.Contains(verbose, line) {
			t.Errorf("verbose lacks %q:\n%s", line, verbose)
		}
	}
}

// Color adds to the text and never stands for it.
func TestColorOnlyAdds(t *testing.T) {
	colored := show(report.Options{Color: true}, story()...)
	for _, code := range []string{"1", "2", "31", "32", "33", "0"} {
		if !strings.Contains(colored, "\x1b["+code+"m") {
			t.Errorf("no color %s", code)
		}
		colored = strings.ReplaceAll(colored, "\x1b["+code+"m", "")
	}
	if d := cmp.Diff(show(report.Options{}, story()...), colored); d != "" {
		t.Error(d)
	}
}

func TestCouldNotRunIsNotFailed(t *testing.T) {
	got := show(report.Options{}, event.ActionsPlanned{Step: "exec.a", Actions: 1},
		event.ActionFinished{Step: "exec.a", Outcome: event.Failed,
			Failure: &event.Failure{Summary: "no space", InfrastructureError: true}})
	if !strings.Contains(got, "✗ exec.a could not run: no space\n") {
		t.Errorf("%s", got)
	}
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	s := report.JSON(&b, func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 8e6, time.FixedZone("", 3600)) })
	s.Send(event.ActionFinished{ID: 5, Step: "exec.x", Outcome: event.Failed,
		Failure: &event.Failure{Summary: "s", Output: "\xff\xfe bad \x00"}})
	for _, e := range story() {
		s.Send(e)
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	for _, want := range []string{
		0:  `{"event":"build_started","pipeline":"bench","profile":"open","actions":3}`,
		1:  `{"event":"actions_planned","step":"patch.ops","actions":1}`,
		4:  `{"event":"action_finished","id":1,"step":"patch.ops","outcome":"cached","key":"ab","duration_seconds":0}`,
		5:  `{"event":"action_started","id":2,"step":"compile.library","name":"a.o","description":"compile a.cpp"}`,
		6:  `{"event":"action_progress","id":2,"done":1048576,"total":4194304,"unit":"bytes","text":"half way"}`,
		7:  `{"event":"action_finished","id":2,"step":"compile.library","name":"a.o","outcome":"executed","duration_seconds":1.5,"worker":"local","warning":"old SDK\nold libc"}`,
		13: `{"event":"output_ready","name":"lib","path":"/o/lib"}`,
		14: `{"event":"build_finished","actions":5,"executed":1,"cached":2,"failed":1,"not_run":1,"duration_seconds":13.507}`,
		15: `{"event":"action_finished","id":5,"step":"exec.x","outcome":"failed","duration_seconds":0,"failure":{"summary":"s","exit_code":0,"output":"\ufffd\ufffd bad \u0000"}}`,
	} {
		want = strings.Replace(want, `",`, `","format":"hexmage-events/1","time":"2026-03-04T04:06:07.008Z",`, 1)
		if want != "" && !strings.Contains(b.String(), want+"\n") {
			t.Errorf("no line %s", want)
		}
	}
	if len(lines) != len(story())+1 {
		t.Errorf("%d lines for %d events", len(lines), len(story())+1)
	}
	for _, l := range lines {
		if !json.Valid([]byte(l)) {
			t.Errorf("not JSON: %s", l)
		}
	}
}

func TestTable(t *testing.T) {
	table, err := report.ParseTable([]byte(`{"title":"bench","profile":"open","note":"Not a board.","rows":[
		{"name":"prefill","value":12.345,"unit":"tokens/s"},{"name":"tokens","value":32},{"name":"größe","value":"8 of 8","unit":"t"},
		{"name":"big","value":1e300},{"name":"none","value":null},{"name":"list","value":[1]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	table.Write(&b)
	want := []string{"", "bench   profile: open", "─────────────────────"}
	lines := strings.Split(b.String(), "\n")
	if d := cmp.Diff(want, lines[:3]); d != "" {
		t.Error(d)
	}
	for _, l := range []string{"prefill", "12.35 tokens/s", "32", "größe", "8 of 8 t", "[1]", "1e+300",
		"Not a board."} {
		if !strings.Contains(b.String(), l) {
			t.Errorf("no %q in\n%s", l, b.String())
		}
	}
	// no objects: nothing to show, and no mistake
	for _, none := range []string{"[]", "{}"} {
		b.Reset()
		empty, err := report.ParseTable([]byte(none))
		if empty.Write(&b); err != nil || b.Len() > 0 {
			t.Errorf("%s: %+v, %v, %q", none, empty, err, b.String())
		}
	}
	for _, bad := range []string{"", "[1]", `["a"]`, "[", `{"rows":[{"name":1}]}`} {
		if _, err := report.ParseTable([]byte(bad)); err == nil {
			t.Errorf("%q is a table", bad)
		}
	}
}

func TestQuoteIsReadBackByAShell(t *testing.T) {
	args := []string{"plain", "", "two words", "it's", "$HOME", "a;b", "--x=y", "new\nline", "ü", "*", "~", "\\"}
	out, err := exec.Command("sh", "-c", "printf '%s\\0' "+action.Quote(args)).Output()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(args, strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")); d != "" {
		t.Error(d)
	}
	if got := action.Quote([]string{"clang++", "-O2", "-o", "a/b.o"}); got != "clang++ -O2 -o a/b.o" {
		t.Errorf("quoted for no reason: %s", got)
	}
}

// screen is a terminal that knows what the live lines need: line ends, one line up, erase the line.
type screen struct {
	lines []string
	row   int
	w     int
	t     *testing.T
}

func (s *screen) Write(p []byte) (int, error) {
	text := string(p)
	for text != "" {
		if len(s.lines) == s.row {
			s.lines = append(s.lines, "")
		}
		if rest, ok := strings.CutPrefix(text, "\x1b[1A"); ok {
			s.row--
			text = rest
			continue
		}
		if rest, ok := strings.CutPrefix(text, "\x1b[2K"); ok {
			s.lines[s.row] = ""
			text = rest
			continue
		}
		line, rest, _ := strings.Cut(text, "\n")
		if strings.Contains(line, "\x1b") {
			s.t.Errorf("what is %q?", line)
		}
		if n := len([]rune(line)); strings.HasPrefix(line, "   ") && n >= max(s.w, 2) {
			s.t.Errorf("a live line of %d in a terminal of %d columns: %q", n, s.w, line)
		}
		s.lines[s.row] = line
		s.row++
		text = rest
	}
	return len(p), nil
}

func (s *screen) String() string {
	return strings.TrimRight(strings.Join(s.lines[:min(s.row, len(s.lines))], "\n"), "\n")
}

func TestLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{w: 40, t: t}
		d := report.Lines(s, report.Options{Live: true, Width: s.w})
		d.Send(event.BuildStarted{Pipeline: "p", Profile: "open"})
		d.Send(event.ActionsPlanned{Step: "exec.a", Actions: 2})
		d.Send(event.ActionStarted{ID: 1, Step: "exec.a", Name: "x", Description: "compile"})
		d.Send(event.ActionProgress{ID: 1, Done: 512, Total: 2048, Text: "a\rb\x1b[2J"})
		time.Sleep(1050 * time.Millisecond)
		synctest.Wait()
		want := "p  profile: open\n    1.0s   ━━────────  exec.a  compile…\n  0 of 2 actions, 1 s"
		if got := s.String(); got != want {
			t.Errorf("got:\n%s\nwant:\n%s", got, want)
		}
		d.Note("stopping\n")
		d.Send(event.ActionFinished{ID: 1, Step: "exec.a", Name: "x", Outcome: event.Executed, Seconds: 1})
		d.Send(event.ActionFinished{ID: 2, Step: "exec.a", Name: "y", Outcome: event.Executed})
		d.Close()
		want = "p  profile: open\nstopping\n  ok       exec.a                       2 actions, 1.0 s"
		if got := s.String(); got != want {
			t.Errorf("at the end:\n%s\nwant:\n%s", got, want)
		}
	})
}

func TestLiveInOddTerminals(t *testing.T) {
	for _, width := range []int{-5, 0, 1, 2, 3, 10, 80} {
		synctest.Test(t, func(t *testing.T) {
			s := &screen{w: width, t: t}
			if width <= 0 {
				s.w = 100
			}
			d := report.Lines(s, report.Options{Live: true, Width: width})
			for id := range 20 {
				d.Send(event.ActionStarted{ID: id, Step: "exec." + strings.Repeat("long", 100), Name: "名前の長い",
					Description: strings.Repeat("名", 200)})
				d.Send(event.ActionProgress{ID: id, Done: 1 << 62, Total: 1<<62 + 1})
			}
			time.Sleep(time.Second)
			synctest.Wait()
			if n := len(strings.Split(s.String(), "\n")); n > 8 {
				t.Errorf("width %d: %d live lines", width, n)
			}
			d.Close()
			if s.String() != "" {
				t.Errorf("width %d: left on the screen: %q", width, s)
			}
		})
	}
}

// closed is a pipe whose reader went away.
type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWriterThatFails(t *testing.T) {
	d := report.Lines(closed{}, report.Options{Live: true})
	j := report.JSON(closed{}, time.Now)
	for _, e := range story() {
		d.Send(e)
		j.Send(e)
	}
	d.Close()
}

// A run in which nothing ran takes milliseconds, and says so.
func TestShortRuns(t *testing.T) {
	for took, want := range map[float64]string{0: "in 1 ms:", 0.0126: "in 13 ms:", 0.2: "in 0.20 s:",
		13.507: "in 13.51 s:"} {
		if out := show(report.Options{},
			event.BuildFinished{Actions: 2, Cached: 2, Seconds: took}); !strings.Contains(out, want) {
			t.Errorf("%v s: %q has no %q", took, out, want)
		}
	}
}
