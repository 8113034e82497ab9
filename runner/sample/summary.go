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

// Names of columns for a summary.
const (
	processCPU = "process_cpu"
	zonePrefix = "temperature_"
)

// MinSamples is the minimum number of samples for a mean.
const MinSamples = 3

// SummaryNames returns the possible names of a summary's values, in order.
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

// Summary returns the most important values of a series. It omits values that were not sampled.
//
// Means and energy need MinSamples samples.
//
//	peak_rss             MB      the process and its descendants. For a single process, the kernel's own peak.
//	peak_pss             MB      the same processes, each with its part of shared pages.
//	peak_dmabuf          MB      open buffers that they share with the NPU or GPU. They are not part of RSS.
//	mean_cpu             cores   the same processes.
//	mem_available_drop   MB      largest drop of the device's available memory, by any process.
//	mean_gpu_busy        percent
//	max_temperature      °C      any sensor.
//	mean_power, energy   mW, J   whole device, at its battery; only if the battery was not charged.
//	samples                      number of rows with the process
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

// whileItRan returns the rows from the first to the last with a process, or all rows if processes were not counted.
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

// most returns the largest value, or NaN without values.
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
			if i == 0 { // no time has passed yet
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

// drop returns the largest drop below the first value.
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

// Hottest returns the highest temperature of any sensor in each row, in °C, or NaN for a row without temperatures. It
// ignores impossible values, which disabled sensors report.
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

// power returns the power from the battery in mW. It returns nil if the battery was charged in a row, or lacks a
// column. Phones disagree on the sign of a discharge.
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

// WriteCSV writes a header line with units, such as "rss_bytes", and a line for each row. Missing values are empty.
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
	return b.Flush() // Flush also returns earlier errors
}

// File is the content of samples.json.
type File struct {
	Version      int              `json:"version"`
	IntervalMS   int64            `json:"interval_ms"`
	Note         string           `json:"note,omitempty"`
	Ended        string           `json:"ended,omitempty"`
	SamplerCPUMS int64            `json:"sampler_cpu_ms,omitempty"`
	Summary      map[string]Value `json:"summary,omitempty"`
	Absent       []Absent         `json:"absent,omitempty"`
	Columns      []Column         `json:"columns"` // columns of samples.csv
}

const fileVersion = 2

// WriteJSON writes the series as a File, which omits the samples.
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

// ReadJSON returns the summary and the note of a File.
func ReadJSON(b []byte) (summary []Value, note string, err error) {
	var f File
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, "", fmt.Errorf("samples: %w", err)
	}
	if f.Version != fileVersion {
		return nil, "", fmt.Errorf("samples: unknown version %d, expected %d", f.Version, fileVersion)
	}
	for _, name := range SummaryNames() {
		if v, ok := f.Summary[name]; ok {
			summary = append(summary, Value{name, v.Value, v.Unit})
		}
	}
	return summary, f.Note, nil
}
