package report

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/event"
)

// Format is the value of the field "format" in every JSON line. The number in Format changes when the meaning of a line
// changes. It does not change for new lines or new fields.
const Format = "hexmage-events/1"

// JSON returns a sink that writes one JSON object per line (NDJSON). Each object begins with "event" (the event's name
// in snake_case), "format", and "time" in UTC. The last line of a build is "build_finished". docs/events.schema.json
// describes all lines.
//
// The sink collects lines for a moment and writes them together. When events pause, it writes the last line at once.
func JSON(w io.Writer, now func() time.Time) event.Sink { return &jsonSink{w: w, now: now} }

type jsonSink struct {
	now     func() time.Time
	mu      sync.Mutex
	w       io.Writer
	pending bytes.Buffer
	timer   *time.Timer // writes the pending lines; may be nil
}

// Send queues the event's line.
func (j *jsonSink) Send(e event.Event) {
	b, err := json.Marshal(e)
	if err != nil {
		return // events are plain data, so Marshal cannot fail
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.pending.WriteString(`{"event":"` + e.EventName() + `","format":"` + Format + `","time":"` +
		j.now().UTC().Format("2006-01-02T15:04:05.000Z") + `"`)
	if len(b) > 2 { // longer than {}
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

// flush writes the pending lines. It ignores errors, because a closed pipe must not end a build.
func (j *jsonSink) flush() {
	if j.pending.Len() > 0 {
		_, _ = j.w.Write(j.pending.Bytes())
		j.pending.Reset()
	}
}

// ends reports whether a pause may follow the event.
func ends(e event.Event) bool {
	switch e.(type) {
	case event.BuildFinished, event.WatchStarted, event.Diagnostic, event.Error:
		return true
	}
	return false
}
