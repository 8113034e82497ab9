package runtool

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/hexmage/hexmage/runner"
)

// Spec says what the tool metrics looks for beside what it knows, and what it compares with.
type Spec struct {
	Patterns  []runner.Pattern   `json:"patterns,omitempty"`
	Facts     map[string]float64 `json:"facts,omitempty"` // metrics that are known and not printed, such as prefill_tokens
	Baselines []runner.Baseline  `json:"baselines,omitempty"`
	Limits    []runner.Limit     `json:"limits,omitempty"`
	Tolerance float64            `json:"tolerance,omitempty"` // 0: runner.DefaultTolerance
}

// list is a flag that may be given several times.
type list []string

// String implements flag.Value.
func (l *list) String() string { return strings.Join(*l, " ") }

// Set implements flag.Value.
func (l *list) Set(s string) error {
	if s == "" {
		return errors.New("an empty name")
	}
	*l = append(*l, s)
	return nil
}

// table is what a report shows of a run: report.Table, as this tool writes it, and for programs what the rows are made of.
type table struct {
	Title       string              `json:"title"`
	Profile     string              `json:"profile"`
	Note        string              `json:"note,omitempty"`
	Rows        []row               `json:"rows"`
	Stats       []runner.Stat       `json:"stats,omitempty"` // when there are several repetitions
	Comparisons []runner.Comparison `json:"comparisons,omitempty"`

	breaches []string // of limits
}

type row struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	Value any    `json:"value"`
	Unit  string `json:"unit,omitempty"`
}

// label spells a metric's name for people: "prefill_tokens_per_s" is "prefill speed".
func label(name string) string {
	for _, s := range [][2]string{{"_tokens_per_s", " speed"}, {"_time_us", " time"}, {"_us", ""}} {
		if phase, ok := strings.CutSuffix(name, s[0]); ok {
			return strings.ReplaceAll(phase, "_", " ") + s[1]
		}
	}
	return strings.ReplaceAll(name, "_", " ")
}

// Previous is the name of the baseline that an earlier run is.
const Previous = "previous"

// previous makes a baseline of what this tool wrote for an earlier run. It is for runs of the same profile.
func previous(file string) (runner.Baseline, error) {
	b, err := readFile(file)
	if err != nil {
		return runner.Baseline{}, err
	}
	var old table
	if err := json.Unmarshal(b, &old); err != nil {
		return runner.Baseline{}, fmt.Errorf("%s: %w", file, err)
	}
	out := runner.Baseline{Name: Previous, Source: file, Profile: old.Profile}
	for _, r := range old.Rows {
		if v, ok := r.Value.(float64); ok && runner.Better(r.Unit) != 0 {
			row := runner.BaselineRow{Metric: r.Name, Value: v}
			for _, s := range old.Stats {
				if s.Name == r.Name {
					row.Spread = s.Spread
				}
			}
			out.Rows = append(out.Rows, row)
		}
	}
	return out, nil
}

// measure reads what the repetitions printed and fills the table.
func (t *table) measure(stdout []string, warmup int, specFile, before string) error {
	spec := Spec{}
	if specFile != "" {
		b, err := readFile(specFile)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(b, &spec); err != nil {
			return fmt.Errorf("%s: %w", specFile, err)
		}
	}
	if before != "" {
		b, err := previous(before)
		if err != nil {
			return err
		}
		spec.Baselines = append(spec.Baselines, b)
	}
	p, err := runner.NewParser(spec.Patterns)
	if err != nil {
		return err
	}
	var runs [][]runner.Metric
	printed := false
	for _, name := range stdout {
		b, err := readFile(name)
		if err != nil {
			return err
		}
		found := p.Parse(b)
		printed = printed || len(found) > 0
		if len(found) > 0 {
			found = runner.WithFacts(found, spec.Facts)
		}
		runs = append(runs, found)
	}
	stats, err := runner.Summarize(runs, warmup)
	if err != nil {
		return err
	}
	t.Rows = []row{}
	for _, s := range stats {
		t.Rows = append(t.Rows, row{s.Name, label(s.Name), rounded(s.Value), s.Unit})
		if s.N > 1 && s.Min < s.Max {
			t.Rows = append(t.Rows, row{Name: s.Name + "_spread", Label: fmt.Sprintf("  spread of %d", s.N),
				Value: fmt.Sprintf("± %s (%s … %s)", short(s.Spread), short(s.Min), short(s.Max)), Unit: s.Unit})
		}
	}
	if len(stdout)-warmup > 1 {
		t.Stats = stats
	}
	t.compare(stats, spec)
	switch {
	case !printed:
		t.Note = "The runner printed no performance summary."
	case t.Profile == "open":
		t.Note = "Measured on the emulated phone of the open stand-in, under qemu: not a phone's speed."
	}
	return nil
}

// compare sets what was measured beside the baselines that are for such a run, and checks the limits. Runs of the open stand-in are no
// phone's: only baselines that name the profile are theirs, and limits against others are not checked.
func (t *table) compare(stats []runner.Stat, spec Spec) {
	tolerance := spec.Tolerance
	if tolerance == 0 {
		tolerance = runner.DefaultTolerance
	}
	mine := map[string]bool{}
	for _, b := range spec.Baselines {
		if mine[b.Name] = b.Profile == t.Profile || b.Profile == "" && t.Profile != "open"; !mine[b.Name] {
			continue
		}
		for _, c := range runner.Compare(stats, b, tolerance) {
			t.Comparisons = append(t.Comparisons, c)
			t.Rows = append(t.Rows, row{Name: c.Metric + "_vs_" + b.Name, Label: "  " + label(c.Metric) + ", " + b.Name,
				Value: fmt.Sprintf("%s: %.2f of %s", c.Verdict, c.Ratio, short(c.Base)), Unit: c.Unit})
		}
	}
	var limits []runner.Limit
	for _, l := range spec.Limits {
		if l.Baseline == "" || mine[l.Baseline] {
			limits = append(limits, l)
		}
	}
	t.breaches = runner.Check(stats, t.Comparisons, limits)
}

// rounded drops digits that nobody measured.
func rounded(v float64) float64 {
	if math.Abs(v) >= 1e9 {
		return v
	}
	return math.Round(v*1e4) / 1e4
}

// short is a number for people.
func short(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 || math.Abs(v) >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
