package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/toolchains/sources"
)

// progressLine shows the progress of a command other than a build: an updated line on a terminal, else a line now and
// then, or nothing.
type progressLine struct {
	w        io.Writer
	terminal bool
	width    int
	every    time.Duration // 0: never

	mu    sync.Mutex
	meter sources.Meter
	last  time.Time
	drawn bool
}

// Update intervals.
const (
	progressDrawn = 200 * time.Millisecond
	progressLines = 15 * time.Second
)

func (a *app) progressLine(terminal bool, elsewhere time.Duration) *progressLine {
	p := &progressLine{w: a.Env.screen(), terminal: terminal, width: a.Env.Width, every: elsewhere, last: time.Now()}
	if terminal {
		p.every = progressDrawn
	}
	return p
}

// download is a Progress of sources.Options.
func (p *progressLine) download(done, total int64, what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	text := p.meter.Text(now, done, total, what)
	p.show(now, func() string { return text })
}

// bytes returns a function that shows the progress of a task. A total of 0 is unknown.
func (p *progressLine) bytes(what string) func(done, total int64) {
	return func(done, total int64) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.show(time.Now(), func() string {
			text := what + bytesize.Decimal(done)
			if total > 0 {
				text += " of " + bytesize.Decimal(total)
			}
			return text
		})
	}
}

func (p *progressLine) show(now time.Time, say func() string) {
	if p.every == 0 || now.Sub(p.last) < p.every {
		return
	}
	p.last = now
	text := strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f {
			return -1
		}
		return r
	}, say())
	if !p.terminal {
		fmt.Fprintln(p.w, text)
		return
	}
	if p.width > 1 && len(text) >= p.width { // a wrapped line could not be redrawn
		text = text[:p.width-1]
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", text)
	p.drawn = true
}

// end removes the line.
func (p *progressLine) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
}
