package report_test

import (
	"io"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/event/eventtest"
	"github.com/hexmage/hexmage/internal/report"
)

func TestSinks(t *testing.T) {
	for _, o := range []report.Options{{}, {Live: true, Color: true, Verbose: true, Width: 80}} {
		eventtest.Sink(t, "*report.Display", func(t *testing.T) event.Sink {
			d := report.Lines(io.Discard, o)
			t.Cleanup(d.Close)
			return d
		})
		eventtest.Sink(t, "*report.Brief", func(*testing.T) event.Sink { return report.NewBrief(io.Discard, o) })
	}
	eventtest.Sink(t, "*report.github", func(*testing.T) event.Sink {
		return report.GitHub(io.Discard, func(file string) string { return file })
	})
	eventtest.Sink(t, "*report.jsonSink", func(*testing.T) event.Sink { return report.JSON(io.Discard, time.Now) })
}
