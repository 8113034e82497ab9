package sample

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Names of columns that a summary is made of.
const (
	processCPU = "process_cpu"
	zonePrefix = "temperature_"
)

// MinSamples is the least number of samples that Summary makes a mean of.
const MinSamples = 3

// SummaryNames are the names that a summary may have, in its order.
func SummaryNames() []string {
	return []string{
		"peak_rss", "peak_pss", "peak_dmabuf", "mean_cpu", "mem_available_drop", "mean_gpu_busy", "max_temperature",
		"mean_power", "energy", "samples",
	}
}

// Value is one number of a summary.
type Value struct {
	Name  string  `json:"-"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// Summary is what people ask of a series first; what was not sampled is left out.
//
// Means and energy need MinSamples samples.
//
//	peak_rss             MB      of the process and those that it started; of one process the kernel's own peak
//	peak_pss             MB      of them, each with its part of shared pages
//	peak_dmabuf          MB      of buffers that they shared with the NPU or GPU and held open; RSS does not have them
//	mean_cpu             cores   that they kept busy
//	mem_available_drop   MB      most by which the device's available memory fell, whoever took it
//	mean_gpu_busy        percent
//	max_temperature      °C      of any sensor
//	mean_power, energy   mW, J   of the whole device, at its battery; only while that is not charged
//	samples                      taken while the process ran
func (s Series) Summary() []Value {
	var out []Value
	add := func(name string, v, digits float64, unit string) {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			out = append(out, Value{name, round(v, digits), unit})
		}
	}
	add("peak_rss", most(append(s.Column("rss"), s.Column("rss_peak")...))/1e6, 10, "MB")
	add("peak_pss", most(s.Column("pss"))/1e6, 10, "MB")
	if v := most(s.Column("dmabuf")) / 1e6; v > 0 {
		add("peak_dmabuf", v, 10, "MB")
	}
	drop := drop(s.Column("mem_available"))
	s.Rows = s.whileItRan()
	at := s.Column("time")
	// A value of process_cpu is the difference of two samples.
	add("mean_cpu", mean(at, s.Column(processCPU), MinSamples-1)/100, 100, "cores")
	add("mem_available_drop", drop/1e6, 10, "MB")
	add("mean_gpu_busy", mean(at, s.Column("gpu_busy"), MinSamples), 10, "percent")
	add("max_temperature", most(s.Hottest()), 10, "°C")
	if power := s.power(); len(power) > 0 {
		mw := mean(at, power, MinSamples)
		add("mean_power", mw, 1, "mW")
		add("energy", mw/1e3*(at[len(at)-1]-at[0]), 1000, "J")
	}
	if len(s.Rows) > 0 {
		add("samples", float64(len(s.Rows)), 1, "")
	}
	return out
}

// whileItRan are the rows from the first to the last in which there was a process; all, if nobody counted processes.
func (s Series) whileItRan() [][]float64 {
	var first, end int
	counts := s.Column("processes")
	for i, n := range counts {
		if math.IsNaN(n) {
			continue
		}
		if end == 0 {
			first = i
		}
		end = i + 1
	}
	if len(counts) == 0 {
		return s.Rows
	}
	return s.Rows[first:end]
}

// most is the largest value, NaN if there is none.
func most(values []float64) float64 {
	out := math.NaN()
	for _, v := range values {
		if math.IsNaN(out) || v > out {
			out = v
		}
	}
	return out
}

// mean weighs each value by the time since the one before it. It is NaN for fewer than least values.
func mean(at, values []float64, least int) float64 {
	sum, time, last, known := 0.0, 0.0, math.NaN(), 0
	for i, v := range values {
		if math.IsNaN(v) {
			continue
		}
		known++
		from := last
		if last = at[i]; math.IsNaN(from) {
			if i == 0 { // no time has gone by yet
				continue
			}
			from = at[i-1]
		}
		sum += v * (at[i] - from)
		time += at[i] - from
	}
	if known < least {
		return math.NaN()
	}
	return sum / time
}

// drop is how far the values fell below the first.
func drop(values []float64) float64 {
	first, least := math.NaN(), math.NaN()
	for _, v := range values {
		if math.IsNaN(v) {
			continue
		}
		if math.IsNaN(first) {
			first, least = v, v
		}
		least = min(least, v)
	}
	return first - least
}

// Hottest is the highest temperature of any sensor in each row, in °C, NaN where none was read. Sensors that are off say absurd things.
func (s Series) Hottest() []float64 {
	out := make([]float64, len(s.Rows))
	for i := range out {
		out[i] = math.NaN()
	}
	for _, c := range s.Columns {
		if !strings.HasPrefix(c.Name, zonePrefix) || c.Unit != "C" {
			continue
		}
		for i, v := range s.Column(c.Name) {
			if v > -50 && v < 150 && !(v <= out[i]) {
				out[i] = v
			}
		}
	}
	return out
}

// power is what the battery gave, in mW; nil if that is not known of every row from the first to the last that has it. Which sign a
// discharge has, phones do not agree on.
func (s Series) power() []float64 {
	i, u, discharging := s.Column("battery_current"), s.Column("battery_voltage"), s.Column("battery_discharging")
	if i == nil || u == nil || discharging == nil {
		return nil
	}
	out := make([]float64, len(i))
	for k := range out {
		if discharging[k] == 0 {
			return nil
		}
		out[k] = math.Abs(i[k]) * u[k]
	}
	return out
}

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
		buf = buf[:0]
		for i, v := range row {
			if i > 0 {
				buf = append(buf, ',')
			}
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				buf = strconv.AppendFloat(buf, v, 'f', -1, 64)
			}
		}
		b.Write(append(buf, '\n'))
	}
	return b.Flush() // and all errors before it
}

// File is the form of samples.json.
type File struct {
	Version      int              `json:"version"`
	IntervalMS   int64            `json:"interval_ms"`
	Note         string           `json:"note,omitempty"`
	Ended        string           `json:"ended,omitempty"`
	SamplerCPUMS int64            `json:"sampler_cpu_ms,omitempty"`
	Summary      map[string]Value `json:"summary,omitempty"`
	Absent       []Absent         `json:"absent,omitempty"`
	Columns      []Column         `json:"columns"` // of samples.csv
}

const fileVersion = 2

// WriteJSON writes a File: all but the samples themselves.
func (s Series) WriteJSON(w io.Writer) error {
	f := File{
		Version: fileVersion, IntervalMS: s.Interval.Milliseconds(), Note: s.Note, Ended: s.Ended,
		SamplerCPUMS: s.SamplerCPU.Milliseconds(),
		Summary:      map[string]Value{}, Absent: s.Absent, Columns: s.Columns,
	}
	for _, v := range s.Summary() {
		f.Summary[v.Name] = v
	}
	b, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// ReadJSON reads what WriteJSON wrote: the values of the summary, and the note.
func ReadJSON(b []byte) (summary []Value, note string, err error) {
	var f File
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, "", fmt.Errorf("samples: %w", err)
	}
	if f.Version != fileVersion {
		return nil, "", fmt.Errorf("samples: version %d; this hexmage knows %d", f.Version, fileVersion)
	}
	for _, name := range SummaryNames() {
		if v, ok := f.Summary[name]; ok {
			summary = append(summary, Value{name, v.Value, v.Unit})
		}
	}
	return summary, f.Note, nil
}
