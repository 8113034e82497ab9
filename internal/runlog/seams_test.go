package runlog_test

import (
	"testing"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/event/eventtest"
	"github.com/hexmage/hexmage/internal/runlog"
)

func TestSinks(t *testing.T) {
	eventtest.Sink(t, "*runlog.Recorder", func(t *testing.T) event.Sink {
		return runlog.Record(t.TempDir(), runlog.Info{Pipeline: "p"})
	})
	eventtest.Decorator(t, "*runlog.Estimator", func(t *testing.T, next event.Sink) event.Sink {
		dir := t.TempDir()
		return runlog.Estimate(next, 2, runlog.Open(dir).Costs)
	})
}
