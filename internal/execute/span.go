package execute

import (
	"context"
	"time"
)

// Spans is told what an executor spent its time with on one action. It may be called from several goroutines.
type Spans func(name string, start time.Time, took time.Duration)

type spansKey struct{}

// WithSpans returns a context under which executors tell s what they spend their time with.
func WithSpans(ctx context.Context, s Spans) context.Context {
	return context.WithValue(ctx, spansKey{}, s)
}

// Span begins something that takes time: "lay out inputs", "run", "capture outputs". What it returns is to be called at
// the end. Spans of an action are one after the other or one in the other. Where nobody listens it costs nothing.
func Span(ctx context.Context, name string) func() {
	s, ok := ctx.Value(spansKey{}).(Spans)
	if !ok {
		return func() {}
	}
	start := time.Now()
	return func() { s(name, start, time.Since(start)) }
}
