package report

import (
	"fmt"
	"io"
	"sort"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/hexmage/hexmage/internal/event"
)

// live keeps a few lines at the bottom of a terminal up to date: what runs now, how far it is. Finished steps scroll
// away above them. It redraws on events and ten times a second.
type live struct {
	mu    sync.Mutex
	l     *lines
	drawn int // lines of the live area now on the screen
	start time.Time
	stop  chan struct{}
	done  chan struct{}
}

// maxLive is how many running actions are shown; more than a few would hide the finished ones.
const maxLive = 6

func newLive(l *lines) *live {
	v := &live{l: l, start: time.Now(), stop: make(chan struct{}), done: make(chan struct{})}
	go v.tick()
	return v
}

func (v *live) tick() {
	defer close(v.done)
	t := time.NewTicker(100 * time.Millisecond)
	defer t.Stop()
	for {
		select {
		case <-v.stop:
			return
		case <-t.C:
			v.mu.Lock()
			v.draw("")
			v.mu.Unlock()
		}
	}
}

// Send prints what the event adds above the live area.
func (v *live) Send(e event.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if text := v.l.text(e, time.Now()); text != "" {
		v.draw(text)
	}
}

func (v *live) close() {
	close(v.stop)
	<-v.done
	v.mu.Lock()
	defer v.mu.Unlock()
	io.WriteString(v.l.w, v.erase())
}

func (v *live) erase() string {
	s := strings.Repeat("\x1b[1A\x1b[2K", v.drawn)
	v.drawn = 0
	return s
}

// draw writes text above a fresh live area, in one write so that nothing flickers.
func (v *live) draw(text string) {
	var b strings.Builder
	b.WriteString(v.erase())
	b.WriteString(text)
	rows := v.rows()
	for _, r := range rows {
		b.WriteString(r + "\n")
	}
	v.drawn = len(rows)
	io.WriteString(v.l.w, b.String())
}

func (v *live) rows() []string {
	s := v.l.steps
	if len(s.running) == 0 {
		return nil
	}
	ids := make([]int, 0, len(s.running))
	for id := range s.running {
		ids = append(ids, id)
	}
	sort.Ints(ids)
	now := time.Now()
	var rows []string
	for i, id := range ids {
		if i == maxLive {
			rows = append(rows, fmt.Sprintf("  … and %d more", len(ids)-maxLive))
			break
		}
		a := s.running[id]
		text := a.step
		if a.text != "" {
			text += "  " + a.text
		}
		if a.total > 0 {
			text += fmt.Sprintf("  %d%%  %s of %s", 100*a.done/a.total, size(a.done), size(a.total))
		}
		if a.progress != "" {
			text += "  " + a.progress
		}
		rows = append(rows, cut(fmt.Sprintf("  %5.1fs   %s", now.Sub(a.start).Seconds(), text), v.l.o.Width))
	}
	return append(rows, cut(fmt.Sprintf("  %d of %s, %.0f s", s.ended, plural(s.total, "action"), now.Sub(v.start).Seconds()), v.l.o.Width))
}

func cut(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	r := []rune(s)
	return string(r[:width-1]) + "…"
}

func size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}
