package runner

import (
	"bytes"
	"regexp"
	"strconv"
)

// Metric is one measured value.
type Metric struct {
	Name  string  `json:"name"` // "prefill_time_us", "decode_tokens_per_s", …
	Value float64 `json:"value"`
	Unit  string  `json:"unit"` // "us", "tokens/s", "tokens"
}

// patterns read the block that a runner prints at its end. They are compiled at each use: a variable of the package could be changed.
type patterns struct{ ansi, time, tokens *regexp.Regexp }

func newPatterns() patterns {
	return patterns{
		ansi: regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`),
		// The sign for micro is a Greek letter in some builds and the micro sign in others.
		time:   regexp.MustCompile(`^\s*(Prefill|Decode|Total) time\s*:\s*([0-9]+(?:\.[0-9]+)?) [μµu]s(?: \(\s*([0-9]+(?:\.[0-9]+)?) tokens/s\))?`),
		tokens: regexp.MustCompile(`^\s*(Prefill|Decode) tokens\s*:\s*([0-9]+)\s*$`),
	}
}

// ParseMetrics finds the performance summary in what a runner printed and returns its values in a fixed order; none if there is no
// summary. When a program prints several, the last counts.
func ParseMetrics(stdout []byte) []Metric {
	p := newPatterns()
	found := map[string]Metric{}
	for line := range bytes.Lines(stdout) {
		// Progress that was overwritten on a terminal stays on the line before a carriage return.
		line = bytes.TrimRight(p.ansi.ReplaceAll(line, nil), "\r\n")
		line = line[bytes.LastIndexByte(line, '\r')+1:]
		if m := p.time.FindSubmatch(line); m != nil {
			name := string(bytes.ToLower(m[1]))
			add(found, name+"_time_us", m[2], "us")
			if m[3] != nil {
				add(found, name+"_tokens_per_s", m[3], "tokens/s")
			}
		} else if m := p.tokens.FindSubmatch(line); m != nil {
			add(found, string(bytes.ToLower(m[1]))+"_tokens", m[2], "tokens")
		}
	}
	var rows []Metric
	for _, phase := range []string{"prefill", "decode", "total"} {
		for _, what := range []string{"_time_us", "_tokens", "_tokens_per_s"} {
			if m, ok := found[phase+what]; ok {
				rows = append(rows, m)
			}
		}
	}
	return rows
}

func add(found map[string]Metric, name string, digits []byte, unit string) {
	if v, err := strconv.ParseFloat(string(digits), 64); err == nil { // fails only on a number too large for any measurement
		found[name] = Metric{Name: name, Value: v, Unit: unit}
	}
}
