package measure

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/ansi"
)

// Metric is one measured value.
type Metric struct {
	Name  string  `json:"name"` // "prefill_time_us", "decode_tokens_per_s", …
	Value float64 `json:"value"`
	Unit  string  `json:"unit"` // "us", "tokens/s", "tokens", …
}

// Better tells which way a unit is better: 1 when more is, -1 when less is, 0 for a mere count.
func Better(unit string) int {
	switch {
	case strings.HasSuffix(unit, "/s"):
		return 1
	case slices.Contains([]string{"us", "ms", "s", "bytes", "MB", "mW", "mA", "J", "cycles", "us/token"}, unit):
		return -1
	}
	return 0
}

// Pattern is a user's own: a regular expression (RE2) of a line whose first group is the value.
type Pattern struct {
	Name    string `arg:"name,label" json:"name"`
	Pattern string `arg:"pattern,required" json:"pattern"`
	Unit    string `arg:"unit,required" json:"unit"`
}

// Parser finds metrics in what runners print: the shipped formats, and patterns of the user.
type Parser struct {
	formats []format
	own     []ownFormat
}

type ownFormat struct {
	Pattern
	re *regexp.Regexp
}

// format is a line of a known runner. Each group names a quantity; the group NAME_unit, if there is one, its unit.
type format struct {
	words []byte // in each line that matches; a short cut
	re    *regexp.Regexp
}

// Bounds of what is read from a line.
const (
	maxMetricLine = 4 << 10
	maxOwnMetrics = 100
)

// NewParser returns a Parser that knows the given patterns beside the shipped ones. What they find comes before what those do.
func NewParser(own []Pattern) (*Parser, error) {
	if len(own) > maxOwnMetrics {
		return nil, fmt.Errorf("%d patterns of metrics are too many: at most %d", len(own), maxOwnMetrics)
	}
	p := &Parser{}
	for _, o := range own {
		re, err := regexp.Compile(o.Pattern)
		switch {
		case err != nil:
			return nil, fmt.Errorf("metric %q: %w", o.Name, err)
		case re.NumSubexp() == 0:
			return nil, fmt.Errorf("metric %q: pattern %q has no group: put parentheses around the number", o.Name, o.Pattern)
		}
		p.own = append(p.own, ownFormat{o, re})
	}
	for _, f := range knownFormats() {
		p.formats = append(p.formats, format{[]byte(f.words), regexp.MustCompile(strings.ReplaceAll(f.pattern, "NUM", `[0-9]+(?:\.[0-9]+)?`))})
	}
	return p, nil
}

// Parse returns the metrics of one run, each once: when a program prints one several times, the last counts. Times are in microseconds,
// whatever was printed.
func (p *Parser) Parse(stdout []byte) []Metric {
	var found []Metric
	for line := range bytes.Lines(stdout) {
		line = ansi.StripBytes(line[:min(len(line), maxMetricLine)])
		// Progress that was overwritten on a terminal stays on the line before a carriage return.
		line = bytes.TrimRight(line, "\r\n")
		line = line[bytes.LastIndexByte(line, '\r')+1:]
		taken := false
		for _, o := range p.own {
			if m := o.re.FindSubmatch(line); m != nil {
				found, taken = put(found, o.Name, string(m[1]), o.Unit), true
			}
		}
		for _, f := range p.formats {
			if taken || !bytes.Contains(line, f.words) {
				continue
			}
			if m := f.re.FindSubmatch(line); m != nil {
				found = f.values(found, m)
				break
			}
		}
	}
	return derive(found)
}

// values adds what the groups of a match say.
func (f format) values(found []Metric, m [][]byte) []Metric {
	for i, name := range f.re.SubexpNames() {
		if name == "" || m[i] == nil || strings.HasSuffix(name, "_unit") {
			continue
		}
		unit := unitOf(name)
		if j := f.re.SubexpIndex(name + "_unit"); j >= 0 {
			unit = string(m[j])
		}
		found = put(found, name, string(m[i]), unit)
	}
	return found
}

// unitOf is the unit that a quantity has where its line does not say.
func unitOf(name string) string {
	for _, u := range [][2]string{{"_per_s", "tokens/s"}, {"_time", "us"}, {"ttft", "us"}, {"_per_token", "us/token"}, {"_tokens", "tokens"}, {"_cycles", "cycles"}, {"_size", "MB"}} {
		if strings.HasSuffix(name, u[0]) {
			if name == "inferences_per_s" {
				return "inferences/s"
			}
			return u[1]
		}
	}
	return "count"
}

// put sets a metric. Times become microseconds, and their name says so.
func put(found []Metric, name, digits, unit string) []Metric {
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return found // too large for any measurement, or a user's group that holds no number
	}
	switch unit {
	case "us", "μs", "µs", "ms", "s", "sec":
		v *= map[string]float64{"ms": 1e3, "s": 1e6, "sec": 1e6, "us": 1, "μs": 1, "µs": 1}[unit]
		unit = "us"
		if !strings.HasSuffix(name, "_us") {
			name += "_us"
		}
	}
	m := Metric{Name: name, Value: v, Unit: unit}
	if i := slices.IndexFunc(found, func(o Metric) bool { return o.Name == name }); i >= 0 {
		found[i] = m
		return found
	}
	return append(found, m)
}

// Value returns the metric's value.
func Value(ms []Metric, name string) (float64, bool) {
	i := slices.IndexFunc(ms, func(m Metric) bool { return m.Name == name })
	if i < 0 {
		return 0, false
	}
	return ms[i].Value, true
}

// derive adds the speeds that follow from times and tokens, and puts all into a fixed order: phases first, then as they came.
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
	for _, name := range []string{"prefill_time_us", "prefill_tokens", "prefill_tokens_per_s", "ttft_us", "decode_time_us", "decode_tokens", "decode_tokens_per_s", "total_time_us"} {
		if i := slices.IndexFunc(found, func(m Metric) bool { return m.Name == name }); i >= 0 {
			rows = append(rows, found[i])
			found = slices.Delete(found, i, i+1)
		}
	}
	return append(rows, found...)
}

// WithFacts adds what is known of a run and was not printed, such as prefill_tokens, and what follows from it.
func WithFacts(ms []Metric, facts map[string]float64) []Metric {
	ms = slices.Clone(ms)
	for name, v := range facts {
		if _, ok := Value(ms, name); !ok {
			unit := unitOf(name)
			if strings.HasSuffix(name, "_us") {
				unit = "us"
			}
			ms = append(ms, Metric{Name: name, Value: v, Unit: unit})
		}
	}
	slices.SortStableFunc(ms, func(a, b Metric) int {
		_, x := facts[a.Name]
		_, y := facts[b.Name]
		switch {
		case x && y:
			return strings.Compare(a.Name, b.Name)
		case x:
			return 1
		case y:
			return -1
		}
		return 0
	})
	return derive(ms)
}

// knownFormat is a line that some runner prints. NUM stands for a number. Formats are tried in this order, and the first that matches a
// line counts; words is in each line that matches.
type knownFormat struct {
	runner  string // whose line it is
	words   string
	pattern string
}

// knownFormats are the shipped formats.
func knownFormats() []knownFormat {
	// The sign for micro is a Greek letter in some builds and the micro sign in others.
	timed := func(name string) string { return `(?P<` + name + `>NUM) ?(?P<` + name + `_unit>[μµu]s|ms|s|sec)` }
	return []knownFormat{
		// mllm, main branch: the block "Performance Summary", and what models on the processor print beyond it.
		{"mllm", "Prefill time", `^\s*Prefill time\s*:\s*` + timed("prefill_time") + `(?: \(\s*(?P<prefill_tokens_per_s>NUM) tokens/s\))?`},
		{"mllm", "Decode time", `^\s*Decode time\s*:\s*` + timed("decode_time") + `(?: \(\s*(?P<decode_tokens_per_s>NUM) tokens/s\))?`},
		{"mllm", "Total time", `^\s*Total time\s*:\s*` + timed("total_time")},
		{"mllm", "TTFT", `^\s*TTFT[^:]*:\s*` + timed("ttft")},
		{"mllm", "Prefill tokens", `^\s*Prefill tokens\s*:\s*(?P<prefill_tokens>[0-9]+)\s*$`},
		{"mllm", "Decode tokens", `^\s*Decode tokens\s*:\s*(?P<decode_tokens>[0-9]+)\s*$`},
		{"mllm", "Decode steps", `^\s*Decode steps\s*:\s*(?P<decode_steps>[0-9]+)\s*$`},
		{"mllm", "Avg decode time", `^\s*Avg decode time\s*:\s*(?P<decode_us_per_token>NUM) [μµu]s/token`},
		{"mllm", "num_tokens:", `(?:^|[ \]])num_tokens: (?P<prefill_tokens>[0-9]+)\s*$`},
		{"mllm", "Context binary file size", `Context binary file size: (?P<context_size>NUM) MB`},
		// mllm, branch v1 and before.
		{"mllm v1", "prefill time:", `(?:^|\s)prefill time: ?` + timed("prefill_time")},
		{"mllm v1", "decode time:", `(?:^|\s)decode time: ?` + timed("decode_time")},
		{"mllm v1", "Prefill:", `^\s*Prefill: ?` + timed("prefill_time") + `\s*$`},
		{"mllm v1", "vit embedding time", `(?:^|\s)vit embedding time: ?` + timed("vision_time")},
		{"mllm v1", "Load model:", `^\s*Load model: ?` + timed("load_time")},
		{"mllm v1", "Load time:", `^\s*Load time: ?` + timed("load_time")},
		{"mllm v1", "Prefilling speed", `^\s*Prefilling speed: ?(?P<prefill_tokens_per_s>NUM) tokens/s(?: ?, TTFT: ?` + timed("ttft") + `)?`},
		{"mllm v1", "Decoding speed", `^\s*Decoding speed: ?(?P<decode_tokens_per_s>NUM) tokens/s`},
		{"mllm v1", "real_seq_length", `real_seq_length: ?(?P<prefill_tokens>[0-9]+)\s*$`},
		// llama.cpp: llama_print_timings, llama_perf_context_print, and the server.
		{"llama.cpp", "prompt eval time =", `prompt eval time =\s*` + timed("prefill_time") + ` /\s*(?P<prefill_tokens>[0-9]+) tokens(?: \(\s*NUM ms per token,\s*(?P<prefill_tokens_per_s>NUM) tokens per second\))?`},
		{"llama.cpp", "eval time =", `(?:^|[:\s])eval time =\s*` + timed("decode_time") + ` /\s*(?P<decode_tokens>[0-9]+) (?:runs|tokens)\s*(?:\(\s*NUM ms per token,\s*(?P<decode_tokens_per_s>NUM) tokens per second\))?`},
		{"llama.cpp", "load time =", `(?:^|[:\s])load time =\s*` + timed("load_time")},
		{"llama.cpp", "total time =", `(?:^|[:\s])total time =\s*` + timed("total_time")},
		// genie-t2t-run: the block of KPIs.
		{"genie", "Init Time:", `^\s*Init Time: ?` + timed("init_time")},
		{"genie", "Prompt Processing Time", `Prompt Processing Time: ?` + timed("prefill_time") + `(?:, Prompt Processing Rate ?: ?(?P<prefill_tokens_per_s>NUM) tok)?`},
		{"genie", "Token Generation Time", `Token Generation Time: ?` + timed("decode_time") + `(?:, Token Generation Rate ?: ?(?P<decode_tokens_per_s>NUM) tok)?`},
		{"genie", "Time to First Token", `(?i)Time to First Token: ?` + timed("ttft")},
		// qnn-net-run, as qnn-profile-viewer shows its profile.
		{"qnn-net-run", "NetRun IPS", `NetRun IPS[^:]*: ?(?P<inferences_per_s>NUM) inf/s`},
		{"qnn-net-run", "NetRun:", `^\s*NetRun: ?` + timed("netrun_time")},
		{"qnn-net-run", "Accelerator (execute excluding wait) time", `Accelerator \(execute excluding wait\) time\)?: ?` + timed("accelerator_compute_time")},
		{"qnn-net-run", "QNN accelerator (execute) time", `QNN accelerator \(execute\) time\)?: ?` + timed("qnn_accelerator_time")},
		{"qnn-net-run", "Accelerator (execute) time (cycles)", `Accelerator \(execute\) time \(cycles\)\)?: ?(?P<accelerator_cycles>[0-9]+) cycles`},
		{"qnn-net-run", "Accelerator (execute) time", `Accelerator \(execute\) time\)?: ?` + timed("accelerator_time")},
		{"qnn-net-run", "RPC (execute) time", `RPC \(execute\) time\)?: ?` + timed("rpc_time")},
		{"qnn-net-run", "QNN (execute) time", `QNN \(execute\) time\)?: ?` + timed("qnn_time")},
		{"qnn-net-run", "Number of HVX threads used", `Number of HVX threads used\)?: ?(?P<hvx_threads>[0-9]+)`},
	}
}
