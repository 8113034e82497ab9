package bench

import (
	"fmt"
	"slices"
	"strings"
)

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
