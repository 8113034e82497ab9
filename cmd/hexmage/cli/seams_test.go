package cli

import (
	"bytes"
	"testing"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/event/eventtest"
	"github.com/hexmage/hexmage/internal/execute"
)

func TestSinks(t *testing.T) {
	for name, wrap := range map[string]func(t *testing.T, next event.Sink) event.Sink{
		"*cli.failureSink": func(_ *testing.T, next event.Sink) event.Sink { return &failureSink{next: next} },
		"*cli.diagnosing": func(t *testing.T, next event.Sink) event.Sink { // with what it puts around it
			return (&app{env: Env{Stderr: &bytes.Buffer{}}}).diagnosed(t.TempDir(), next)
		},
		"*cli.dedupFailures": func(_ *testing.T, next event.Sink) event.Sink { return &dedupFailures{next: next} },
		"*cli.verifying": func(_ *testing.T, next event.Sink) event.Sink {
			return (&verifying{verifier: execute.Verify(execute.VerifyOptions{})}).wrap(next)
		},
		"cli.sinks":     func(_ *testing.T, next event.Sink) event.Sink { return sinks{next} },
		"*cli.watching": func(_ *testing.T, next event.Sink) event.Sink { return &watching{Sink: next} },
	} {
		t.Run(name, func(t *testing.T) { eventtest.Decorator(t, name, wrap) })
	}
}
