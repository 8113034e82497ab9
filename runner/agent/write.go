package agent

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// WriteCSV writes a heading with units, such as "rss_bytes", and a row for each tick; what was not read is empty.
func (s Series) WriteCSV(w io.Writer) error {
	b := bufio.NewWriter(w)
	for i, c := range s.Columns {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(c.Name)
		if c.Unit != "count" && c.Unit != "bool" && c.Unit != "" {
			b.WriteString("_" + c.Unit)
		}
	}
	b.WriteByte('\n')
	var buf []byte
	for _, row := range s.Rows {
		buf = appendRow(buf[:0], row, "")
		b.Write(append(buf, '\n'))
	}
	return b.Flush() // and all errors before it
}

func appendRow(b []byte, row []float64, missing string) []byte {
	for i, v := range row {
		if i > 0 {
			b = append(b, ',')
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			b = append(b, missing...)
			continue
		}
		b = strconv.AppendFloat(b, v, 'f', -1, 64)
	}
	return b
}

// seriesJSON is the form of samples.json. Rows come last, one a line; null is what was not read.
type seriesJSON struct {
	Version    int                 `json:"version"`
	IntervalMS int64               `json:"interval_ms"`
	Note       string              `json:"note,omitempty"`
	Ended      string              `json:"ended,omitempty"`
	AgentCPUMS int64               `json:"agent_cpu_ms,omitempty"`
	Summary    map[string]unitJSON `json:"summary,omitempty"`
	Absent     []Absent            `json:"absent,omitempty"`
	Columns    []Column            `json:"columns"`
	Rows       [][]*float64        `json:"rows"`
}

type unitJSON struct {
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

const jsonVersion = 1

// WriteJSON writes what ReadJSON reads.
func (s Series) WriteJSON(w io.Writer) error {
	out := seriesJSON{
		Version: jsonVersion, IntervalMS: s.Interval.Milliseconds(), Note: s.Note, Ended: s.Ended, AgentCPUMS: s.AgentCPU.Milliseconds(),
		Summary: map[string]unitJSON{}, Absent: s.Absent, Columns: s.Columns,
	}
	for _, v := range s.Summary() {
		out.Summary[v.Name] = unitJSON{v.Value, v.Unit}
	}
	head, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	b.WriteString(strings.TrimSuffix(string(head), "null\n}"))
	b.WriteByte('[')
	var buf []byte
	for i, row := range s.Rows {
		buf = append(buf[:0], "\n    ["...)
		if i > 0 {
			buf = append(buf[:0], ",\n    ["...)
		}
		b.Write(append(appendRow(buf, row, "null"), ']'))
	}
	b.WriteString("\n  ]\n}\n")
	return b.Flush()
}

// ReadJSON reads what WriteJSON wrote.
func ReadJSON(b []byte) (Series, error) {
	var in seriesJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return Series{}, fmt.Errorf("samples: %w", err)
	}
	if in.Version != jsonVersion {
		return Series{}, fmt.Errorf("samples: version %d; this hexmage knows %d", in.Version, jsonVersion)
	}
	if in.IntervalMS < 0 || in.IntervalMS > MaxInterval.Milliseconds() || len(in.Columns) > 1+maxColumns {
		return Series{}, errors.New("samples: not what hexmage wrote: interval or columns out of bounds")
	}
	s := Series{
		Interval: time.Duration(in.IntervalMS) * time.Millisecond, Note: in.Note, Ended: in.Ended, AgentCPU: time.Duration(in.AgentCPUMS) * time.Millisecond,
		Absent: in.Absent, Columns: in.Columns,
	}
	for i, row := range in.Rows {
		if len(row) != len(in.Columns) {
			return Series{}, fmt.Errorf("samples: row %d has %d values for %d columns", i, len(row), len(in.Columns))
		}
		values := make([]float64, len(row))
		for j, v := range row {
			values[j] = math.NaN()
			if v != nil {
				values[j] = *v
			}
		}
		s.Rows = append(s.Rows, values)
	}
	return s, nil
}
