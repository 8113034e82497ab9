package bench

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
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
