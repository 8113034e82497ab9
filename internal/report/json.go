package report

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/hexmage/hexmage/internal/event"
)

// JSON returns a sink that writes one JSON object a line (NDJSON). Each begins with "event", the event's name in
// snake_case; the last line of a build is "build_finished".
func JSON(w io.Writer) event.Sink { return jsonSink{w} }

type jsonSink struct{ w io.Writer }

// Send writes the event's line. What the writer says is not looked at: a closed pipe must not end a build.
func (j jsonSink) Send(e event.Event) {
	name := eventName(e)
	if name == "" {
		return
	}
	b, err := json.Marshal(e)
	if err != nil {
		return // events are plain data: Marshal cannot fail on them
	}
	var line bytes.Buffer
	line.WriteString(`{"event":"` + name + `"`)
	if len(b) > 2 { // more than {}
		line.WriteByte(',')
	}
	line.Write(b[1:])
	line.WriteByte('\n')
	_, _ = j.w.Write(line.Bytes())
}

func eventName(e event.Event) string {
	switch e.(type) {
	case event.BuildStarted:
		return "build_started"
	case event.NodePlanned:
		return "node_planned"
	case event.NodeStarted:
		return "node_started"
	case event.NodeProgress:
		return "node_progress"
	case event.NodeFinished:
		return "node_finished"
	case event.OutputReady:
		return "output_ready"
	case event.BuildFinished:
		return "build_finished"
	}
	return ""
}
