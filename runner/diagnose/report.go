package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Report is what was found in a text.
type Report struct {
	Findings []Finding `json:"findings,omitempty"` // the one that explains most first
	Unknown  []Line    `json:"unknown,omitempty"`  // the first lines that look like errors and are in no catalogue
	More     int       `json:"unknown_more,omitempty"`
	Benign   int       `json:"benign"` // lines that look like errors and are known to mean nothing
	Lines    int       `json:"lines"`
	Skipped  int       `json:"skipped,omitempty"` // lines that were not looked at: in the middle of a very long text, or after too much work
}

// Finding is a known failure that the text shows.
type Finding struct {
	Entry  *Entry `json:"-"`
	ID     string `json:"id"`
	Rank   string `json:"rank"`
	Level  string `json:"severity"` // error or warning
	Cause  string `json:"cause"`
	Remedy string `json:"remedy"`
	Codes  []Code `json:"codes,omitempty"` // numbers in the line that are known
	Count  int    `json:"count"`           // lines that show it
	Source string `json:"source,omitempty"`
	Line          // the first of them

	follows bool // another finding explains it
}

func (s *scanner) report() *Report {
	r := &Report{Unknown: s.unknown, More: s.more, Benign: s.benign, Lines: s.lines, Skipped: s.skipped}
	explained := map[string]bool{}
	for i, h := range s.hits {
		e := s.c.Entries[i]
		if h.count == 0 || !s.alsoSeen(i, e) {
			continue
		}
		for _, id := range e.Explains {
			explained[id] = true
		}
		level := "error"
		if e.Warning {
			level = "warning"
		}
		r.Findings = append(r.Findings, Finding{
			Entry: e, ID: e.ID, Rank: e.Rank.String(), Level: level, Cause: fill(e.Cause, h.groups), Remedy: fill(e.Remedy, h.groups),
			Codes: s.c.Codes.In(h.line.Text), Count: h.count, Source: e.Source, Line: h.line,
		})
	}
	for i := range r.Findings {
		r.Findings[i].follows = explained[r.Findings[i].ID]
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(a.weight()-b.weight(), a.Number-b.Number)
	})
	return r
}

// weight orders findings: causes before symptoms before consequences, what another explains after those, warnings last.
func (f Finding) weight() int {
	w := int(f.Entry.Rank)
	if f.follows {
		w = max(w, int(Consequence))
	}
	if f.Entry.Warning {
		w += 10
	}
	return w
}

func (s *scanner) alsoSeen(i int, e *Entry) bool {
	for j := range e.Also {
		if !s.also[[2]int{i, j}] {
			return false
		}
	}
	return true
}

// fill puts what groups matched in the place of {name}.
func fill(text string, groups map[string]string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	return placeholder().ReplaceAllStringFunc(text, func(p string) string {
		if v, ok := groups[p[1:len(p)-1]]; ok {
			return v
		}
		return p
	})
}

// Clean tells whether the text shows nothing but noise.
func (r *Report) Clean() bool { return len(r.Findings) == 0 && len(r.Unknown) == 0 }

// maxHints is how many findings are told as hints: who reads the first and acts need not read on.
const maxHints = 3

// Hints tells the report to somebody whose step has failed: the first finding as cause and remedy with the line that shows it, others
// of the same rank that it does not explain, and the rest by name. None if no known failure shows.
func (r *Report) Hints() []string {
	var hints []string
	var rest []string
	for i, f := range r.Findings {
		if i > 0 && (len(hints) >= maxHints || f.weight() > r.Findings[0].weight()) {
			name := f.ID
			if f.Number > 0 {
				name += fmt.Sprintf(" (line %d)", f.Number)
			}
			rest = append(rest, name)
			continue
		}
		hints = append(hints, f.Hint())
	}
	if len(rest) > 0 {
		hints[len(hints)-1] += "\nprobably follows from it: " + strings.Join(rest, ", ")
	}
	return hints
}

// Hint is the finding as cause, remedy, the line that shows it, and what its codes mean.
func (f Finding) Hint() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nremedy: %s", f.Cause, f.Remedy)
	if f.Number > 0 {
		fmt.Fprintf(&b, "\nseen in line %d: %s", f.Number, clip(f.Text, 160))
	}
	for _, c := range f.Codes {
		fmt.Fprintf(&b, "\n%s", c)
	}
	return b.String()
}
