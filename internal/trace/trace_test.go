package trace_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/event/eventtest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/trace"
)

// line is an entry of a trace file.
type line struct {
	Name string         `json:"name"`
	Cat  string         `json:"cat"`
	Ph   string         `json:"ph"`
	TS   float64        `json:"ts"`
	Dur  float64        `json:"dur"`
	PID  int            `json:"pid"`
	TID  int            `json:"tid"`
	Args map[string]any `json:"args"`
}

func load(t *testing.T, path string) []line {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasSuffix(b, []byte("]\n")) { // the run has not ended
		b = append(b, ']')
	}
	var lines []line
	if err := json.Unmarshal(b, &lines); err != nil {
		t.Fatalf("%d bytes: %v", len(b), err)
	}
	return lines
}

// check looks at what must hold for every trace: actions of a lane do not overlap, parts are inside an action, there
// are no more lanes than workers. It returns the actions.
func check(t *testing.T, lines []line, workers int) []line {
	t.Helper()
	const slack = 0.002 // microseconds, of rounding
	var actions []line
	lanes := map[int]bool{}
	for i, l := range lines {
		if l.Ph != "X" {
			continue
		}
		if l.TS < 0 || l.Dur < 0 || l.PID != 1 {
			t.Errorf("%+v", l)
		}
		switch l.Cat {
		case "action":
			if l.TID < 1 || l.TID > workers {
				t.Errorf("%d workers, and %s is in lane %d", workers, l.Name, l.TID)
			}
			lanes[l.TID] = true
			for _, o := range actions {
				if o.TID == l.TID && o.TS < l.TS+l.Dur-slack && l.TS < o.TS+o.Dur-slack {
					t.Errorf("lane %d: %s [%f + %f] and %s [%f + %f] overlap", l.TID, o.Name, o.TS, o.Dur, l.Name,
						l.TS, l.Dur)
				}
			}
			actions = append(actions, l)
		case "part":
			in := actions[len(actions)-1] // the file has parts after their action
			if l.TID != in.TID || l.TS < in.TS-slack || l.TS+l.Dur > in.TS+in.Dur+slack {
				t.Errorf("line %d: %s [%f + %f] is not in %s [%f + %f]", i, l.Name, l.TS, l.Dur, in.Name, in.TS, in.Dur)
			}
		case "phase":
			if l.TID != 0 {
				t.Errorf("phase %s is in lane %d", l.Name, l.TID)
			}
		default:
			t.Errorf("what is %+v", l)
		}
	}
	for lane := range lanes {
		named := false
		for _, l := range lines {
			named = named || l.Ph == "M" && l.Name == "thread_name" && l.TID == lane
		}
		if !named {
			t.Errorf("lane %d has no name", lane)
		}
	}
	return actions
}

// sleeper executes an action by sleeping for as long as its first argument says.
type sleeper struct{}

func (sleeper) Execute(_ context.Context, a *execute.Request) (*action.Result, error) {
	time.Sleep(100 * time.Microsecond)
	if a.Command.Args[0] == "cached" {
		return &action.Result{Cached: true}, nil
	}
	if err := a.Begin(); err != nil {
		return nil, err
	}
	end := a.Span("run")
	defer end()
	d, err := time.ParseDuration(a.Command.Args[0])
	if err != nil {
		return nil, errors.New("no such program")
	}
	defer a.Span("sleep")()
	time.Sleep(d)
	return &action.Result{}, nil
}

func act(args ...string) *action.Action {
	return &action.Action{Command: action.Command{Args: args}, InputRoot: digest.BLAKE3.Bytes(nil)}
}

func TestTrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.json")
	tr, err := trace.Create(path, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	plan := tr.Phase("plan")
	time.Sleep(time.Millisecond)
	plan()
	build := tr.Phase("build")
	x := tr.Executor(sleeper{})
	const workers = 3
	events := make(chan event.ActionFinished)
	work := make(chan int)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range work {
				a := act(fmt.Sprint(time.Duration(i%5)*time.Millisecond), fmt.Sprint(i))
				if i%4 == 3 {
					a.Command.Args[0] = "cached"
				}
				if i == 30 {
					a.Command.Args[0] = "bad"
				}
				e := event.ActionFinished{ID: i, Step: "exec.s", Name: fmt.Sprint(i), Action: a.Key(digest.BLAKE3),
					Key: "k", Outcome: event.Executed, Worker: "local"}
				r, err := x.Execute(t.Context(), &execute.Request{Action: a})
				switch {
				case err != nil:
					e.Outcome, e.Failure = event.Failed, &event.Failure{Summary: err.Error()}
				case r.Cached:
					e.Outcome = event.Cached
				}
				events <- e
			}
		})
	}
	go func() {
		for i := range 60 {
			work <- i
		}
		close(work)
		wg.Wait()
		close(events)
	}()
	for e := range events {
		tr.Send(e)
	}
	tr.Send(event.ActionFinished{Step: "exec.never", Outcome: event.NotRun})
	tr.Send(event.OutputReady{Name: "o"})
	if err := tr.Flush(func(context.Context) error { return errors.New("full") })(t.Context()); err == nil {
		t.Error("the error of a flush is lost")
	}
	tr.Send(event.BuildFinished{})
	build()
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
	lines := load(t, path)
	actions := check(t, lines, workers)
	if len(actions) != 60 {
		t.Errorf("%d actions", len(actions))
	}
	count := map[string]int{}
	for _, l := range lines {
		count[l.Cat+" "+l.Name]++
	}
	for name, want := range map[string]int{"phase plan": 1, "phase build": 1, "phase flush": 1, "phase export": 1,
		"part look up": 60, "part execute": 45, "part run": 45, "part sleep": 44,
		"action exec.s[7]": 1, "action exec.never": 0} {
		if count[name] != want {
			t.Errorf("%d of %s, want %d", count[name], name, want)
		}
	}
	for _, a := range actions {
		if a.Args["command"] == nil || a.Args["key"] != "k" || a.Args["outcome"] == nil {
			t.Errorf("%+v", a)
		}
		if a.Name == "exec.s[30]" && (a.Args["failure"] != "no such program" || a.Args["outcome"] != "failed") {
			t.Errorf("%+v", a)
		}
	}
}

// A killed run leaves a trace of the actions that had ended.
func TestStopped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.json")
	tr, err := trace.Create(path, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	x := tr.Executor(sleeper{})
	long := strings.Repeat("x", 1000)
	for i := range 300 {
		a := act("0s", long, fmt.Sprint(i))
		if _, err := x.Execute(t.Context(), &execute.Request{Action: a}); err != nil {
			t.Fatal(err)
		}
		tr.Send(event.ActionFinished{Step: "exec.s", Name: fmt.Sprint(i), Action: a.Key(digest.BLAKE3),
			Outcome: event.Executed})
		if i%100 == 50 {
			check(t, load(t, path), 1)
		}
	}
	if n := len(check(t, load(t, path), 1)); n != 300 {
		t.Errorf("%d of 300 actions are written", n)
	}
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
}

// An action that no executor of the trace ran, but that took time, has a span too.
func TestWithoutSpans(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.json")
	tr, err := trace.Create(path, time.Now().Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	tr.Send(event.ActionFinished{Step: "exec.s", Outcome: event.Executed, Seconds: 1})
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
	if all := check(t, load(t, path), 1); len(all) != 1 || all[0].Dur != 1e6 {
		t.Errorf("%+v", all)
	}
}

func TestCannotBeWritten(t *testing.T) {
	if _, err := trace.Create(filepath.Join(t.TempDir(), "no", "t.json"), time.Now()); err == nil {
		t.Error("a trace in a folder that is not there")
	}
}

func TestSink(t *testing.T) {
	eventtest.Sink(t, "*trace.Tracer", func(t *testing.T) event.Sink {
		tr, err := trace.Create(filepath.Join(t.TempDir(), "t.json"), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := tr.Close(); err != nil {
				t.Error(err)
			}
		})
		return tr
	})
}
