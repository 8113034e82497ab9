package report

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/event"
)

// JSON returns a sink that writes one JSON object a line (NDJSON). Each begins with "event", the event's name in
// snake_case; the last line of a build is "build_finished". Lines that come close together are written together, a
// moment later; after "build_finished" and "watch_started" nothing waits.
func JSON(w io.Writer) event.Sink { return &jsonSink{w: w} }

type jsonSink struct {
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
	j.pending.WriteString(`{"event":"` + e.EventName() + `"`)
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
	case event.BuildFinished, event.WatchStarted:
		return true
	}
	return false
}
