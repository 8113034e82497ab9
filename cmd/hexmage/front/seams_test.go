package front

import (
	"testing"

	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/event/eventtest"
)

func TestSinks(t *testing.T) {
	for name, wrap := range map[string]func(t *testing.T, next event.Sink) event.Sink{
		"front.Sinks":     func(_ *testing.T, next event.Sink) event.Sink { return Sinks{next} },
		"*front.Watching": func(_ *testing.T, next event.Sink) event.Sink { return &Watching{Sink: next} },
	} {
		t.Run(name, func(t *testing.T) { eventtest.Decorator(t, name, wrap) })
	}
}
