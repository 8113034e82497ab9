package measure

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/runner/sample"
	"github.com/hexmage/hexmage/runner/session"
	"github.com/hexmage/hexmage/runner/thermal"
)

// Metrics of a run's record.
const (
	runTime    = "run_time_us"
	heatBefore = "temperature_before"
	heatAfter  = "temperature_after"
)

// readRuns reads the runs and groups them by variant, in the order of each variant's first run. It also writes their
// output to the file Printed, if that has a name.
func readRuns(spec Spec) (all []*Variant, err error) {
	p, err := NewParser(spec.Patterns, spec.Known)
	if err != nil {
		return nil, err
	}
	var to io.Writer = io.Discard
	if spec.Printed != "" {
		f, err := os.Create(spec.Printed)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		to = f
	}
	for _, r := range spec.Runs {
		b, err := boundedfile.Read(r.Stdout, maxFile)
		if err != nil {
			return nil, err
		}
		if _, err := fmt.Fprintf(to, "==> %s <==\n%s\n", r, b); err != nil {
			return nil, err
		}
		one := ran{Repetition: r.Repetition, Metrics: p.Parse(b)}
		if one.spoke = len(one.Metrics) > 0; one.spoke || r.Record != "" {
			one.Metrics = WithFacts(one.Metrics, r.Facts)
		}
		if r.Record != "" {
			if one.Record, err = readJSON[session.Record](r.Record); err != nil {
				return nil, err
			}
			one.Metrics, one.simulated = append(one.Metrics, recorded(one.Record)...), one.Record.Simulated
		}
		if r.Phone != "" {
			phone, err := readJSON[session.Phone](r.Phone)
			if err != nil {
				return nil, err
			}
			one.simulated = phone.Simulated
		}
		if r.Samples != "" {
			b, err := boundedfile.Read(r.Samples, maxFile)
			if err != nil {
				return nil, err
			}
			summary, note, err := sample.ReadJSON(b)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.Samples, err)
			}
			for _, v := range summary {
				one.Metrics = append(one.Metrics, Metric(v))
			}
			one.note = note
		}
		i := slices.IndexFunc(all, func(v *Variant) bool { return maps.Equal(v.Variant, r.Variant) })
		if i < 0 {
			i = len(all)
			all = append(all, &Variant{Variant: r.Variant, Name: r.Name})
		}
		all[i].Runs = append(all[i].Runs, one)
	}
	return all, nil
}

func readJSON[T any](file string) (*T, error) {
	b, err := boundedfile.Read(file, maxFile)
	if err != nil {
		return nil, err
	}
	var v T
	if err := json.Unmarshal(b, &v); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return &v, nil
}

// recorded returns the metrics of a record.
func recorded(r *session.Record) []Metric {
	out := []Metric{{Name: runTime, Value: float64(r.DurationUS), Unit: "us"}}
	for _, h := range []struct {
		name string
		all  []thermal.Reading
	}{{heatBefore, r.Before}, {heatAfter, r.After}} {
		if t, ok := thermal.Hottest(h.all); ok {
			out = append(out, Metric{Name: h.name, Value: t.Celsius, Unit: "°C"})
		}
	}
	return out
}

// show fills the part of the table that people read.
func (t *table) show(all []*Variant, spec Spec) {
	records := false
	for _, v := range all {
		for _, r := range v.Runs {
			records = records || r.Record != nil
			t.warnOnce(r.note)
			if r.Record != nil && r.Record.Cooldown != nil && r.Record.Cooldown.Warning != "" {
				run := Run{Name: v.Name, Repetition: r.Repetition}
				warning := fmt.Sprintf("%s on %s: %s", run, r.Record.Phone(), r.Record.Cooldown.Warning)
				t.Warnings = append(t.Warnings, warning)
			}
		}
	}
	if records {
		t.Variants = all
	}
	if len(spec.Axes) > 0 {
		t.grid(all, spec)
		for _, v := range all {
			for _, c := range v.Comparisons {
				t.compared(c, v.Name+": ")
			}
		}
		return
	}
	v := all[0]
	for _, s := range v.Stats {
		t.Rows = append(t.Rows, row{s.Name, label(s.Name), rounded(s.Value), s.Unit})
		if s.N > 1 && s.Min < s.Max {
			t.Rows = append(t.Rows, row{Name: s.Name + "_spread", Label: fmt.Sprintf("  spread of %d", s.N),
				Value: fmt.Sprintf("± %s (%s … %s)", short(s.Spread), short(s.Min), short(s.Max)), Unit: s.Unit})
		}
	}
	if len(spec.Runs) > 1 {
		t.Stats = v.Stats
	}
	t.Comparisons = v.Comparisons
	for _, c := range v.Comparisons {
		t.compared(c, "  ")
	}
	if p := phones(v); p != "" {
		t.Rows = append(t.Rows, row{Name: "phone", Label: "phone", Value: p})
	}
}

func (t *table) compared(c Comparison, before string) {
	t.Rows = append(t.Rows, row{
		Name: c.Metric + "_vs_" + c.Baseline, Label: before + label(c.Metric) + ", " + c.Baseline,
		Value: fmt.Sprintf("%s: %.2f of %s", c.Verdict, c.Ratio, short(c.Base)), Unit: c.Unit,
	})
}

// grid makes a line for each variant: its values, the chosen metrics and its phones.
func (t *table) grid(all []*Variant, spec Spec) {
	if spec.Titled {
		t.Columns = append(t.Columns, column{Name: "variant", Label: "variant"})
	} else {
		for _, a := range spec.Axes {
			t.Columns = append(t.Columns, column{Name: a, Label: a})
		}
	}
	names := spec.Columns
	if len(names) == 0 {
		names = choose(all, spec)
	}
	for _, n := range names {
		c := column{Name: n, Label: label(n)}
		for _, v := range all {
			if s := stat(v.Stats, n); s != nil {
				c.Unit = s.Unit
			}
		}
		t.Columns = append(t.Columns, c)
	}
	t.Columns = append(t.Columns, column{Name: "n", Label: "runs"}, column{Name: "phone", Label: "phone"})
	for _, v := range all {
		var line []string
		if spec.Titled {
			line = append(line, v.Name)
		} else {
			for _, a := range spec.Axes {
				line = append(line, v.Variant[a])
			}
		}
		for _, n := range names {
			line = append(line, value(stat(v.Stats, n)))
		}
		t.Lines = append(t.Lines, append(line, fmt.Sprint(len(v.Runs)), phones(v)))
	}
}

// value returns a median with its spread, or "–".
func value(s *Stat) string {
	switch {
	case s == nil:
		return "–"
	case s.N > 1 && s.Min < s.Max:
		return short(s.Value) + " ± " + short(s.Spread)
	}
	return short(s.Value)
}

// maxColumns is the number of metrics in a table without chosen columns.
const maxColumns = 4

// choose returns the most important metrics: speeds, then own patterns, then times.
func choose(all []*Variant, spec Spec) []string {
	var have []string
	for _, v := range all {
		for _, s := range v.Stats {
			if !slices.Contains(have, s.Name) {
				have = append(have, s.Name)
			}
		}
	}
	want := []string{"prefill_tokens_per_s", "decode_tokens_per_s", "ttft_us", "inferences_per_s"}
	for _, p := range spec.Patterns {
		want = append(want, p.metric())
	}
	for _, phase := range []string{"prefill", "decode"} {
		if !slices.Contains(have, phase+"_tokens_per_s") { // else the time adds nothing
			want = append(want, phase+"_time_us")
		}
	}
	want = append(want, "total_time_us", "netrun_time_us", "accelerator_time_us", "load_time_us")
	var out []string
	for _, n := range want {
		if slices.Contains(have, n) && len(out) < maxColumns && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	if len(out) == 0 && slices.Contains(have, runTime) {
		out = []string{runTime}
	}
	return out
}

// phones names the phones of a variant.
func phones(v *Variant) string {
	var all []string
	for _, r := range v.Runs {
		if r.Record != nil && !slices.Contains(all, r.Record.Phone()) {
			all = append(all, r.Record.Phone())
		}
	}
	if len(all) > 2 {
		return fmt.Sprintf("%d phones", len(all))
	}
	return strings.Join(all, " ")
}

// note adds the limits of the table's values to its note.
func (t *table) note(silent bool) {
	var notes []string
	if silent {
		notes = append(notes, "The runner printed no performance summary.")
	}
	if t.Simulated && len(t.Rows)+len(t.Lines) > 0 {
		notes = append(notes, "Measured on the simulated phone, under qemu: not a phone's speed, memory or heat.")
	}
	const most = 3
	for _, w := range t.Warnings[:min(len(t.Warnings), most)] {
		notes = append(notes, "Warning: "+w)
	}
	if n := len(t.Warnings) - most; n > 0 {
		notes = append(notes, fmt.Sprintf("The file has %d more warnings of this kind.", n))
	}
	t.Note = strings.Join(notes, "\n")
}
