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
	if r.Sandbox != "" {
		fmt.Fprintf(&b, "The sandbox of `hexmage`, as it comes: %s.\n", r.Sandbox)
	}
	b.WriteString("Times are medians of whole processes; ± is half the distance between the fastest and the slowest. Ratios are medians of pairs that ran next to each other.\n")
	if all := r.Budgets(); len(all) > 0 {
		b.WriteString("\n| budget | limit | measured | × isolated floor | × floor | |\n|---|---:|---:|---:|---:|---|\n")
		for _, x := range all {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", x.What, x.Limit, x.Got, over(x.Isolated), over(x.Floor), x.Verdict)
		}
	}
	for _, g := range r.Graphs {
		g.markdown(&b)
	}
	if r.Remote != nil {
		r.Remote.markdown(&b)
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

// scenarios are all, in the order of the report.
func scenarios() []Scenario {
	return []Scenario{Cold, NoOp, Changed, Back, Touched, Comment, Restored}
}

func (g *GraphResult) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n**%s**: %d actions\n\n", g.Name, g.Actions)
	tools := slices.DeleteFunc([]string{shipped, staged, ninja, ninjaDefault, samurai, maketool, isolated, floor}, func(tool string) bool { return g.Find(Cold, tool) == nil })
	head, row := "| |", "|---|"
	ratios := []struct {
		a, b, head string
		of         func(Sample) float64
	}{
		{shipped, ninja, "× ninja", wall}, {shipped, samurai, "× samurai", wall}, {shipped, maketool, "× make", wall}, {shipped, isolated, "× isolated", wall}, {shipped, floor, "× floor", wall},
		{staged, ninja, "staged × ninja", wall}, {shipped, ninja, "CPU × ninja", cpu},
	}
	for _, t := range tools {
		head, row = head+" "+t+" |", row+"---:|"
	}
	for _, x := range ratios {
		if g.Find(Cold, x.a) != nil && g.Find(Cold, x.b) != nil {
			head, row = head+" "+x.head+" |", row+"---:|"
		}
	}
	fmt.Fprintf(b, "%s\n%s\n", head, row)
	for _, s := range scenarios() {
		x := g.Find(s, shipped)
		if x == nil {
			continue
		}
		fmt.Fprintf(b, "| %s (%d) |", s, len(x.Samples))
		for _, t := range tools {
			fmt.Fprintf(b, " %s |", cell(g.Find(s, t), wall))
		}
		for _, x := range ratios {
			if g.Find(Cold, x.a) != nil && g.Find(Cold, x.b) != nil {
				text := "–"
				if v, ok := g.ratio(s, x.a, x.b, x.of); ok {
					text = fmt.Sprintf("%.2f", v)
				}
				fmt.Fprintf(b, " %s |", text)
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("\nPeak memory of hexmage:")
	sep := " "
	for _, s := range scenarios() {
		if x := g.Find(s, shipped); x != nil {
			fmt.Fprintf(b, "%s%s %s", sep, s, megabytes(slices.Max(x.values(rss))))
			sep = ", "
		}
	}
	b.WriteString(".\n")
	if x, y := g.Find(Cold, shipped), g.Find(NoOp, shipped); g.Large && y != nil {
		fmt.Fprintf(b, "With its children hexmage read %s and wrote %s in a cold build, and read %s in one that had nothing to do.\n",
			megabytes(median(x.values(read))), megabytes(median(x.values(written))), megabytes(median(y.values(read))))
	}
	if g.Syscalls != nil {
		fmt.Fprintf(b, "System calls of hexmage's own process for each action of a cold build: %.1f (%s, …), and those of Go's scheduler.\n", g.Syscalls.Total(), g.Syscalls.most(12))
	}
}

// ratio is one tool's number over another's, if both were measured.
func (g *GraphResult) ratio(s Scenario, a, b string, of func(Sample) float64) (float64, bool) {
	x, y := g.Find(s, a), g.Find(s, b)
	if x == nil || y == nil {
		return 0, false
	}
	all := ratios(x, y, of)
	return median(all), len(all) > 0
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
	Floor      float64 // hexmage's time over that of the floor; 0: there is nothing to compare with
	Isolated   float64 // and over that of the isolated floor
	Verdict    string
}

// What becomes of promises.
const (
	met        = "met"
	missed     = "**missed**"
	asFloor    = "missed, as the floor" // within nearFloor of it
	asIsolated = "missed, as the isolated floor"
	unmeasured = "not measured"
)

func budget(what string, got, limit float64, show func(float64) string) Budget {
	b := Budget{What: what, Limit: "≤ " + show(limit), Got: show(got), Verdict: missed}
	if got <= limit {
		b.Verdict = met
	}
	return b
}

// over writes a ratio to a floor.
func over(ratio float64) string {
	if ratio == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", ratio)
}

// Budgets are those promises that the report can say something of.
func (r *Report) Budgets() []Budget {
	var all []Budget
	for _, g := range r.Graphs {
		all = append(all, g.budgets()...)
	}
	if r.Remote != nil {
		all = append(all, r.Remote.budgets()...)
	}
	if w := r.Watch; w != nil {
		all = append(all, budget(w.Graph+" watched: from a save to the final output", median(w.Hexmage.values(wall)), watchLimit, seconds))
	}
	for _, e := range r.Examples {
		limit := startLimit
		if !strings.Contains(e.Name, "/") { // the main pipeline
			limit = mainLimit
		}
		all = append(all, budget("no-op of "+e.Name, median(e.NoOp.values(wall)), limit, seconds))
	}
	return all
}

func (g *GraphResult) budgets() []Budget {
	var all []Budget
	timed := func(s Scenario, b Budget) {
		b.What = fmt.Sprintf("%s, %s%s", g.Name, s, b.What)
		for _, f := range []struct {
			tool, verdict string
			ratio         *float64
		}{{isolated, asIsolated, &b.Isolated}, {floor, asFloor, &b.Floor}} {
			var ok bool
			if *f.ratio, ok = g.ratio(s, shipped, f.tool, wall); ok && b.Verdict != met && *f.ratio <= nearFloor {
				b.Verdict = f.verdict
			}
		}
		all = append(all, b)
	}
	for _, s := range scenarios() {
		if limit := g.Limits.Ninja[s]; limit > 0 {
			if v, ok := g.ratio(s, shipped, ninja, wall); ok {
				timed(s, budget(": hexmage / ninja", v, limit, times))
			}
		}
		if x, limit := g.Find(s, shipped), g.Limits.Time[s]; x != nil && limit > 0 {
			timed(s, budget("", median(x.values(wall)), limit, seconds))
		}
	}
	if x := g.Find(Restored, shipped); x != nil && g.Limits.Restore > 0 {
		b := budget("", median(x.values(wall)), g.Limits.Restore, seconds)
		b.Limit += fmt.Sprintf(", or %d × the floor", restoreLinks)
		if v, ok := g.ratio(Restored, shipped, floor, wall); ok && v <= restoreLinks {
			b.Verdict = met
		}
		timed(Restored, b)
	}
	for _, s := range scenarios() {
		if x, limit := g.Find(s, shipped), g.Limits.Memory[s]; x != nil && limit > 0 {
			all = append(all, budget(fmt.Sprintf("%s, %s: peak memory", g.Name, s), slices.Max(x.values(rss)), limit, megabytes))
		}
	}
	if limit := g.Limits.Syscalls; limit > 0 {
		b := budget(g.Name+", cold: system calls of hexmage's own process for each action", g.Syscalls.Total(), limit, count)
		if g.Syscalls == nil {
			b.Got, b.Verdict = "strace is missing", unmeasured
		}
		all = append(all, b)
	}
	problems := budget(g.Name+": wrong outputs, and actions run for nothing", float64(len(g.Problems)), 0, func(v float64) string { return fmt.Sprintf("%.0f", v) })
	return append(all, problems)
}

func count(v float64) string { return fmt.Sprintf("%.1f", v) }

func times(v float64) string { return fmt.Sprintf("%.2f ×", v) }

func megabytes(v float64) string { return fmt.Sprintf("%.1f MB", v/1e6) }
