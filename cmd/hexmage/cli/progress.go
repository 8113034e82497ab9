package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/hexmage/hexmage/toolchains/sources"
)

// progressLine shows how far a download is, for commands that are no build: on a terminal one line that is drawn anew,
// elsewhere a line at times.
type progressLine struct {
	w        io.Writer
	terminal bool
	width    int

	mu    sync.Mutex
	meter sources.Meter
	last  time.Time
	drawn bool
}

// How often something new is shown.
const (
	progressDrawn = 200 * time.Millisecond
	progressLines = 15 * time.Second
)

func (a *app) progressLine() *progressLine {
	return &progressLine{w: a.env.Stderr, terminal: a.env.Terminal, width: a.env.Width, last: time.Now()}
}

// show is a Progress of sources.Options.
func (p *progressLine) show(done, total int64, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	text = p.meter.Text(now, done, total, text)
	every := progressLines
	if p.terminal {
		every = progressDrawn
	}
	if now.Sub(p.last) < every {
		return
	}
	p.last = now
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f {
			return -1
		}
		return r
	}, text)
	if !p.terminal {
		fmt.Fprintln(p.w, text)
		return
	}
	if p.width > 1 && len(text) >= p.width { // one that wraps could not be drawn over
		text = text[:p.width-1]
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", text)
	p.drawn = true
}

// end takes the line away.
func (p *progressLine) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
}
