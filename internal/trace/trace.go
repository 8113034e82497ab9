// Package trace writes a trace of a run for chrome://tracing and Perfetto. The trace shows the time of each phase and
// action.
//
// The file is in Chrome's Trace Event format: an array of spans in lanes. Lane 0 shows the phases of the run. Every
// other lane shows the actions of one worker. The format does not require the end of the array, so viewers can also
// read the trace of a killed run.
package trace

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/execute"
)

// Tracer writes the trace of a run. It is an event.Sink. Any goroutine may call the methods.
type Tracer struct {
	start time.Time

	mu    sync.Mutex
	file  *os.File
	lanes []time.Time // the end of each lane's last action
	spans map[digest.Digest]*work
	last  time.Time // the end of the last action
	ready time.Time // when the last output was in its place
	err   error
}

// work holds the spans of one action that was looked up or executed, until it has ended.
type work struct {
	command []string
	spans   []span
}

type span struct {
	name  string
	start time.Time
	took  time.Duration
}

func (s span) end() time.Time { return s.start.Add(s.took) }

const maxCommand = 2000 // bytes of a command that the trace has

// Create creates the trace file at path. Times in the file are relative to start. The caller must close the Tracer at
// the end of the run.
func Create(path string, start time.Time) (*Tracer, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	t := &Tracer{file: f, start: start, spans: map[digest.Digest]*work{}}
	t.write("[\n")
	t.entry(entry{Name: "process_name", Phase: "M", Args: map[string]any{"name": "hexmage"}}, "")
	t.entry(entry{Name: "thread_name", Phase: "M", Args: map[string]any{"name": "phases"}}, ",\n")
	return t, t.err
}

// entry is one line of the file.
type entry struct {
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	Phase    string         `json:"ph"`
	TS       float64        `json:"ts"` // microseconds since the start
	Dur      *float64       `json:"dur,omitempty"`
	PID      int            `json:"pid"`
	Lane     int            `json:"tid"`
	Args     map[string]any `json:"args,omitempty"`
}

func (t *Tracer) entry(e entry, separator string) {
	e.PID = 1
	b, err := json.Marshal(e)
	if err == nil {
		t.write(separator + string(b))
	}
}

// write appends text to the file, until that fails.
func (t *Tracer) write(text string) {
	if t.err != nil {
		return
	}
	if _, err := t.file.WriteString(text); err != nil {
		t.err = fmt.Errorf("trace: %w", err)
	}
}

func (t *Tracer) span(lane int, s span, category string, args map[string]any) {
	us := func(d time.Duration) float64 { return float64(max(0, d).Nanoseconds()) / 1000 }
	dur := us(s.took)
	at := us(s.start.Sub(t.start))
	t.entry(entry{Name: s.name, Category: category, Phase: "X", TS: at, Dur: &dur, Lane: lane, Args: args}, ",\n")
}

// Phase begins a phase of the run, such as "plan" or "build". Call the returned function at the end of the phase.
func (t *Tracer) Phase(name string) func() {
	start := time.Now()
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.span(0, span{name, start, time.Since(start)}, "phase", nil)
	}
}

// Flush returns a function that calls flush and records the duration of the call as the phase "flush".
func (t *Tracer) Flush(flush func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		defer t.Phase("flush")()
		return flush(ctx)
	}
}

// Send implements event.Sink.
func (t *Tracer) Send(e event.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e := e.(type) {
	case event.ActionFinished:
		t.finished(e)
	case event.OutputReady:
		t.ready = time.Now()
	case event.BuildFinished:
		// No event begins the phase between the last action and the last output.
		if !t.last.IsZero() && t.ready.After(t.last) {
			t.span(0, span{"export", t.last, t.ready.Sub(t.last)}, "phase", nil)
		}
	}
}

// finished writes the span of an action that ended, and the spans in it. It takes the lane that was idle for the
// shortest time. Actions arrive in the order of their ends, so there are at most as many lanes as workers.
func (t *Tracer) finished(e event.ActionFinished) {
	now := time.Now()
	w := t.spans[e.Action]
	if w == nil {
		if e.Outcome == event.NotRun || e.Seconds == 0 {
			return // it did not begin
		}
		w = &work{spans: []span{{string(e.Outcome), now.Add(-e.Duration()), e.Duration()}}}
	}
	delete(t.spans, e.Action)
	t.last = now
	whole := w.spans[0]
	for _, s := range w.spans {
		end := whole.end()
		if s.end().After(end) {
			end = s.end()
		}
		if s.start.Before(whole.start) {
			whole.start = s.start
		}
		whole.took = end.Sub(whole.start)
	}
	if whole.name = e.Step; e.Name != "" {
		whole.name += "[" + e.Name + "]"
	}
	args := map[string]any{"outcome": e.Outcome, "key": e.Key}
	if e.Failure != nil {
		args["failure"] = e.Failure.Summary
	}
	command := action.Quote(w.command)
	if len(command) > maxCommand {
		command = command[:maxCommand] + "…"
	}
	for name, text := range map[string]string{"description": e.Description, "worker": e.Worker, "command": command} {
		if text != "" {
			args[name] = text
		}
	}
	lane := t.lane(whole)
	t.span(lane, whole, "action", args)
	for _, s := range w.spans {
		t.span(lane, s, "part", nil)
	}
}

// lane returns the number of a lane that is idle during the span.
func (t *Tracer) lane(s span) int {
	lane := -1
	for i, idle := range t.lanes {
		if !idle.After(s.start) && (lane < 0 || idle.After(t.lanes[lane])) {
			lane = i
		}
	}
	if lane < 0 {
		lane = len(t.lanes)
		t.lanes = append(t.lanes, time.Time{})
		name := map[string]any{"name": fmt.Sprintf("worker %d", lane+1)}
		t.entry(entry{Name: "thread_name", Phase: "M", Lane: lane + 1, Args: name}, ",\n")
	}
	t.lanes[lane] = s.end()
	return lane + 1
}

// Close ends the trace and returns the first write error.
func (t *Tracer) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.write("\n]\n")
	if err := t.file.Close(); t.err == nil && err != nil {
		t.err = fmt.Errorf("trace: %w", err)
	}
	return t.err
}

// Executor returns an executor that passes requests to next and records the phases of each request.
func (t *Tracer) Executor(next execute.Executor) execute.Executor {
	return &traced{next: next, t: t}
}

type traced struct {
	next execute.Executor
	t    *Tracer
}

// Execute implements execute.Executor.
func (x *traced) Execute(ctx context.Context, a *execute.Request) (*action.Result, error) {
	name, start := "look up", time.Now()
	own := *a
	own.Spans = func(name string, start time.Time, took time.Duration) {
		if a.Spans != nil {
			a.Spans(name, start, took)
		}
		x.t.record(a.Action, span{name, start, took})
	}
	own.Start = func(r *execute.Request) error {
		if a.Start != nil {
			if err := a.Start(r); err != nil {
				return err
			}
		}
		x.t.record(a.Action, span{name, start, time.Since(start)})
		name, start = "execute", time.Now()
		return nil
	}
	r, err := x.next.Execute(ctx, &own)
	x.t.record(a.Action, span{name, start, time.Since(start)})
	return r, err
}

// record keeps a span of an action.
func (t *Tracer) record(a *action.Action, s span) {
	key := a.Key(a.InputRoot.Function())
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.spans[key]
	if w == nil {
		w = &work{command: a.Command.Args}
		t.spans[key] = w
	}
	w.spans = append(w.spans, s)
}
