package measure

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/runner/sample"
	"github.com/hexmage/hexmage/runner/session"
)

// Spec says what runs to read, what to look for beside what is known, and what to compare with.
type Spec struct {
	Title     string     `json:"title,omitempty"` // of the table
	Profile   string     `json:"profile,omitempty"`
	Patterns  []Pattern  `block:"metric" json:"patterns,omitempty"` // of the step and its workspace
	Known     []Pattern  `json:"known,omitempty"`                   // of everybody: what known runners print
	Baselines []Baseline `block:"baseline" json:"baselines,omitempty"`
	Limits    []Limit    `block:"limit" json:"limits,omitempty"`
	Tolerance float64    `arg:"tolerance" range:"0..1" json:"tolerance,omitempty"` // 0: DefaultTolerance
	Columns   []string   `arg:"columns" json:"columns,omitempty"`                  // metrics that the table of several variants shows; none: those that matter most
	Axes      []string   `json:"axes,omitempty"`                                   // of the variants; none: there is one
	Titled    bool       `json:"titled,omitempty"`                                 // runs have names that say more than the values of their axes
	Runs      []Run      `json:"runs"`
	Previous  string     `json:"previous,omitempty"` // what this tool wrote for an earlier run
	Printed   string     `json:"printed,omitempty"`  // file to write what all runs printed to
	Out       string     `json:"out"`                // file to write
	Measured  string     `json:"measured,omitempty"` // file to write what pipelines read of it to
	Plot      string     `json:"plot,omitempty"`     // file to draw the samples to, as SVG
}

// better is what the blocks of a metric say of which way is better.
func (s Spec) better(metric string) string {
	for _, p := range slices.Concat(s.Patterns, s.Known) {
		if p.Better != "" && p.metric() == metric {
			return p.Better
		}
	}
	return ""
}

// Run is a run to read, with the files that are of it.
type Run struct {
	Variant    map[string]string  `json:"variant,omitempty"` // value by axis
	Name       string             `json:"name,omitempty"`    // of the variant, for people
	Repetition int                `json:"repetition"`
	Stdout     string             `json:"stdout"`
	Record     string             `json:"record,omitempty"`  // a session.Record
	Phone      string             `json:"phone,omitempty"`   // a session.Phone, where there is no record
	Samples    string             `json:"samples,omitempty"` // a sample.Series
	Facts      map[string]float64 `json:"facts,omitempty"`
	Tokens     string             `json:"tokens,omitempty"` // with Expect
	Expect     string             `json:"expect,omitempty"`
}

// String names the run for people: "seq=64 #2".
func (r Run) String() string {
	return strings.TrimPrefix(fmt.Sprintf("%s #%d", r.Name, r.Repetition), " ")
}

// table is what a report shows of a run: report.Table, as this tool writes it, and for programs what the rows are made
// of.
type table struct {
	Title       string       `json:"title"`
	Profile     string       `json:"profile"`
	Simulated   bool         `json:"simulated,omitempty"` // at least one run was on a simulated phone
	Note        string       `json:"note,omitempty"`
	Rows        []row        `json:"rows"`
	Columns     []column     `json:"columns,omitempty"` // of the lines, one a variant
	Lines       [][]string   `json:"lines,omitempty"`
	Stats       []Stat       `json:"stats,omitempty"` // of several runs of the only variant
	Comparisons []Comparison `json:"comparisons,omitempty"`
	Variants    []*variant   `json:"variants,omitempty"` // every single value, of runs with a record
	Warnings    []string     `json:"warnings,omitempty"`

	breaches []string // of limits
	courses  []course // to be drawn
	undrawn  int      // runs that are not
	measured any      // what pipelines read: metrics by name, or those by variant
}

type column struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	Unit  string `json:"unit,omitempty"`
}

// variant is what was measured of one combination of the axes' values.
type variant struct {
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

	sampled   bool
	note      string         // what is wrong with its samples
	series    *sample.Series // them, of as many runs as are drawn
	simulated bool           // the phone was
}

type row struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	Value any    `json:"value"`
	Unit  string `json:"unit,omitempty"`
}

// label spells a metric's name for people: "prefill_tokens_per_s" is "prefill speed".
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

// Previous is the name of the baseline that an earlier run is.
const Previous = "previous"

// previous makes a baseline of the table of an earlier run, for runs of the same profile.
func previous(file string, old *table, of *variant) Baseline {
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
	t.Simulated = t.Profile == simulatedProfile || slices.ContainsFunc(all, func(v *variant) bool {
		return slices.ContainsFunc(v.Runs, func(r ran) bool { return r.simulated })
	})
	var old *table
	if spec.Previous != "" {
		if old, err = readJSON[table](spec.Previous); err != nil {
			return err
		}
	}
	silent := true
	var measured []Measured
	applied := map[string]bool{"": true}
	for _, v := range all {
		var runs [][]Metric
		for _, r := range v.Runs {
			runs = append(runs, r.Metrics)
			silent = silent && !r.spoke(spec)
			switch {
			case r.series != nil:
				t.courses = append(t.courses, course{Run{Name: v.Name, Repetition: r.Repetition}.String(), *r.series})
			case r.sampled:
				t.undrawn++
			}
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
		measured = append(measured, Measured{Name: v.Name, Stats: v.Stats, Comparisons: v.Comparisons})
	}
	t.measured = numbers(all, spec)
	t.show(all, spec)
	// Limits against baselines of other runs are not checked.
	limits := slices.DeleteFunc(slices.Clone(spec.Limits), func(l Limit) bool { return !applied[l.Baseline] })
	t.breaches = Check(measured, limits)
	t.note(silent)
	return nil
}

// Number is a metric as pipelines read it.
type Number struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	Spread float64 `json:"spread"`
	Runs   int     `json:"runs"` // that have it
	Unit   string  `json:"unit"`
}

// numbers are the metrics by name; of several variants those of each by its values, such as "model=a,seq=64".
func numbers(all []*variant, spec Spec) any {
	variants := make(map[string]map[string]Number, len(all))
	for _, v := range all {
		var key []string
		for _, a := range slices.Sorted(maps.Keys(v.Variant)) {
			key = append(key, a+"="+v.Variant[a])
		}
		by := make(map[string]Number, len(v.Stats))
		for _, s := range v.Stats {
			by[s.Name] = Number{Median: rounded(s.Value), Min: rounded(s.Min), Max: rounded(s.Max), Spread: rounded(s.Spread), Runs: s.N, Unit: s.Unit}
		}
		if len(spec.Axes) == 0 {
			return by
		}
		variants[strings.Join(key, ",")] = by
	}
	return variants
}

// simulatedProfile is the profile whose device is always a simulated one.
const simulatedProfile = "simulated"

// applies tells whether a baseline is for the runs. A simulated phone's numbers are never set beside a phone's,
// whatever the profile.
func (t *table) applies(b Baseline) bool {
	if simulated := b.Simulated || b.Profile == simulatedProfile; simulated != t.Simulated {
		return false
	}
	return b.Profile == t.Profile || b.Profile == "" || t.Simulated
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
