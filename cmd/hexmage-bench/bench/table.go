package bench

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Markdown is the report for people, with the command that made it.
func (r *Report) Markdown(command string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Made by `%s` on %s: %s; %d jobs for every tool; %s.\n", command, r.Date.UTC().Format("2006-01-02"), r.Machine, r.Jobs, r.Compiler)
	b.WriteString("Times are medians of whole processes; ± is half the distance between the fastest and the slowest. Ratios are medians of pairs that ran next to each other.\n")
	if all := r.Budgets(); len(all) > 0 {
		b.WriteString("\n| budget | limit | measured | |\n|---|---:|---:|---|\n")
		for _, x := range all {
			mark := "met"
			if !x.Met {
				mark = "**missed**"
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", x.What, x.Limit, x.Got, mark)
		}
	}
	for _, g := range r.Graphs {
		g.markdown(&b)
	}
	if r.Large != nil {
		r.Large.markdown(&b)
	}
	if w := r.Watch; w != nil {
		fmt.Fprintf(&b, "\n| %s, from a save until the final output is another: %d saves | time |\n|---|---:|\n", w.Graph, len(w.Hexmage.Samples))
		fmt.Fprintf(&b, "| hexmage watch | %s |\n| entr, which starts ninja | %s |\n", cell(&w.Hexmage, wall), cell(&w.Entr, wall))
	}
	if len(r.Examples) > 0 {
		b.WriteString("\n| no-op of a pipeline | time |\n|---|---:|\n")
		for _, e := range r.Examples {
			fmt.Fprintf(&b, "| %s | %s |\n", e.Name, cell(&e.NoOp, wall))
		}
	}
	for _, p := range r.Problems() {
		fmt.Fprintf(&b, "\n**Wrong:** %s\n", p)
	}
	return b.String()
}

func (g *GraphResult) markdown(b *strings.Builder) {
	rounds := 0
	if s := g.Find(Cold, strict); s != nil {
		rounds = len(s.Samples)
	}
	fmt.Fprintf(b, "\n**%s**: %d actions, %d rounds\n\n", g.Graph.Name, len(g.Graph.Nodes), rounds)
	tools := []string{strict, staged, ninja, ninjaDefault, maketool, floor}
	fmt.Fprintf(b, "| | %s | hexmage / ninja | staged / ninja | hexmage / make | CPU: hexmage, staged / ninja |\n|---|%s\n", strings.Join(tools, " | "), strings.Repeat("---:|", len(tools)+4))
	for _, s := range []Scenario{Cold, NoOp, Changed, Back, Touched, Restored} {
		if g.Find(s, strict) == nil {
			continue
		}
		fmt.Fprintf(b, "| %s |", s)
		for _, t := range tools {
			fmt.Fprintf(b, " %s |", cell(g.Find(s, t), wall))
		}
		fmt.Fprintf(b, " %s | %s | %s | %s, %s |\n", g.ratio(s, strict, ninja, wall), g.ratio(s, staged, ninja, wall), g.ratio(s, strict, maketool, wall),
			g.ratio(s, strict, ninja, cpu), g.ratio(s, staged, ninja, cpu))
	}
	b.WriteString("\nPeak memory of hexmage:")
	for i, s := range []Scenario{Cold, NoOp, Changed, Restored} {
		if x := g.Find(s, strict); x != nil {
			if i > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(b, " %s %s", s, megabytes(median(x.values(rss))))
		}
	}
	b.WriteString(".\n")
}

func (g *GraphResult) ratio(s Scenario, a, b string, of func(Sample) float64) string {
	x, y := g.Find(s, a), g.Find(s, b)
	if x == nil || y == nil {
		return "–"
	}
	all := ratios(x, y, of)
	if len(all) == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", median(all))
}

func (l *LargeResult) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n**%d files of %d MB, each inverted bit by bit**: %d rounds\n\n| | time |\n|---|---:|\n", largeFiles, l.Size>>20, len(l.Hexmage.Samples))
	for _, row := range []struct {
		what string
		s    *Series
	}{
		{"a shell with `&`", &l.Plain},
		{"a shell with `&`, and `sync` of the outputs", &l.Synced},
		{"BLAKE3 of the inputs (the outputs take as long)", &l.Hash},
		{"hexmage", &l.Hexmage},
		{"hexmage again", &l.Again},
	} {
		fmt.Fprintf(b, "| %s | %s |\n", row.what, cell(row.s, wall))
	}
	fmt.Fprintf(b, "\nPeak memory of hexmage %s. With its children it read %s and wrote %s; again %s and %s.\n", megabytes(median(l.Hexmage.values(rss))),
		megabytes(median(l.Hexmage.values(read))), megabytes(median(l.Hexmage.values(written))),
		megabytes(median(l.Again.values(read))), megabytes(median(l.Again.values(written))))
}

func cell(s *Series, of func(Sample) float64) string {
	if s == nil || len(s.Samples) == 0 {
		return "–"
	}
	v := s.values(of)
	return fmt.Sprintf("%s ±%.0f %%", seconds(median(v)), 100*spread(v))
}

// Where a report goes in a document.
const (
	beginMark = "<!-- bench: generated, do not edit -->"
	endMark   = "<!-- end of bench -->"
)

var errNoMarks = errors.New("it has no lines " + beginMark + " and " + endMark)

// Insert puts a report between the marks of a document.
func Insert(doc []byte, report string) ([]byte, error) {
	before, rest, ok := bytes.Cut(doc, []byte(beginMark))
	_, after, ok2 := bytes.Cut(rest, []byte(endMark))
	if !ok || !ok2 {
		return nil, errNoMarks
	}
	return fmt.Appendf(nil, "%s%s\n\n%s\n%s%s", before, beginMark, report, endMark, after), nil
}

// Sample is one run of one program, from its start to its end.
type Sample struct {
	Wall   time.Duration
	CPU    time.Duration // of the program and of all it started
	MaxRSS int64         // bytes: the peak of the largest process among them

	Read, Written int64 // bytes that they read and wrote in all, from and to disk or memory; -1: not known
}

// Series are the samples of one tool in one scenario. The n-th sample was taken next to the n-th of the other tools.
type Series struct {
	Scenario Scenario
	Tool     string
	Samples  []Sample
}

func (s *Series) values(of func(Sample) float64) []float64 {
	all := make([]float64, len(s.Samples))
	for i, x := range s.Samples {
		all[i] = of(x)
	}
	return all
}

func wall(s Sample) float64    { return s.Wall.Seconds() }
func cpu(s Sample) float64     { return s.CPU.Seconds() }
func written(s Sample) float64 { return float64(s.Written) }
func read(s Sample) float64    { return float64(s.Read) }
func rss(s Sample) float64     { return float64(s.MaxRSS) }

// median returns the middle value, or the mean of the two in the middle. It is 0 of nothing.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// spread is how far apart the values are that a median is of: half the distance of the largest and the smallest, over
// the median.
func spread(v []float64) float64 {
	m := median(v)
	if m == 0 {
		return 0
	}
	return (slices.Max(v) - slices.Min(v)) / 2 / m
}

// ratios are of samples that were taken next to each other, so that what slows the machine down slows both.
func ratios(a, b *Series, of func(Sample) float64) []float64 {
	var all []float64
	for i := range min(len(a.Samples), len(b.Samples)) {
		if d := of(b.Samples[i]); d > 0 {
			all = append(all, of(a.Samples[i])/d)
		}
	}
	return all
}

// seconds writes a time so that three digits count.
func seconds(s float64) string {
	switch {
	case s >= 9.995:
		return fmt.Sprintf("%.1f s", s)
	case s >= 0.9995:
		return fmt.Sprintf("%.2f s", s)
	}
	return fmt.Sprintf("%.3g ms", s*1000)
}

// Budget is a promise and what became of it.
type Budget struct {
	What       string
	Limit, Got string
	Met        bool
}

// Budgets are those promises that the report can say something of.
func (r *Report) Budgets() []Budget {
	var all []Budget
	for _, g := range r.Graphs {
		all = append(all, g.budgets()...)
	}
	if l := r.Large; l != nil {
		all = append(all, budget(fmt.Sprintf("%d × %d MB transformed: 1.15 × a shell with `&` + hashing at the measured rate", largeFiles, l.Size>>20),
			median(l.Hexmage.values(wall)), l.Limit(), seconds))
		data := float64(largeFiles * l.Size)
		all = append(all, budget("… bytes written: the outputs, no copy", median(l.Hexmage.values(written)), data+smallRead, megabytes),
			budget("… bytes read: by the commands, and to hash inputs and outputs", median(l.Hexmage.values(read)), 3*data+smallRead, megabytes),
			budget("… the same again: bytes read, of all but hexmage's own files", slices.Max(l.Again.values(read)), smallRead, megabytes))
	}
	if w := r.Watch; w != nil {
		all = append(all, budget(w.Graph+" watched: from a save to the final output", median(w.Hexmage.values(wall)), 0.06, seconds))
	}
	for _, e := range r.Examples {
		if !strings.Contains(e.Name, "/") { // the main pipeline
			all = append(all, budget("no-op of "+e.Name, median(e.NoOp.values(wall)), 0.025, seconds))
		}
	}
	return all
}

func (g *GraphResult) budgets() []Budget {
	var all []Budget
	ratio := func(s Scenario, of string, limit float64) {
		a, b := g.Find(s, of), g.Find(s, ninja)
		if a != nil && b != nil {
			all = append(all, budget(fmt.Sprintf("%s, %s: %s / ninja", g.Graph.Name, s, of), median(ratios(a, b, wall)), limit, times))
		}
	}
	absolute := func(s Scenario, limit float64) {
		if a := g.Find(s, strict); a != nil {
			all = append(all, budget(fmt.Sprintf("%s, %s", g.Graph.Name, s), median(a.values(wall)), limit, seconds))
		}
	}
	switch g.Graph.Name {
	case Wide(1000).Name:
		ratio(Cold, staged, 1)
		ratio(Cold, strict, 1.25)
		absolute(Restored, 0.05)
	case Wide(10000).Name:
		ratio(Cold, staged, 1)
		ratio(Cold, strict, 1.25)
		ratio(NoOp, strict, 1)
		ratio(Changed, strict, 1)
		absolute(Restored, 0.4)
		peak := 0.0
		for _, s := range g.Series {
			if s.Tool == strict || s.Tool == staged {
				peak = max(peak, slices.Max(s.values(rss)))
			}
		}
		all = append(all, budget(g.Graph.Name+": peak memory of hexmage", peak, 120e6, megabytes))
	case Chain(500).Name:
		ratio(Cold, staged, 1)
	}
	if len(g.Problems) == 0 {
		all = append(all, Budget{g.Graph.Name + ": actions run when nothing changed, or was touched, changed back, removed", "0", "0", true})
	} else {
		all = append(all, Budget{g.Graph.Name + ": right outputs, and no action run for nothing", "0 problems", fmt.Sprintf("%d problems", len(g.Problems)), false})
	}
	return all
}

func budget(what string, got, limit float64, show func(float64) string) Budget {
	return Budget{What: what, Limit: "≤ " + show(limit), Got: show(got), Met: got <= limit}
}

func times(v float64) string { return fmt.Sprintf("%.2f ×", v) }

func megabytes(v float64) string { return fmt.Sprintf("%.1f MB", v/1e6) }
