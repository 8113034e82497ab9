package measure

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/runner/session"
)

// Spec is the input of the metrics tool: runs to read, patterns to find, and values for comparison.
type Spec struct {
	Title     string     `json:"title,omitempty"` // title of the table
	Profile   string     `json:"profile,omitempty"`
	Patterns  []Pattern  `block:"metric" json:"patterns,omitempty"` // patterns of the step and its workspace
	Known     []Pattern  `json:"known,omitempty"`                   // the shipped patterns
	Baselines []Baseline `block:"baseline" json:"baselines,omitempty"`
	Limits    []Limit    `block:"limit" json:"limits,omitempty"`
	Tolerance float64    `arg:"tolerance" range:"0..1" json:"tolerance,omitempty"` // 0: DefaultTolerance
	Columns   []string   `arg:"columns" json:"columns,omitempty"`                  // of the grid; none: see choose
	Axes      []string   `json:"axes,omitempty"`                                   // of the variants; none: one variant
	Titled    bool       `json:"titled,omitempty"`                                 // whether to label variants by name
	Runs      []Run      `json:"runs"`
	Previous  string     `json:"previous,omitempty"` // table of an earlier run
	Printed   string     `json:"printed,omitempty"`  // output file: output of all runs
	Out       string     `json:"out"`                // output file: the table
	Measured  string     `json:"measured,omitempty"` // output file: values for pipelines
}

// better returns the direction that a block sets for the metric.
func (s Spec) better(metric string) string {
	for _, p := range slices.Concat(s.Patterns, s.Known) {
		if p.Better != "" && p.metric() == metric {
			return p.Better
		}
	}
	return ""
}

// Run describes a run and the files with its measurements.
type Run struct {
	Variant    map[string]string  `json:"variant,omitempty"` // value of each axis
	Name       string             `json:"name,omitempty"`    // name of the variant, for people
	Repetition int                `json:"repetition"`
	Stdout     string             `json:"stdout"`
	Record     string             `json:"record,omitempty"`  // path of a session.Record
	Phone      string             `json:"phone,omitempty"`   // path of a session.Phone, for a run without a record
	Samples    string             `json:"samples,omitempty"` // path of a sample.File
	Facts      map[string]float64 `json:"facts,omitempty"`
	Tokens     string             `json:"tokens,omitempty"` // tokens of the run, to compare with Expect
	Expect     string             `json:"expect,omitempty"`
}

// String returns a name for messages, such as "seq=64 #2".
func (r Run) String() string {
	return strings.TrimPrefix(fmt.Sprintf("%s #%d", r.Name, r.Repetition), " ")
}

// table is a report.Table, and the values behind its rows for programs.
type table struct {
	Title       string       `json:"title"`
	Profile     string       `json:"profile"`
	Simulated   bool         `json:"simulated,omitempty"` // at least one run was on a simulated phone
	Note        string       `json:"note,omitempty"`
	Rows        []row        `json:"rows"`
	Columns     []column     `json:"columns,omitempty"` // of the lines: one for each variant
	Lines       [][]string   `json:"lines,omitempty"`
	Stats       []Stat       `json:"stats,omitempty"` // of several runs of the only variant
	Comparisons []Comparison `json:"comparisons,omitempty"`
	Variants    []*Variant   `json:"variants,omitempty"` // each value of runs with a record
	Warnings    []string     `json:"warnings,omitempty"`

	breaches []string // of limits
	measured any      // for pipelines: metrics by name, or by variant and name
}

type column struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	Unit  string `json:"unit,omitempty"`
}

// Variant holds the measurements of one combination of the axes' values.
type Variant struct {
	Variant     map[string]string `json:"variant,omitempty"`
	Name        string            `json:"name,omitempty"`
	Stats       []Stat            `json:"stats"`
	Comparisons []Comparison      `json:"comparisons,omitempty"`
	Runs        []ran             `json:"runs"`
}

// ran is one run.
type ran struct {
	Repetition int             `json:"repetition"`
	Record     *session.Record `json:"record,omitempty"`
	Metrics    []Metric        `json:"metrics"`

	spoke     bool   // the program printed metrics
	note      string // problem of its samples
	simulated bool   // it ran on a simulated phone
}

type row struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	Value any    `json:"value"`
	Unit  string `json:"unit,omitempty"`
}

// label returns a readable name of a metric: "prefill speed" for "prefill_tokens_per_s".
func label(name string) string {
	if l, ok := sampleLabel(name); ok {
		return l
	}
	for _, s := range [][2]string{{"_tokens_per_s", " speed"}, {"_time_us", " time"}, {"_us", ""}} {
		if phase, ok := strings.CutSuffix(name, s[0]); ok {
			return strings.ReplaceAll(phase, "_", " ") + s[1]
		}
	}
	return strings.ReplaceAll(name, "_", " ")
}

// Previous is the name of the baseline that contains an earlier run's values.
const Previous = "previous"

// previous makes a baseline of the table of an earlier run, for runs of the same profile.
func previous(file string, old *table, of *Variant) Baseline {
	b := Baseline{Name: Previous, Source: file, Profile: old.Profile}
	b.Simulated = old.Simulated || old.Profile == simulatedProfile
	var stats []Stat
	if len(of.Variant) == 0 {
		stats = old.Stats
		for _, r := range old.Rows {
			if v, ok := r.Value.(float64); ok && stat(stats, r.Name) == nil {
				stats = append(stats, Stat{Metric: Metric{Name: r.Name, Value: v}})
			}
		}
	}
	for _, v := range old.Variants {
		if maps.Equal(v.Variant, of.Variant) {
			stats = v.Stats
		}
	}
	for _, s := range stats {
		if now := stat(of.Stats, s.Name); now != nil && now.way() != 0 {
			b.Rows = append(b.Rows, BaselineRow{Metric: s.Name, Value: s.Value, Spread: s.Spread})
		}
	}
	return b
}

// measure reads the runs and fills the table.
func (t *table) measure(spec Spec) error {
	all, err := readRuns(spec)
	if err != nil {
		return err
	}
	t.Rows = []row{}
	t.Simulated = t.Profile == simulatedProfile || slices.ContainsFunc(all, func(v *Variant) bool {
		return slices.ContainsFunc(v.Runs, func(r ran) bool { return r.simulated })
	})
	var old *table
	if spec.Previous != "" {
		if old, err = readJSON[table](spec.Previous); err != nil {
			return err
		}
	}
	silent := true
	applied := map[string]bool{"": true}
	for _, v := range all {
		var runs [][]Metric
		for _, r := range v.Runs {
			runs = append(runs, r.Metrics)
			silent = silent && !r.spoke
		}
		v.Stats = Summarize(runs)
		for i := range v.Stats {
			v.Stats[i].Better = spec.better(v.Stats[i].Name)
		}
		baselines := slices.Clone(spec.Baselines)
		if old != nil {
			baselines = append(baselines, previous(spec.Previous, old, v))
		}
		for _, b := range baselines {
			if t.applies(b) {
				applied[b.Name] = true
				tolerance := cmp.Or(spec.Tolerance, DefaultTolerance)
				v.Comparisons = append(v.Comparisons, Compare(v.Stats, b, tolerance)...)
			}
		}
	}
	t.measured = numbers(all, spec)
	t.show(all, spec)
	// A limit against a baseline of other runs does not apply.
	limits := slices.DeleteFunc(slices.Clone(spec.Limits), func(l Limit) bool { return !applied[l.Baseline] })
	t.breaches = Check(all, limits)
	t.note(silent)
	return nil
}

// Number is the value of a metric, in a form that a pipeline can use.
type Number struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	Spread float64 `json:"spread"`
	Runs   int     `json:"runs"` // number of runs with the metric
	Unit   string  `json:"unit"`
}

// numbers returns the metrics by name, or with axes by variant ("model=a,seq=64") and name.
func numbers(all []*Variant, spec Spec) any {
	variants := make(map[string]map[string]Number, len(all))
	for _, v := range all {
		var key []string
		for _, a := range slices.Sorted(maps.Keys(v.Variant)) {
			key = append(key, a+"="+v.Variant[a])
		}
		by := make(map[string]Number, len(v.Stats))
		for _, s := range v.Stats {
			by[s.Name] = Number{
				Median: rounded(s.Value), Min: rounded(s.Min), Max: rounded(s.Max), Spread: rounded(s.Spread),
				Runs: s.N, Unit: s.Unit,
			}
		}
		if len(spec.Axes) == 0 {
			return by
		}
		variants[strings.Join(key, ",")] = by
	}
	return variants
}

// simulatedProfile is the profile whose device is always simulated.
const simulatedProfile = "simulated"

// applies reports whether a baseline is for the runs. hexmage never compares a simulated phone's numbers with a
// phone's.
func (t *table) applies(b Baseline) bool {
	if simulated := b.Simulated || b.Profile == simulatedProfile; simulated != t.Simulated {
		return false
	}
	return b.Profile == t.Profile || b.Profile == "" || t.Simulated
}

// rounded drops meaningless digits.
func rounded(v float64) float64 {
	if math.Abs(v) >= 1e9 {
		return v
	}
	return math.Round(v*1e4) / 1e4
}

// short formats a number for tables.
func short(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 || math.Abs(v) >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
