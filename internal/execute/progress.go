package execute

import (
	"bufio"
	"bytes"
	"strconv"
	"strings"
)

// ProgressLines finds lines of the form "progress DONE TOTAL TEXT" in standard error. It reports these lines as
// progress, and passes all other lines on.
type ProgressLines struct {
	report Progress
	next   *HeadTailBuffer
	line   []byte
}

// ProgressLines returns a writer for the standard error of a command. The writer reports progress lines and passes all
// other lines to next.
func (a *Request) ProgressLines(next *HeadTailBuffer) *ProgressLines {
	return &ProgressLines{report: a.Report, next: next}
}

// Write never fails, and holds back an incomplete line.
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
				p.report(done, total, strings.Join(f[2:], " "))
				p.line = p.line[:0]
				return
			}
		}
	}
	p.Flush()
}

// Flush passes on an incomplete last line.
func (p *ProgressLines) Flush() {
	_, _ = p.next.Write(p.line)
	p.line = p.line[:0]
}
