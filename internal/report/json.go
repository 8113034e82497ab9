package report

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/event"
)

// Format is what every line of JSON says it is; its number changes when what a line means does, not when lines or
// fields are added.
const Format = "hexmage-events/1"

// JSON returns a sink that writes one JSON object a line (NDJSON). Each begins with "event", the event's name in
// snake_case, "format", and "time", in UTC; the last line of a build is "build_finished". docs/events.schema.json has
// all of them. Lines that come close together are written together, a moment later; after the last line of something
// nothing waits.
func JSON(w io.Writer, now func() time.Time) event.Sink { return &jsonSink{w: w, now: now} }

type jsonSink struct {
	now     func() time.Time
	mu      sync.Mutex
	w       io.Writer
	pending bytes.Buffer
	timer   *time.Timer // writes what is pending; nil: nobody has to
}

// Send has the event's line written.
func (j *jsonSink) Send(e event.Event) {
	b, err := json.Marshal(e)
	if err != nil {
		return // events are plain data: Marshal cannot fail on them
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.pending.WriteString(`{"event":"` + e.EventName() + `","format":"` + Format + `","time":"` +
		j.now().UTC().Format("2006-01-02T15:04:05.000Z") + `"`)
	if len(b) > 2 { // more than {}
		j.pending.WriteByte(',')
	}
	j.pending.Write(b[1:])
	j.pending.WriteByte('\n')
	if ends(e) || j.pending.Len() > maxWait {
		j.flush()
	} else if j.timer == nil {
		j.timer = time.AfterFunc(linger, func() {
			j.mu.Lock()
			defer j.mu.Unlock()
			j.timer = nil
			j.flush()
		})
	}
}

// flush writes what is pending. What the writer says is not looked at: a closed pipe must not end a build.
func (j *jsonSink) flush() {
	if j.pending.Len() > 0 {
		_, _ = j.w.Write(j.pending.Bytes())
		j.pending.Reset()
	}
}

// ends tells whether nothing may come for a while after the event.
func ends(e event.Event) bool {
	switch e.(type) {
	case event.BuildFinished, event.WatchStarted, event.Diagnostic, event.Error:
		return true
	}
	return false
}
