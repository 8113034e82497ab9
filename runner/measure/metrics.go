package measure

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/runner/literal"
)

// Metric is one measured value.
type Metric struct {
	Name  string  `json:"name"` // "prefill_time_us", "decode_tokens_per_s", …
	Value float64 `json:"value"`
	Unit  string  `json:"unit"` // "us", "tokens/s", "tokens", …
}

// direction returns 1 if more of a unit is better, -1 if less is, and 0 for a count.
func direction(unit string) int {
	switch {
	case strings.HasSuffix(unit, "/s"):
		return 1
	case slices.Contains([]string{"us", "ms", "s", "bytes", "MB", "mW", "mA", "J", "cycles", "us/token"}, unit):
		return -1
	}
	return 0
}

// Pattern finds a metric in a program's output. It is a metric block in a step, a workspace or a shipped file.
type Pattern struct {
	Name string `arg:"name,label" json:"name"` // a time may omit "_us"
	// Pattern is an RE2 expression. The first group is the number. A group `unit` may contain a unit of time, which
	// replaces Unit. {number} is short for a group with a number, and {time} for a number with its unit.
	Pattern string `arg:"pattern,required" json:"pattern"`
	Unit    string `arg:"unit,required" json:"unit"`
	Better  string `arg:"better" json:"better,omitempty"` // "more", "less" or "neither"; "": depends on the unit
}

// MaxPatterns is the maximum number of patterns in a step and its workspace together. Shipped metrics have the same
// limit.
const MaxPatterns = 100

// Bounds in bytes.
const (
	maxMetricLine = 4 << 10
	maxPattern    = 400
	maxUnit       = 20
)

// Check validates the pattern.
func (p Pattern) Check() error {
	_, err := p.compile()
	return err
}

// KnowsUnit reports whether hexmage knows the unit. A known unit determines whether a higher value is better, worse or
// neither.
func (p Pattern) KnowsUnit() bool {
	counts := []string{"count", "tokens", "percent", "°C", "dB", "cores"}
	return direction(p.Unit) != 0 || isTime(p.Unit) || slices.Contains(counts, p.Unit)
}

// metric returns the name of the metric in tables. Names of times end in "_us".
func (p Pattern) metric() string {
	if isTime(p.Unit) && !strings.HasSuffix(p.Name, "_us") {
		return p.Name + "_us"
	}
	return p.Name
}

// isTime reports whether a unit is a unit of time.
func isTime(unit string) bool { return microseconds(unit) > 0 }

// microseconds returns the length of a unit of time, and 0 for other units.
func microseconds(unit string) float64 {
	switch unit {
	case "us", "μs", "µs": // a Greek letter, and the sign for micro
		return 1
	case "ms":
		return 1e3
	case "s", "sec":
		return 1e6
	}
	return 0
}

// line is a compiled Pattern.
type line struct {
	Pattern
	re     *regexp.Regexp
	words  [][]byte // in lower case: each line that matches has one of them, if there are any
	number int      // index of the group with the number
	unit   int      // index of the group with its unit, or -1
}

func (p Pattern) compile() (*line, error) {
	fail := func(format string, args ...any) (*line, error) {
		return nil, fmt.Errorf("metric %q: "+format, append([]any{p.Name}, args...)...)
	}
	if len(p.Pattern) > maxPattern {
		return fail("pattern %.40q…: longer than %d bytes", p.Pattern, maxPattern)
	}
	const digits = `([0-9]+(?:\.[0-9]+)?)`
	groups := strings.NewReplacer("{number}", digits, "{time}", digits+` ?(?P<unit>[μµu]s|ms|sec|s)`)
	re, err := regexp.Compile(groups.Replace(p.Pattern))
	if err != nil {
		return fail("%w", err)
	}
	isNumber := func(group string) bool { return group != "unit" }
	l := &line{Pattern: p, re: re, unit: re.SubexpIndex("unit")}
	l.number = slices.IndexFunc(re.SubexpNames()[1:], isNumber) + 1
	hidden := func(r rune) bool { return !unicode.IsGraphic(r) }
	switch {
	case !IsName(p.Name):
		return fail("invalid name; use lower-case letters, digits and '_'")
	case l.number == 0:
		return fail("pattern %q has no group; put parentheses around the number, or write {number}", p.Pattern)
	case p.Unit == "" || len(p.Unit) > maxUnit || strings.ContainsFunc(p.Unit, hidden):
		return fail("invalid unit %.40q; use a unit such as ms, tokens/s or MB", p.Unit)
	case l.unit >= 0 && !isTime(p.Unit):
		return fail("unit is %q, but the pattern matches a unit of time; use us, ms or s", p.Unit)
	case !slices.Contains([]string{"", "more", "less", "neither"}, p.Better):
		return fail(`better is %q: use "more", "less" or "neither"`, p.Better)
	}
	for _, w := range literal.Of(re.String()) {
		l.words = append(l.words, []byte(w))
	}
	return l, nil
}

// find adds the metric of a line, and reports whether the line matches. low is the line in lower case.
func (l *line) find(found []Metric, text, low []byte) ([]Metric, bool) {
	if len(l.words) > 0 && !slices.ContainsFunc(l.words, func(w []byte) bool { return bytes.Contains(low, w) }) {
		return found, false
	}
	m := l.re.FindSubmatch(text)
	if m == nil {
		return found, false
	}
	v, err := strconv.ParseFloat(string(m[l.number]), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return found, true // too large, or not a number
	}
	unit := l.Unit
	if l.unit >= 0 && isTime(string(m[l.unit])) {
		unit = string(m[l.unit])
	}
	if isTime(unit) {
		v, unit = v*microseconds(unit), "us"
	}
	return put(found, Metric{Name: l.metric(), Value: v, Unit: unit}), true
}

// put sets a metric.
func put(found []Metric, m Metric) []Metric {
	if i := slices.IndexFunc(found, func(o Metric) bool { return o.Name == m.Name }); i >= 0 {
		found[i] = m
		return found
	}
	return append(found, m)
}

// Parser finds metrics in the output of programs.
type Parser struct{ own, known []*line }

// NewParser returns a Parser for the patterns. The Parser tries the known patterns only on lines that match no pattern
// in own.
func NewParser(own, known []Pattern) (*Parser, error) {
	if len(own) > MaxPatterns {
		return nil, fmt.Errorf("the metrics have %d patterns, more than the limit of %d", len(own), MaxPatterns)
	}
	p := &Parser{}
	for i, x := range slices.Concat(own, known) {
		l, err := x.compile()
		switch {
		case err != nil:
			return nil, err
		case i < len(own):
			p.own = append(p.own, l)
		default:
			p.known = append(p.known, l)
		}
	}
	return p, nil
}

// Parse returns the metrics in a program's output. If a metric appears several times, the last value counts. Times are
// in microseconds.
func (p *Parser) Parse(stdout []byte) []Metric {
	var found []Metric
	var low []byte
	for text := range bytes.Lines(stdout) {
		text = ansi.StripBytes(text[:min(len(text), maxMetricLine)])
		// A terminal overwrites progress before a carriage return.
		text = bytes.TrimRight(text, "\r\n")
		text = text[bytes.LastIndexByte(text, '\r')+1:]
		low = literal.Lower(low[:0], text)
		taken, matched := false, false
		for _, l := range p.own {
			found, matched = l.find(found, text, low)
			taken = taken || matched
		}
		if taken {
			continue
		}
		for _, l := range p.known {
			found, _ = l.find(found, text, low)
		}
	}
	return derive(found)
}

// unitOf returns the unit of a fact.
func unitOf(name string) string {
	for _, u := range [][2]string{
		{"inferences_per_s", "inferences/s"}, {"_per_s", "tokens/s"}, {"_time", "us"}, {"_us", "us"}, {"ttft", "us"},
		{"_per_token", "us/token"}, {"_tokens", "tokens"}, {"_cycles", "cycles"}, {"_size", "MB"},
	} {
		if strings.HasSuffix(name, u[0]) {
			return u[1]
		}
	}
	return "count"
}

// Value returns a metric's value, and whether ms contains the metric.
func Value(ms []Metric, name string) (float64, bool) {
	i := slices.IndexFunc(ms, func(m Metric) bool { return m.Name == name })
	if i < 0 {
		return 0, false
	}
	return ms[i].Value, true
}

// derive adds speeds that follow from times and tokens. It puts phases first, in a fixed order.
func derive(found []Metric) []Metric {
	for _, phase := range []string{"prefill", "decode"} {
		speed := phase + "_tokens_per_s"
		t, timed := Value(found, phase+"_time_us")
		n, counted := Value(found, phase+"_tokens")
		if _, ok := Value(found, speed); !ok && timed && counted && t > 0 && n > 0 {
			found = append(found, Metric{Name: speed, Value: n / t * 1e6, Unit: "tokens/s"})
		}
	}
	var rows []Metric
	for _, name := range []string{
		"prefill_time_us", "prefill_tokens", "prefill_tokens_per_s", "ttft_us",
		"decode_time_us", "decode_tokens", "decode_tokens_per_s", "total_time_us",
	} {
		if i := slices.IndexFunc(found, func(m Metric) bool { return m.Name == name }); i >= 0 {
			rows = append(rows, found[i])
			found = slices.Delete(found, i, i+1)
		}
	}
	return append(rows, found...)
}

// WithFacts adds facts that the program did not print, such as prefill_tokens. It also adds speeds computed from the
// facts.
func WithFacts(ms []Metric, facts map[string]float64) []Metric {
	ms = slices.Clone(ms)
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		if _, ok := Value(ms, name); !ok {
			ms = append(ms, Metric{Name: name, Value: facts[name], Unit: unitOf(name)})
		}
	}
	return derive(ms)
}
