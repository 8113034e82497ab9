package runner

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"time"
)

// deviceLog takes what an emulated device prints, and while an action runs on it gives a copy to that. A nil deviceLog is that of a real
// device, which prints nothing here.
type deviceLog struct {
	next io.Writer // nil: nobody else listens

	mu  sync.Mutex
	now io.Writer
}

// Write never fails: a device must not stop since nobody reads its log.
func (l *deviceLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range []io.Writer{l.next, l.now} {
		if w != nil {
			_, _ = w.Write(p)
		}
	}
	return len(p), nil
}

// divert gives a copy of what comes from here on to w, or to nobody.
func (l *deviceLog) divert(w io.Writer) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = w
}

// withLog adds what the device printed to what the command did.
func withLog(stderr, log []byte) []byte {
	log = bytes.TrimSpace(log)
	if len(log) == 0 {
		return stderr
	}
	return slices.Concat(stderr, []byte("[device log]\n"), log, []byte("\n"))
}

// stopwatch ends something after a time that can be stopped meanwhile.
type stopwatch struct {
	timer *time.Timer
	left  time.Duration
	since time.Time
}

// newStopwatch calls end when the limit is over; without a limit never.
func newStopwatch(limit time.Duration, end func()) *stopwatch {
	if limit <= 0 {
		return &stopwatch{}
	}
	return &stopwatch{timer: time.AfterFunc(limit, end), left: limit, since: time.Now()}
}

func (s *stopwatch) pause() {
	if s.timer != nil && s.timer.Stop() {
		s.left -= time.Since(s.since)
	}
}

func (s *stopwatch) resume() {
	if s.timer != nil {
		s.since = time.Now()
		s.timer.Reset(max(s.left, 0))
	}
}
