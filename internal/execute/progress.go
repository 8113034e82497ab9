package execute

import (
	"bufio"
	"bytes"
	"strconv"
	"strings"
	"time"
)

// ProgressLines takes lines "progress DONE TOTAL TEXT" out of standard error and reports them; the rest goes on.
type ProgressLines struct {
	report Progress
	next   *Capped
	line   []byte
	last   time.Time
}

// ProgressLines returns what a command's standard error is to be written to, before next.
func (a *Request) ProgressLines(next *Capped) *ProgressLines {
	return &ProgressLines{report: a.Report, next: next}
}

// Write never fails.
func (p *ProgressLines) Write(b []byte) (int, error) {
	n := len(b)
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			break
		}
		p.line = append(p.line, b[:i+1]...)
		p.emit()
		b = b[i+1:]
	}
	if p.line = append(p.line, b...); len(p.line) > bufio.MaxScanTokenSize {
		p.emit()
	}
	return n, nil
}

func (p *ProgressLines) emit() {
	if rest, ok := bytes.CutPrefix(p.line, []byte("progress ")); ok {
		f := strings.SplitN(strings.TrimSpace(string(rest)), " ", 3)
		if len(f) >= 2 {
			done, err1 := strconv.ParseInt(f[0], 10, 64)
			total, err2 := strconv.ParseInt(f[1], 10, 64)
			if err1 == nil && err2 == nil {
				if time.Since(p.last) > 50*time.Millisecond {
					p.last = time.Now()
					p.report(done, total, strings.Join(f[2:], " "))
				}
				p.line = p.line[:0]
				return
			}
		}
	}
	p.Flush()
}

// Flush passes on what there is of a last line.
func (p *ProgressLines) Flush() {
	_, _ = p.next.Write(p.line)
	p.line = p.line[:0]
}
