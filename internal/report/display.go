package report

import (
	"io"
	"strings"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/event"
)

// Display shows a build to people. It is an event.Sink; its other methods may be called from any goroutine.
type Display struct {
	mu      sync.Mutex
	w       io.Writer
	lines   *lines
	area    *area // nil: no live lines
	start   time.Time
	now     func() time.Time
	pending strings.Builder // to be written
	last    time.Time       // of the last write
	timer   *time.Timer     // writes what is pending; nil: nobody has to
	closed  bool
	stop    chan struct{}
	done    chan struct{}
}

const (
	redraw = 100 * time.Millisecond // how often live lines are brought up to date when nothing happens
	// after so long without a line, one says what still runs: a pipe or a CI's page has no live lines
	silence = 30 * time.Second
	linger  = 50 * time.Millisecond // how long a line may wait for others, to be written with them
	maxWait = 32 << 10              // bytes that may wait
)

// Lines returns a display that prints to w what the events add. Close it when no more events come.
func Lines(w io.Writer, o Options) *Display {
	d := &Display{w: w, lines: &lines{o: o, steps: newSteps()}, now: time.Now, stop: make(chan struct{}),
		done: make(chan struct{})}
	d.start = d.now()
	if !o.Live {
		go d.tick(silence)
		return d
	}
	if o.Width <= 0 {
		o.Width = 100
	}
	d.area = &area{width: o.Width, start: d.now(), left: o.Left}
	go d.tick(redraw)
	return d
}

func (d *Display) tick(every time.Duration) {
	defer close(d.done)
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-d.stop:
			return
		case <-t.C:
			d.mu.Lock()
			if now := d.now(); d.lines.o.Live {
				d.flush()
			} else if now.Sub(d.last) >= silence { // also where nothing was written yet
				d.print(beat(d.lines.steps, d.start, now))
			}
			d.mu.Unlock()
		}
	}
}

// Send implements event.Sink.
func (d *Display) Send(e event.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if text := d.lines.text(e, d.now()); text != "" {
		d.print(text)
	}
}

// Note prints text, which ends with a line end, between the lines of the build.
func (d *Display) Note(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pending.WriteString(ansi.Visible(text, d.lines.o.Colour))
	d.flush()
}

// Close removes the live lines and returns when all is written.
func (d *Display) Close() {
	close(d.stop)
	<-d.done
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	text := d.pending.String()
	d.pending.Reset()
	if d.area != nil {
		text = d.area.erase() + text
		d.area = nil
	}
	d.write(text)
}

// print has text written, at once if nothing was for a while, else together with what comes soon.
func (d *Display) print(text string) {
	d.pending.WriteString(ansi.Visible(text, d.lines.o.Colour))
	if wait := linger - d.now().Sub(d.last); wait <= 0 || d.pending.Len() > maxWait {
		d.flush()
	} else if d.timer == nil && d.area == nil { // live lines are redrawn soon anyway
		d.timer = time.AfterFunc(wait, func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.timer = nil
			if !d.closed {
				d.flush()
			}
		})
	}
}

// flush writes what is pending, above a fresh live area if there is one, in one write so that nothing flickers.
func (d *Display) flush() {
	text := d.pending.String()
	d.pending.Reset()
	d.last = d.now()
	if d.area != nil {
		text = d.area.erase() + text + d.area.draw(d.lines.steps, d.last)
	}
	d.write(text)
}

// write writes text. What the writer says is not looked at: a closed pipe must not end a build.
func (d *Display) write(text string) {
	if text != "" {
		_, _ = io.WriteString(d.w, text)
	}
}
