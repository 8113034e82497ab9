package agent

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Series are samples over time.
type Series struct {
	Interval time.Duration // between two rows, as asked for
	Columns  []Column      // the first is the time since the first row, in s
	Rows     [][]float64   // a value for each column; NaN where none was read
	Absent   []Absent      // what this device does not let us read
	Ended    string        // "gone" with the process, "closed" by us; empty: cut off, as by a link that broke
	AgentCPU time.Duration // what taking the samples cost, of one core
	Note     string        // what is wrong with them; empty: nothing
}

// Column says what the values of a column are.
type Column struct {
	Name string `json:"name"` // "rss", "cpu0", "temperature_nsphvx-0"
	Unit string `json:"unit"` // "s", "bytes", "percent" (of one core, or of the GPU), "MHz", "C", "mA", "V", "count", "bool", or "driver": the kernel does not say
}

// Absent is something that could not be read.
type Absent struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Errno int    `json:"errno"` // Linux's number of the error: 2 there is none, 13 not allowed; 0: nothing of the kind
}

// conversion is how a unit of the stream becomes one of a Series.
type conversion struct {
	unit   string
	factor float64
	digits float64 // values are rounded to 1/digits
}

func convert(unit string) conversion {
	switch unit {
	case "kB":
		return conversion{"bytes", 1024, 1}
	case "ticks":
		return conversion{"percent", 1, 10} // and a difference
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

// Series returns what was read so far.
func (p *Parser) Series() Series {
	s := Series{Interval: p.interval, Columns: p.columns(), Absent: p.absent, Ended: p.ended, AgentCPU: p.cpu, Note: p.note()}
	last := make([]int, len(p.raw)) // the row that had a count of ticks before
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

// busy is the part of the time between two rows that was spent, in per cent of one core. Time that was given back, when a process of several
// ended and took its own with it, is not known.
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
		return "the device sent a header and no samples"
	case p.damaged > 0:
		return strconv.Itoa(p.damaged) + " lines of the device were damaged and are left out"
	case p.stride > 1:
		return fmt.Sprintf("of so many samples only one in %d is kept", p.stride)
	}
	return ""
}

// columns gives every column a name of its own.
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

// round drops digits that nobody measured.
func round(v, digits float64) float64 {
	if math.IsNaN(v) || math.Abs(v) > 1e15 {
		return v
	}
	return math.Round(v*digits) / digits
}

// Column returns the values of a column, nil if there is no such column.
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
