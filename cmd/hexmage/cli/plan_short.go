package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/engine"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/internal/report"
)

// shortPlan formats the plan for a screen: a line for each step with work, its reason, and its last duration.
type shortPlan struct {
	p      *plan.Plan
	status *planStatus
	took   func(step, name string) (took time.Duration, known bool)
	width  int // of the screen, in characters
}

// planRow is a step of the plan, with all of its instances.
type planRow struct {
	at      addrs.Step
	copies  int
	actions int
	status  planStatus // its own counts
	took    time.Duration
	may     int // pending or deferred actions
	known   int // of them, those with a known duration
	reason  string
	says    int // rank of reason
	missing []string
}

// state returns the status of the step in a word.
func (r *planRow) state() string {
	switch {
	case len(r.missing) > 0 || r.status.Cannot > 0:
		return "cannot run"
	case r.status.WillRun > 0:
		return "will run"
	case r.status.Deferred+r.status.Unknown > 0:
		return "deferred"
	}
	return "cached"
}

func (s *shortPlan) rows() []*planRow {
	by := map[addrs.Step]*planRow{}
	var rows []*planRow
	for _, n := range s.p.Instances {
		r := by[n.At.Step]
		if r == nil {
			r = &planRow{at: n.At.Step}
			by[n.At.Step] = r
			rows = append(rows, r)
		}
		r.copies++
		for _, m := range n.Missing {
			if !slices.Contains(r.missing, m) {
				r.missing = append(r.missing, m)
			}
		}
		for _, a := range s.status.groups[n.At.Short()] {
			r.status.add(a)
			if a.known {
				r.actions++
			}
			if says := says(a.Status); a.Reason != "" && says > r.says {
				r.reason, r.says = a.Reason, says
			}
			if mayRun(a) {
				r.may++
				if took, known := s.took(a.Step, a.Name); known {
					r.took += took
					r.known++
				}
			}
		}
	}
	return rows
}

// says ranks a status: the reason of the highest one describes the step.
func says(s engine.Status) int {
	switch s {
	case engine.WillFail:
		return 3
	case engine.WillRun:
		return 2
	}
	return 1
}

// mayRun reports whether an action will run, or is deferred.
func mayRun(a *actionStatus) bool {
	return a.known && (a.Status == engine.WillRun || a.Status == engine.Deferred)
}

// text formats the plan for people.
func (s *shortPlan) text() string {
	var b strings.Builder
	b.WriteString(s.p.Pipeline)
	if s.p.Profile != "" {
		b.WriteString("  profile: " + s.p.Profile)
	}
	b.WriteString("\n")
	if s.p.Description != "" {
		b.WriteString(s.p.Description + "\n")
	}
	rows := s.rows()
	b.WriteString("\n")
	s.states(&b, rows)
	s.ends(&b, rows)
	return b.String()
}

// name returns the step, with the number of its instances if there are several.
func (r *planRow) name() string {
	if r.copies > 1 {
		return fmt.Sprintf("%s × %d", r.at.Short(), r.copies)
	}
	return r.at.Short()
}

func (s *shortPlan) wide(rows []*planRow) int {
	wide := 0
	for _, r := range rows {
		wide = max(wide, len([]rune(r.name())))
	}
	return min(wide, s.width/2)
}

// states writes a line for each step. Cached steps share one line.
func (s *shortPlan) states(b *strings.Builder, rows []*planRow) {
	var cached []string
	var others []*planRow
	for _, r := range rows {
		if r.state() == "cached" {
			cached = append(cached, r.at.Short())
		} else {
			others = append(others, r)
		}
	}
	if len(cached) > 0 {
		fmt.Fprintf(b, "  cached      %s: %s\n", report.Count(len(cached), "step"), s.fitted(some(cached, 3), 14+12))
	}
	wide := s.wide(others)
	for _, r := range others {
		took := ""
		switch {
		case r.known == 0 && r.status.WillRun > 0:
			took = "?"
		case r.known == 0:
		case r.known < r.may:
			took = "> " + report.Seconds(r.took)
		default:
			took = "~ " + report.Seconds(r.took)
		}
		actions := ""
		if n := r.status.WillRun; n > 0 && n < r.actions {
			actions = fmt.Sprintf("%d of %s", n, report.Count(r.actions, "action"))
		} else if n > 0 {
			actions = report.Count(n, "action")
		}
		head := fmt.Sprintf("  %-10s  %-*s  %-16s  %8s  ", r.state(), wide, r.name(), actions, took)
		reason := s.fitted(r.reason, len([]rune(head)))
		switch {
		case len(r.missing) > 0:
			reason = "see below"
		case r.status.Cannot > 0: // uncut, since it ends with the remedy
			reason, _, _ = strings.Cut(r.reason, "\n")
		}
		fmt.Fprintln(b, strings.TrimRight(head+reason, " "))
	}
}

// fitted cuts the text to the room after that many characters.
func (s *shortPlan) fitted(text string, behind int) string {
	text, _, _ = strings.Cut(text, "\n")
	r := []rune(text)
	if room := max(20, s.width-behind); len(r) > room {
		return string(r[:room-1]) + "…"
	}
	return text
}

// ends writes the lines below the steps: outputs, checks, missing parts, counts.
func (s *shortPlan) ends(b *strings.Builder, rows []*planRow) {
	var names []string
	for _, o := range s.p.Outputs {
		names = append(names, o.Name)
	}
	b.WriteString("\n")
	if len(names) > 0 {
		fmt.Fprintf(b, "outputs: %s\n", s.fitted(some(names, 8), 9))
	}
	lacking := map[string][]string{} // steps by missing part
	var missing []string
	for _, r := range rows {
		for _, m := range r.missing {
			if lacking[m] == nil {
				missing = append(missing, m)
			}
			lacking[m] = append(lacking[m], r.at.Short())
		}
	}
	if len(missing) > 0 || s.status.cannot() {
		b.WriteString("this machine cannot run the plan yet\n")
	}
	for _, m := range missing {
		fmt.Fprintf(b, "  missing: %s: %s\n", some(lacking[m], 2), m)
	}
	b.WriteString(s.status.lacks())
	b.WriteString("-v prints each action with its command, inputs and outputs\n")
	e := s.status.Expected
	b.WriteString(e.disk())
	fmt.Fprintf(b, "%s%s%s\n", s.status.counts(), e.cost(s.status), s.status.budget())
}
