// Package trace writes down when a run did what, for chrome://tracing and Perfetto.
//
// The file is Chrome's Trace Event format: a JSON array of spans, in lanes. Lane 0 has the phases of the run, every
// other one what one worker did, one action after the other. Whenever something was written the file is valid JSON,
// so that what is there of a run that was stopped or killed can be looked at too. The package knows neither plans nor
// how actions run; that part of its time which a built-in tool or another machine spends inside is one span to it.
package trace

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/execute"
)

// Tracer writes a trace. It is an event.Sink; its methods may be called from any goroutine.
type Tracer struct {
	start time.Time

	mu      sync.Mutex
	file    *os.File
	at      int64 // where the next event goes: before the end of the array
	some    bool  // there is an event before
	pending []byte
	flushed time.Time
	lanes   []time.Time      // when each lane's last action ended
	works   map[string]*work // by the action's name
	last    time.Time        // end of the last action
	ready   time.Time        // when the last output was in its place
	err     error
}

// work is what is known of one action that was looked up or executed, until it has ended.
type work struct {
	action *action.Action
	spans  []span
}

type span struct {
	name  string
	start time.Time
	took  time.Duration
}

const (
	flushBytes = 64 << 10
	flushEvery = 500 * time.Millisecond
	tail       = "\n]\n"
	maxCommand = 2000 // bytes of a command that are kept
)

// Create makes the file, and begins the trace at start. Close it when the run has ended.
func Create(path string, start time.Time) (*Tracer, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	t := &Tracer{file: f, start: start, works: map[string]*work{}}
	t.pending = append(t.pending, "["...)
	t.entry(entry{Name: "process_name", Phase: "M", Args: map[string]any{"name": "hexmage"}})
	t.entry(entry{Name: "thread_name", Phase: "M", Args: map[string]any{"name": "phases"}})
	t.flush()
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

// entry appends a line. The caller holds mu, or is alone.
func (t *Tracer) entry(e entry) {
	e.PID = 1
	b, err := json.Marshal(e)
	if err != nil {
		return // it is plain data
	}
	if t.some {
		t.pending = append(t.pending, ',')
	}
	t.some = true
	t.pending = append(append(t.pending, '\n'), b...)
}

func (t *Tracer) span(lane int, s span, category string, args map[string]any) {
	us := func(d time.Duration) float64 { return float64(max(0, d).Nanoseconds()) / 1000 }
	dur := us(s.took)
	t.entry(entry{Name: s.name, Category: category, Phase: "X", TS: us(s.start.Sub(t.start)), Dur: &dur, Lane: lane, Args: args})
}

// flush writes what is pending over the end of the array, with a new end.
func (t *Tracer) flush() {
	t.flushed = time.Now()
	if t.err != nil || len(t.pending) == 0 {
		return
	}
	n := len(t.pending)
	if _, err := t.file.WriteAt(append(t.pending, tail...), t.at); err != nil {
		t.err = fmt.Errorf("trace: %w", err)
	}
	t.at += int64(n)
	t.pending = t.pending[:0]
}

// Phase begins a phase of the run: "plan", "build". What it returns is to be called at its end.
func (t *Tracer) Phase(name string) func() {
	start := time.Now()
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.span(0, span{name, start, time.Since(start)}, "phase", nil)
	}
}

// Flush writes down how long flush takes, which is what it calls.
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
		t.export()
		t.rest()
		t.flush()
	}
	if len(t.pending) > flushBytes || len(t.pending) > 0 && time.Since(t.flushed) > flushEvery {
		t.flush()
	}
}

// export is the phase between the last action and the last output: nobody says when it begins.
func (t *Tracer) export() {
	if !t.ready.IsZero() && !t.last.IsZero() && t.ready.After(t.last) {
		t.span(0, span{"export", t.last, t.ready.Sub(t.last)}, "phase", nil)
	}
}

// finished writes the span of an action that ended, with those in it.
func (t *Tracer) finished(e event.ActionFinished) {
	now := time.Now()
	name := nameOf(e.Step, e.Name)
	w := t.works[name]
	delete(t.works, name)
	if w == nil {
		if e.Outcome == event.Skipped || e.Duration == 0 {
			return // it never began
		}
		w = &work{spans: []span{{string(e.Outcome), now.Add(-e.Duration), e.Duration}}}
	}
	t.last = now
	args := map[string]any{"outcome": e.Outcome, "key": e.Key}
	if e.Description != "" {
		args["description"] = e.Description
	}
	if e.Worker != "" {
		args["worker"] = e.Worker
	}
	if e.Failure != nil {
		args["failure"] = e.Failure.Summary
	}
	t.write(name, w, args)
}

// write puts an action into the lane that was idle for the shortest time. Actions come in the order in which they
// end, so no more lanes are needed than workers.
func (t *Tracer) write(name string, w *work, args map[string]any) {
	if w.action != nil {
		command := action.Quote(w.action.Command.Args)
		if len(command) > maxCommand {
			command = command[:maxCommand] + "…"
		}
		args["command"] = command
	}
	start, end := w.spans[0].start, w.spans[0].start
	for _, s := range w.spans {
		if s.start.Before(start) {
			start = s.start
		}
		if e := s.start.Add(s.took); e.After(end) {
			end = e
		}
	}
	lane := -1
	for i, idle := range t.lanes {
		if !idle.After(start) && (lane < 0 || idle.After(t.lanes[lane])) {
			lane = i
		}
	}
	if lane < 0 {
		lane = len(t.lanes)
		t.lanes = append(t.lanes, end)
		t.entry(entry{Name: "thread_name", Phase: "M", Lane: lane + 1, Args: map[string]any{"name": fmt.Sprintf("worker %d", lane+1)}})
	}
	t.lanes[lane] = end
	t.span(lane+1, span{name, start, end.Sub(start)}, "action", args)
	for _, s := range w.spans {
		t.span(lane+1, s, "part", nil)
	}
}

// rest writes what was begun and of which no end was told.
func (t *Tracer) rest() {
	for name, w := range t.works {
		t.write(name, w, map[string]any{"key": w.action.Key(w.action.InputRoot.Function()).Hex()})
	}
	clear(t.works)
}

// Close ends the trace and returns what first went wrong with it.
func (t *Tracer) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rest()
	t.flush()
	if err := t.file.Close(); t.err == nil && err != nil {
		t.err = fmt.Errorf("trace: %w", err)
	}
	return t.err
}

// Executor returns next, with all that it does for actions written down.
func (t *Tracer) Executor(next execute.Executor) execute.Executor {
	return &traced{next: next, t: t}
}

type traced struct {
	next execute.Executor
	t    *Tracer
}

// Execute implements execute.Executor.
func (x *traced) Execute(ctx context.Context, a *execute.Request) (*action.Result, error) {
	var mu sync.Mutex
	var spans []span
	add := func(name string, start time.Time, took time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		spans = append(spans, span{name, start, took})
	}
	name, start := "look up", time.Now()
	own := *a
	own.Spans = func(name string, start time.Time, took time.Duration) {
		if a.Spans != nil {
			a.Spans(name, start, took)
		}
		add(name, start, took)
	}
	own.Start = func(r *execute.Request) error {
		if a.Start != nil {
			if err := a.Start(r); err != nil {
				return err
			}
		}
		add(name, start, time.Since(start))
		name, start = "execute", time.Now()
		return nil
	}
	r, err := x.next.Execute(ctx, &own)
	add(name, start, time.Since(start))
	x.t.record(a, spans)
	return r, err
}

// record keeps what was done for an action until the action has ended: it may be looked up and executed by two calls,
// and tried several times.
func (t *Tracer) record(a *execute.Request, spans []span) {
	name := nameOf(a.Step, a.Name)
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.works[name]
	if w == nil {
		w = &work{action: a.Action}
		t.works[name] = w
	}
	w.spans = append(w.spans, spans...)
}

func nameOf(step, action string) string {
	if action == "" {
		return step
	}
	return step + "[" + action + "]"
}
