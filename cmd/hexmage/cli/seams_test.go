package cli

import (
	"bytes"
	"testing"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/event/eventtest"
	"github.com/hexmage/hexmage/internal/execute/verify"
)

func TestSinks(t *testing.T) {
	for name, wrap := range map[string]func(t *testing.T, next event.Sink) event.Sink{
		"cli.sinks":        func(_ *testing.T, next event.Sink) event.Sink { return sinks{next} },
		"*cli.watching":    func(_ *testing.T, next event.Sink) event.Sink { return &watching{Sink: next} },
		"*cli.failureSink": func(_ *testing.T, next event.Sink) event.Sink { return &failureSink{next: next} },
		"*cli.diagnosing": func(t *testing.T, next event.Sink) event.Sink { // with what it puts around it
			return (&app{Env: Env{Stderr: &bytes.Buffer{}}, WorkDir: t.TempDir()}).diagnosed(next)
		},
		"*cli.verifying": func(_ *testing.T, next event.Sink) event.Sink {
			return (&verifying{verifier: verify.New(verify.Options{})}).wrap(next)
		},
	} {
		t.Run(name, func(t *testing.T) { eventtest.Decorator(t, name, wrap) })
	}
}
