package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/report"
)

// copies are the events of a step with n copies, each one action, whose outcome how tells.
func copies(n int, how func(i int) event.Outcome) []event.Event {
	es := []event.Event{event.BuildStarted{Pipeline: "p"}}
	for i := range n {
		es = append(es, event.ActionsPlanned{Step: fmt.Sprintf("exec.obj[%q]", fmt.Sprint(i)), Actions: 1})
	}
	for i := range n {
		e := event.ActionFinished{ID: i + 1, Step: fmt.Sprintf("exec.obj[%q]", fmt.Sprint(i)), Outcome: how(i),
			Seconds: 0.001}
		if e.Outcome == event.Failed {
			e.Failure = &event.Failure{Summary: "exit code 1"}
		}
		es = append(es, e)
	}
	return es
}

func TestManyCopies(t *testing.T) {
	end := event.BuildFinished{Actions: 1}
	always := func(o event.Outcome) func(int) event.Outcome { return func(int) event.Outcome { return o } }
	for name, c := range map[string]struct {
		o    report.Options
		es   []event.Event
		want []string // lines that begin with two spaces
	}{
		"all cached": {es: copies(10000, always(event.Cached)),
			want: []string{"  cached   exec.obj                     10,000 actions"}},
		"few": {es: copies(2, always(event.Cached)),
			want: []string{`  cached   exec.obj["0"]                `, `  cached   exec.obj["1"]                `}},
		"one executed": {es: copies(20, func(i int) event.Outcome {
			if i == 3 {
				return event.Executed
			}
			return event.Cached
		}), want: []string{`  ok       exec.obj["3"]                1 ms`,
			"  cached   exec.obj                     19 actions"}},
		"all but two executed": {es: copies(10, func(i int) event.Outcome {
			if i < 2 {
				return event.Cached
			}
			return event.Executed
		}), want: append(lines(2, 8, `  ok       exec.obj["%d"]                1 ms`),
			`  cached   exec.obj["0"]                `, `  cached   exec.obj["1"]                `)},
		"one failed": {es: copies(2000, func(i int) event.Outcome {
			switch {
			case i == 0:
				return event.Failed
			case i < 1000:
				return event.Cached
			}
			return event.NotRun
		}), want: []string{`  failed   exec.obj["0"]                1 ms`,
			"  cached   exec.obj                     999 actions",
			"  not run  exec.obj                     1,000 actions"}},
		"verbose": {o: report.Options{Verbose: true}, es: copies(9, always(event.Cached)),
			want: lines(0, 9, `  cached   exec.obj["%d"]                `)},
		"stopped early": {es: copies(100, always(event.Cached))[:150],
			want: []string{"  cached   exec.obj                     49 actions"}},
	} {
		got := []string{}
		for _, l := range strings.Split(show(c.o, append(c.es, end)...), "\n") {
			if strings.HasPrefix(l, "  ") {
				got = append(got, l)
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func lines(from, n int, format string) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf(format, from+i))
	}
	return out
}

// writes counts and keeps what is written.
type writes struct {
	mu sync.Mutex
	n  int
	b  bytes.Buffer
}

func (w *writes) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n++
	return w.b.Write(p)
}

func (w *writes) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// Thousands of lines at once are a few writes; a line that comes alone is there soon.
func TestWritesAreFew(t *testing.T) {
	executed := copies(5000, func(int) event.Outcome { return event.Executed })
	synctest.Test(t, func(t *testing.T) {
		var w, j writes
		d, s := report.Lines(&w, report.Options{}), report.JSON(&j, time.Now)
		for _, e := range executed {
			d.Send(e)
			s.Send(e)
		}
		time.Sleep(60 * time.Millisecond)
		synctest.Wait()
		if n := strings.Count(w.String(), "\n"); n != 5001 {
			t.Errorf("after a moment %d lines are there, want 5001", n)
		}
		if n := strings.Count(j.String(), "\n"); n != len(executed) {
			t.Errorf("after a moment %d JSON lines are there, want %d", n, len(executed))
		}
		if w.n > 20 || j.n > 80 {
			t.Errorf("%d and %d writes of %d lines", w.n, j.n, len(executed))
		}
		before := w.n
		d.Send(event.ActionFinished{Step: "exec.x", Failure: &event.Failure{Summary: "s"}})
		time.Sleep(60 * time.Millisecond)
		synctest.Wait()
		if w.n != before+1 {
			t.Errorf("a failure took %d writes: %q", w.n-before, w.String())
		}
		d.Close()
		time.Sleep(time.Second) // timers end
	})
}

func TestTimeLeft(t *testing.T) {
	for left, want := range map[time.Duration]string{
		0: "1 s", 12400 * time.Millisecond: "12 s", 58 * time.Second: "60 s", 10 * time.Minute: "10 min",
		3 * time.Hour: "3.0 h",
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &screen{w: 60, t: t}
			d := report.Lines(s, report.Options{Live: true, Width: s.w,
				Left: func() (time.Duration, bool) { return left, true }})
			d.Send(event.ActionsPlanned{Step: "exec.a", Actions: 1041})
			d.Send(event.ActionStarted{ID: 1, Step: "exec.a"})
			time.Sleep(time.Second)
			synctest.Wait()
			if want := "  0 of 1,041 actions, 1 s · about " + want + " left"; !strings.HasSuffix(s.String(), want) {
				t.Errorf("%v: got %q, want %q at the end", left, s, want)
			}
			d.Close()
		})
	}
}

// Where there are no live lines, a silence is broken by a line that says what runs; a build that talks has none.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b writes
		d := report.Lines(&b, report.Options{})
		d.Send(event.ActionsPlanned{Step: "exec.a", Actions: 40})
		for id := range 3 {
			d.Send(event.ActionStarted{ID: id + 1, Step: fmt.Sprintf("exec.%c", 'a'+id)})
		}
		d.Send(event.ActionProgress{ID: 1, Done: 512, Total: 2048, Text: "part\x1b[2J"})
		time.Sleep(29 * time.Second)
		synctest.Wait()
		if b.String() != "" {
			t.Errorf("after 29 s: %q", b.String())
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		want := "  … after 30 s 0 of 40 actions; running: exec.a  25%  512 B of 2.0 KiB  part·[2J, 30 s; exec.b, 30 " +
			"s; 1 more\n"
		if b.String() != want {
			t.Errorf("got  %qwant %q", b.String(), want)
		}
		for i := range 6 {
			d.Send(event.ActionsPlanned{Step: fmt.Sprintf("exec.x%d", i), Actions: 1})
			d.Send(event.ActionFinished{ID: 10 + i, Step: fmt.Sprintf("exec.x%d", i), Outcome: event.Executed})
			time.Sleep(20 * time.Second)
		}
		synctest.Wait()
		if said := strings.TrimPrefix(b.String(), want); strings.Contains(said, "after") ||
			strings.Count(said, "ok ") != 6 {
			t.Errorf("a build that talks has said: %s", said)
		}
		d.Close()
	})
}
