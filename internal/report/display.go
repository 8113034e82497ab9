package report

import (
	"io"
	"strings"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/event"
)

// Display prints a build for users. It is an event.Sink. Any goroutine may call the methods other than Send.
type Display struct {
	mu      sync.Mutex
	w       io.Writer
	lines   *lines
	area    *area // nil without live lines
	start   time.Time
	pending strings.Builder // text to write
	last    time.Time       // time of the last write
	timer   *time.Timer     // writes the pending text; may be nil
	stop    chan struct{}
	done    chan struct{}
}

const (
	redraw = 100 * time.Millisecond // refresh interval of live lines
	// time without output after which a line names the running actions; pipes and CI pages have no live lines
	silence = 30 * time.Second
	linger  = 50 * time.Millisecond // how long a line may wait for others, to be written with them
	maxWait = 32 << 10              // maximum number of pending bytes
)

// Lines returns a display that prints events to w. Close the display after the last event.
func Lines(w io.Writer, o Options) *Display {
	d := &Display{w: w, lines: &lines{o: o, steps: newSteps()}, start: time.Now(), stop: make(chan struct{}),
		done: make(chan struct{})}
	if !o.Live {
		go d.tick(silence)
		return d
	}
	if o.Width <= 0 {
		o.Width = 100
	}
	d.area = &area{width: o.Width, start: d.start, left: o.Left}
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
			if now := time.Now(); d.lines.o.Live {
				d.flush()
			} else if now.Sub(d.last) >= silence { // also before the first write
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
	if text := d.lines.text(e, time.Now()); text != "" {
		d.print(text)
	}
}

// Note prints the text between two lines of the build. The text must end with a newline.
func (d *Display) Note(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pending.WriteString(ansi.Visible(text, d.lines.o.Color))
	d.flush()
}

// Close removes the live lines from the terminal. It returns after the last write.
func (d *Display) Close() {
	close(d.stop)
	<-d.done
	d.mu.Lock()
	defer d.mu.Unlock()
	text := d.pending.String()
	d.pending.Reset()
	if d.area != nil {
		text = d.area.erase() + text
		d.area = nil
	}
	d.write(text)
}

// print writes text at once if nothing was written for a while, or else together with the text that follows soon.
func (d *Display) print(text string) {
	d.pending.WriteString(ansi.Visible(text, d.lines.o.Color))
	if wait := linger - time.Since(d.last); wait <= 0 || d.pending.Len() > maxWait {
		d.flush()
	} else if d.timer == nil && d.area == nil { // the next refresh of the live lines writes it
		d.timer = time.AfterFunc(wait, func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.timer = nil
			d.flush()
		})
	}
}

// flush writes the pending text and the live lines below it, in one write to avoid flicker.
func (d *Display) flush() {
	text := d.pending.String()
	d.pending.Reset()
	d.last = time.Now()
	if d.area != nil {
		text = d.area.erase() + text + d.area.draw(d.lines.steps, d.last)
	}
	d.write(text)
}

// write writes text. It ignores errors, because a closed pipe must not end a build.
func (d *Display) write(text string) {
	if text != "" {
		_, _ = io.WriteString(d.w, text)
	}
}
