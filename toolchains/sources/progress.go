package sources

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/bytesize"
)

// progressLines writes progress at most a few lines per second, with the rate and the remaining time.
type progressLines struct {
	mu    sync.Mutex
	w     io.Writer
	now   func() time.Time
	last  time.Time
	meter Meter
}

func (p *progressLines) progress(done, total int64, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, same := p.now(), text == p.meter.what
	more := p.meter.more(now, done, total, text)
	if same && now.Sub(p.last) < 200*time.Millisecond && done != total {
		return
	}
	p.last = now
	fmt.Fprintf(p.w, "progress %d %d %s\n", done, total, strings.ReplaceAll(text+more, "\n", " "))
}

func (p *progressLines) warn(text string) {
	p.print("warning: " + strings.ReplaceAll(text, "\n", " ") + "\n")
}

func (p *progressLines) print(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = io.WriteString(p.w, text)
}

// Meter formats progress with the rate and the remaining time. Only one goroutine may use a Meter at a time.
type Meter struct {
	rate rate
	what string
}

// Text returns a text such as "download 34%, 500.6 MiB of 1.4 GiB, 45.1 MiB/s, about 22 s left". It omits unknown
// parts. A total of 0 means unknown.
func (m *Meter) Text(now time.Time, done, total int64, what string) string {
	text := what
	if total > 0 {
		percent := int(100 * float64(done) / float64(total))
		text += fmt.Sprintf(" %d%%, %s of %s", percent, bytesize.Binary(done), bytesize.Binary(total))
	}
	return text + m.more(now, done, total, what)
}

// more returns ", 12.3 MiB/s, about 40 s left", without the unknown parts.
func (m *Meter) more(now time.Time, done, total int64, what string) string {
	if what != m.what {
		m.rate, m.what = rate{}, what
	}
	m.rate.add(now, done)
	text := ""
	if total <= 0 && done > 0 {
		text += ", " + bytesize.Binary(done)
	}
	if bps := m.rate.perSecond(); bps > 0 {
		text += ", " + bytesize.Binary(int64(bps)) + "/s"
		if total > done {
			text += ", about " + leftText(float64(total-done)/bps) + " left"
		}
	}
	return text
}

// rate measures the download rate of the last seconds, without bytes of an earlier run.
type rate struct {
	at []sample
}

type sample struct {
	when time.Time
	done int64
}

const (
	rateWindow = 8 * time.Second
	rateStep   = 250 * time.Millisecond // between samples
	rateAfter  = time.Second            // earlier rates are guesses
)

func (r *rate) add(now time.Time, done int64) {
	n := len(r.at)
	if n > 0 && done < r.at[n-1].done {
		r.at, n = nil, 0 // the download started again
	}
	if n > 1 && now.Sub(r.at[n-2].when) < rateStep {
		r.at[n-1] = sample{now, done}
		return
	}
	r.at = append(r.at, sample{now, done})
	for len(r.at) > 2 && now.Sub(r.at[1].when) > rateWindow {
		r.at = r.at[1:]
	}
}

// perSecond returns the rate, or 0 while it is unknown.
func (r *rate) perSecond() float64 {
	if len(r.at) < 2 {
		return 0
	}
	first, last := r.at[0], r.at[len(r.at)-1]
	if last.when.Sub(first.when) < rateAfter {
		return 0
	}
	return float64(last.done-first.done) / last.when.Sub(first.when).Seconds()
}

func leftText(seconds float64) string {
	switch {
	case seconds < 60:
		return fmt.Sprintf("%d s", max(1, int(seconds+0.5)))
	case seconds < 90*60:
		return fmt.Sprintf("%d min", int(seconds/60+0.5))
	}
	return fmt.Sprintf("%.1f h", seconds/3600)
}
