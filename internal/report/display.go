package report

import (
	"io"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/event"
)

// Display shows a build to people. It is an event.Sink; its other methods may be called from any goroutine.
type Display struct {
	mu    sync.Mutex
	w     io.Writer
	lines *lines
	area  *area // nil: no live lines
	now   func() time.Time
	stop  chan struct{}
	done  chan struct{}
}

// redraw is how often live lines are brought up to date when nothing happens.
const redraw = 100 * time.Millisecond

// Lines returns a display that prints to w what the events add. Close it when no more events come.
func Lines(w io.Writer, o Options) *Display {
	d := &Display{w: w, lines: &lines{o: o, steps: newSteps()}, now: time.Now, stop: make(chan struct{}), done: make(chan struct{})}
	if !o.Live {
		close(d.done)
		return d
	}
	if o.Width <= 0 {
		o.Width = 100
	}
	d.area = &area{width: o.Width, start: d.now()}
	go d.tick()
	return d
}

func (d *Display) tick() {
	defer close(d.done)
	t := time.NewTicker(redraw)
	defer t.Stop()
	for {
		select {
		case <-d.stop:
			return
		case <-t.C:
			d.mu.Lock()
			d.print("")
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
	d.print(text)
}

// Close removes the live lines and returns when nothing is printed any more.
func (d *Display) Close() {
	close(d.stop)
	<-d.done
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.area != nil {
		d.write(d.area.erase())
		d.area = nil
	}
}

// print writes text, above a fresh live area if there is one, in one write so that nothing flickers.
func (d *Display) print(text string) {
	if d.area != nil {
		text = d.area.erase() + text + d.area.draw(d.lines.steps, d.now())
	}
	d.write(text)
}

// write writes text. What the writer says is not looked at: a closed pipe must not end a build.
func (d *Display) write(text string) {
	if text != "" {
		_, _ = io.WriteString(d.w, text)
	}
}
