package agent

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Bounds of what a device may say.
const (
	maxLine    = 16 << 10
	maxColumns = 512
	maxAbsent  = 512
	maxLabel   = 64
	maxCells   = 2 << 20 // of all rows; a longer series is thinned out
)

// none stands for a value that was not read.
const none = math.MinInt64

// Parser makes a Series of what the program writes. It is an io.Writer that never fails, so that a device that says nonsense
// disturbs nothing: the Series then tells. Not for concurrent use.
type Parser struct {
	line    []byte
	tooLong bool
	lines   int
	problem string // why nothing that follows is read

	interval time.Duration
	hz       int64
	raw      []rawColumn
	absent   []Absent
	begun    bool
	rows     [][]int64 // time, then a value for each column
	stride   int       // every so many rows one is kept
	seen     int
	damaged  int
	ended    string
	cpu      time.Duration
}

type rawColumn struct{ name, unit, label string }

// Write implements io.Writer.
func (p *Parser) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 && p.problem == "" {
		part, rest, whole := bytes.Cut(b, []byte("\n"))
		b = rest
		if p.tooLong = p.tooLong || len(p.line)+len(part) > maxLine; !p.tooLong {
			p.line = append(p.line, part...)
		}
		if !whole {
			break
		}
		if p.tooLong {
			p.damaged++
		} else {
			p.read(strings.TrimSuffix(string(p.line), "\r"))
		}
		p.line, p.tooLong = p.line[:0], false
	}
	return n, nil
}

// Begun tells whether the header has been read: from here on rows come.
func (p *Parser) Begun() bool { return p.begun }

// read takes one line.
func (p *Parser) read(line string) {
	p.lines++
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case p.lines == 1:
		if line != "hexmage-samples 1" {
			p.problem = fmt.Sprintf("the device said %.200q and no samples", line)
		}
	case p.ended != "":
	case p.begun && word == "end":
		reason, us, _ := strings.Cut(rest, " ")
		p.ended = clean(reason)
		if n, err := strconv.ParseInt(us, 10, 64); err == nil && n >= 0 && n < math.MaxInt64/1000 {
			p.cpu = time.Duration(n) * time.Microsecond
		}
	case p.begun:
		p.row(line)
	case line == "begin":
		p.begun, p.stride = true, 1
	default:
		p.header(word, rest)
	}
}

// header reads a line of the header. Words that a newer program may have are no matter.
func (p *Parser) header(word, rest string) {
	f := strings.SplitN(rest, " ", 3)
	switch word {
	case "interval_ms":
		if n, err := strconv.ParseInt(rest, 10, 64); err == nil && n > 0 && n <= MaxInterval.Milliseconds() {
			p.interval = time.Duration(n) * time.Millisecond
		}
	case "clock_ticks":
		if n, err := strconv.ParseInt(rest, 10, 64); err == nil && n > 0 && n <= 1e6 {
			p.hz = n
		}
	case "column":
		if len(p.raw) == maxColumns {
			p.problem = fmt.Sprintf("the device announced more than %d columns", maxColumns)
			return
		}
		c := rawColumn{name: clean(f[0])}
		if len(f) > 1 {
			c.unit = clean(f[1])
		}
		if len(f) > 2 {
			c.label = clean(f[2])
		}
		p.raw = append(p.raw, c)
	case "absent":
		if len(f) == 3 && len(p.absent) < maxAbsent {
			n, err := strconv.ParseUint(f[1], 10, 12)
			if err != nil {
				n = 0
			}
			p.absent = append(p.absent, Absent{Name: clean(f[0]), Errno: int(n), Path: printable(f[2], 256)})
		}
	}
}

// row reads a line of numbers. One that was cut off, or goes back in time, is no row.
func (p *Parser) row(line string) {
	fields := strings.Fields(line)
	if len(fields) != 1+len(p.raw) {
		p.damaged++
		return
	}
	row := make([]int64, len(fields))
	for i, f := range fields {
		v, err := strconv.ParseInt(f, 10, 64)
		switch {
		case i > 0 && f == "-":
			v = none
		case err != nil || v > 1<<62 || v < -1<<62:
			p.damaged++
			return
		}
		row[i] = v
	}
	if n := len(p.rows); row[0] < 0 || n > 0 && row[0] <= p.rows[n-1][0] {
		p.damaged++
		return
	}
	if p.seen++; (p.seen-1)%p.stride != 0 {
		return
	}
	p.rows = append(p.rows, row)
	if len(p.rows) > 1 && len(p.rows)*len(row) > maxCells { // every second one stays
		kept := p.rows[:0]
		for i := 0; i < len(p.rows); i += 2 {
			kept = append(kept, p.rows[i])
		}
		clear(p.rows[len(kept):])
		p.rows = kept
		p.stride *= 2
	}
}

// clean makes a word of a device one that may stand in a file's heading.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.', r == '_':
			return r
		}
		return '_'
	}, s)
	return s[:min(len(s), maxLabel)]
}

func printable(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '_'
		}
		return r
	}, s)
	return s[:min(len(s), most)]
}
