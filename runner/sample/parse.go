package sample

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Limits of the device's answers.
const (
	maxLine    = 16 << 10
	maxColumns = 512
	maxAbsent  = 512
	maxLabel   = 64
	maxCells   = 2 << 20 // of all rows; longer series are thinned
)

// none marks a missing value.
const none = math.MinInt64

// Parser parses the output of Command into a Series. Write accepts invalid output, and reports it in the note of the
// Series. A Parser is not safe for concurrent use.
type Parser struct {
	line    []byte
	tooLong bool
	lines   int
	problem string // why the rest is ignored

	interval time.Duration
	hz       int64
	raw      []rawColumn
	absent   []Absent
	begun    bool
	rows     [][]int64 // time, then a value for each column
	stride   int       // one of stride rows is kept
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

// Begun reports whether the header is complete. The header precedes all rows.
func (p *Parser) Begun() bool { return p.begun }

// read parses one line.
func (p *Parser) read(line string) {
	p.lines++
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case p.lines == 1:
		if line != "hexmage-samples 1" {
			p.problem = fmt.Sprintf("the device sent text instead of samples: %.200q", line)
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

// header parses a line of the header. It ignores unknown words.
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
			p.problem = fmt.Sprintf("the device sent more than %d columns", maxColumns)
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

// row parses a line of numbers. It drops a line that is incomplete or goes back in time.
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
	if len(p.rows) > 1 && len(p.rows)*len(row) > maxCells { // keep every second row
		kept := p.rows[:0]
		for i := 0; i < len(p.rows); i += 2 {
			kept = append(kept, p.rows[i])
		}
		clear(p.rows[len(kept):])
		p.rows = kept
		p.stride *= 2
	}
}

// clean makes a device's word safe for a file's heading.
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

// Series is a series of samples over time.
type Series struct {
	Interval   time.Duration // requested interval between two rows
	Columns    []Column      // the first column is the time since the first row, in s
	Rows       [][]float64   // a value for each column; NaN if missing
	Absent     []Absent      // values that the device does not provide
	Ended      string        // "gone": the process ended; "closed": hexmage ended it; empty: the link broke
	SamplerCPU time.Duration // processor time that the sampler used
	Note       string        // problem with the samples, or empty
}

// Column describes the values of a column.
type Column struct {
	Name string `json:"name"` // "rss", "cpu0", "temperature_nsphvx-0"
	// Unit is "s", "bytes", "percent" (of one core, or of the GPU), "MHz", "C", "mA", "V", "count" or "bool". "driver"
	// means that the kernel does not report the unit.
	Unit string `json:"unit"`
}

// Absent is a value that the device does not provide.
type Absent struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Errno int    `json:"errno"` // Linux error number: 2 not found, 13 not allowed; 0: another reason
}

// conversion converts a unit of the stream to a unit of a Series.
type conversion struct {
	unit   string
	factor float64
	digits float64 // values are rounded to 1/digits
}

func convert(unit string) conversion {
	switch unit {
	case "kB":
		return conversion{"bytes", 1024, 1}
	case "kilobytes":
		return conversion{"bytes", 1000, 1}
	case "ticks":
		return conversion{"percent", 1, 10} // of a difference
	case "kHz":
		return conversion{"MHz", 1e-3, 1e3}
	case "Hz":
		return conversion{"MHz", 1e-6, 1e3}
	case "mC":
		return conversion{"C", 1e-3, 1e3}
	case "uA":
		return conversion{"mA", 1e-3, 1e3}
	case "uV":
		return conversion{"V", 1e-6, 1e6}
	}
	return conversion{unit, 1, 1}
}

// Series returns the samples so far.
func (p *Parser) Series() Series {
	s := Series{
		Interval: p.interval, Columns: p.columns(), Absent: p.absent, Ended: p.ended, SamplerCPU: p.cpu, Note: p.note(),
	}
	last := make([]int, len(p.raw)) // the last row with a count of ticks, by column
	for i := range last {
		last[i] = -1
	}
	for i, raw := range p.rows {
		row := make([]float64, 1, len(raw))
		row[0] = round(float64(raw[0]-p.rows[0][0])/1e9, 1e4)
		for j, c := range p.raw {
			v := raw[j+1]
			conv := convert(c.unit)
			x := math.NaN()
			switch {
			case v == none:
			case c.unit != "ticks":
				x = round(float64(v)*conv.factor, conv.digits)
			default:
				if k := last[j]; k >= 0 {
					x = round(p.busy(c.name, p.rows[k], raw, j+1), conv.digits)
				}
				last[j] = i
			}
			row = append(row, x)
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}

// busy returns the busy time between two rows, in percent of one core. It returns NaN if the count of ticks fell: one
// of several processes ended and took its ticks along.
func (p *Parser) busy(name string, from, to []int64, column int) float64 {
	hz := p.hz
	if hz == 0 {
		hz = 100
	}
	ticks := float64(to[column]) - float64(from[column])
	v := 100 * ticks / float64(hz) / (float64(to[0]-from[0]) / 1e9)
	if ticks < 0 {
		return math.NaN()
	}
	if name != processCPU { // a tick may be counted late
		v = min(v, 100)
	}
	return v
}

func (p *Parser) note() string {
	switch {
	case p.problem != "":
		return p.problem
	case p.lines == 0:
		return "the device sent no samples"
	case len(p.rows) == 0:
		return "the device sent a header without samples"
	case p.damaged > 0:
		return strconv.Itoa(p.damaged) + " corrupt lines from the device were skipped"
	case p.stride > 1:
		return fmt.Sprintf("too many samples; hexmage kept one in %d", p.stride)
	}
	return ""
}

// columns gives each column a unique name.
func (p *Parser) columns() []Column {
	out := []Column{{"time", "s"}}
	taken := map[string]bool{"time": true}
	for _, c := range p.raw {
		base := c.name
		if c.label != "" {
			for len(base) > 0 && base[len(base)-1] >= '0' && base[len(base)-1] <= '9' {
				base = base[:len(base)-1]
			}
			base += "_" + c.label
		}
		name := base
		for i := 2; taken[name]; i++ {
			name = base + "_" + strconv.Itoa(i)
		}
		taken[name] = true
		out = append(out, Column{name, convert(c.unit).unit})
	}
	return out
}

// round drops digits beyond the resolution of the sensors.
func round(v, digits float64) float64 {
	if math.IsNaN(v) || math.Abs(v) > 1e15 {
		return v
	}
	return math.Round(v*digits) / digits
}

// Column returns the values of a column, or nil if the column is missing.
func (s Series) Column(name string) []float64 {
	for i, c := range s.Columns {
		if c.Name == name {
			out := make([]float64, len(s.Rows))
			for j, r := range s.Rows {
				out[j] = r[i]
			}
			return out
		}
	}
	return nil
}
