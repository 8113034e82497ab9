// Package report prints events for users and programs: live lines on a terminal, plain lines elsewhere, or JSON.
//
// It defines how output looks. It does not know plans or stores, or how hexmage runs actions.
package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/event"
)

// Options control the output for users.
type Options struct {
	Color   bool
	Live    bool // output is a terminal, so its last lines may be rewritten
	Verbose bool // print every action, and the output of successful actions
	Width   int  // width of live lines in columns; 0 means 100

	// Left, if not nil, returns the estimated remaining time of the build, and whether that time is known. Live lines
	// show the time.
	Left func() (time.Duration, bool)
}

type lines struct {
	o      Options
	steps  *steps
	checks []event.CheckFinished // of the current build
}

// text returns the lines that the event adds, or "".
func (l *lines) text(e event.Event, now time.Time) string {
	done := l.steps.add(e, now)
	var b strings.Builder
	switch e := e.(type) {
	case event.BuildStarted:
		b.WriteString(l.bold(e.Pipeline))
		if e.Profile != "" {
			b.WriteString("  " + l.dim("profile: "+e.Profile))
		}
		b.WriteString("\n")
	case event.ActionFinished:
		if l.o.Verbose && e.Name != "" {
			fmt.Fprintf(&b, "    %-8s %s %s  %s\n", e.Outcome, e.Step, e.Name, l.dim(Seconds(e.Duration())))
		}
		if e.Warning != "" {
			b.WriteString(indent(l.yellow("note: ")+e.Step+": "+e.Warning, "  ") + "\n")
		}
		if e.Failure != nil {
			b.WriteString(l.failure(e))
		}
	case event.ActionVerified:
		b.WriteString(l.verified(e))
	case event.VerifyFinished:
		b.WriteString(l.verifySummary(e))
	case event.OutputReady:
		if l.o.Verbose {
			fmt.Fprintf(&b, "  output   %s → %s\n", e.Name, e.Path)
		}
	case event.CheckFinished:
		l.checks = append(l.checks, e)
	case event.BuildFinished:
		b.WriteString(l.rest())
		fmt.Fprintf(&b, "%s in %s: %s executed, %s cached", Count(e.Actions, "action"), total(e.Seconds),
			thousands(e.Executed), thousands(e.Cached))
		if e.Failed > 0 {
			fmt.Fprintf(&b, ", %s", l.red(thousands(e.Failed)+" failed"))
		}
		if e.NotRun > 0 {
			fmt.Fprintf(&b, ", %s not run", thousands(e.NotRun))
		}
		if e.ChecksFailed > 0 {
			fmt.Fprintf(&b, ", %s", l.red(Count(e.ChecksFailed, "check")+" failed"))
		}
		b.WriteString("\n" + l.checkTable())
	}
	if done != nil {
		b.WriteString(l.ended(done))
	}
	return b.String()
}

// stepLine returns the line of a finished step: " ok compile.library 14 actions (3 cached) 2.1 s".
func (l *lines) stepLine(st *stepState) string {
	word, paint := "ok", l.green
	switch {
	case st.failed > 0:
		word, paint = "failed", l.red
	case st.skipped > 0:
		word, paint = "not run", l.yellow
	case st.executed == 0:
		word, paint = "cached", l.dim
	}
	var notes []string
	if st.actions > 1 {
		n := Count(st.actions, "action")
		if st.cached > 0 && st.executed > 0 {
			n += fmt.Sprintf(" (%s cached)", thousands(st.cached))
		}
		notes = append(notes, n)
	}
	switch n := len(st.workers); {
	case n == 1:
		notes = append(notes, "on "+st.workers[0])
	case n > 1:
		notes = append(notes, fmt.Sprintf("on %d machines", n))
	}
	if st.busy > 0 {
		notes = append(notes, Seconds(st.busy))
	}
	return fmt.Sprintf("  %s %s %s\n", paint(fmt.Sprintf("%-8s", word)), l.column(st.name),
		l.dim(strings.Join(notes, ", ")))
}

// Limits for the width of the column with names. The column grows to the longest name if the terminal also has room for
// the notes after it.
const (
	narrowName = 28
	wideName   = 72
	roomNotes  = 24
)

// column returns a step's name, padded to the column.
func (l *lines) column(name string) string {
	most := wideName
	if l.o.Width > 0 {
		most = max(narrowName, min(wideName, l.o.Width-len("  not run  ")-roomNotes))
		name = Middle(name, most)
	}
	return name + strings.Repeat(" ", max(0, max(narrowName, min(l.steps.wide, most))-columns(name)))
}

// Middle shortens a text to the given width by replacing the middle with "…". It keeps both ends, because they identify
// an address best.
func Middle(s string, room int) string {
	r := []rune(s)
	if columns(s) <= room || len(r) <= room {
		return s
	}
	end := (room - 1) / 2
	return string(r[:room-1-end]) + "…" + string(r[len(r)-end:])
}

// maxSource is the maximum number of lines of a step's block in a failure, enough to recognize the block.
const maxSource = 10

// failure returns the block that explains a failed action: first the cause, from the command's output and hints, then
// the place of the step.
func (l *lines) failure(e event.ActionFinished) string {
	f := e.Failure
	var b strings.Builder
	title := "failed"
	if f.InfrastructureError {
		title = "could not run"
	}
	fmt.Fprintf(&b, "\n%s %s %s: %s\n", l.red("✗"), l.bold(strings.TrimSpace(e.Step+" "+e.Name)), title, f.Summary)
	if out := strings.TrimRight(f.Output, "\n"); out != "" {
		b.WriteString(indent(shown(out), "  "+l.dim("▏")+" ") + "\n")
	}
	for _, h := range f.Hints {
		b.WriteString(indent(l.yellow("hint: ")+h, "  ") + "\n")
	}
	if f.Log != "" {
		what := "whole output"
		if f.LogCut {
			what = "output, middle omitted"
		}
		fmt.Fprintf(&b, "  %s: %s\n", what, f.Log)
	}
	if f.Where != "" {
		fmt.Fprintf(&b, "  at %s\n", f.Where)
	}
	source, more := f.Source, 0
	if len(source) > maxSource {
		source, more = source[:maxSource-2], len(source)-maxSource+2
	}
	for _, s := range source {
		fmt.Fprintf(&b, "  %s %s\n", l.dim("│"), s)
	}
	if more > 0 {
		fmt.Fprintf(&b, "  %s\n", l.dim(fmt.Sprintf("│ … %d more lines", more)))
	}
	if len(f.Command) > 0 {
		fmt.Fprintf(&b, "  command: %s\n", action.Quote(f.Command))
	}
	b.WriteString("\n")
	return b.String()
}

func (l *lines) paint(code, s string) string {
	if !l.o.Color {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (l *lines) bold(s string) string   { return l.paint("1", s) }
func (l *lines) dim(s string) string    { return l.paint("2", s) }
func (l *lines) red(s string) string    { return l.paint("31", s) }
func (l *lines) green(s string) string  { return l.paint("32", s) }
func (l *lines) yellow(s string) string { return l.paint("33", s) }

// Count formats a count for users: "1 action", "1,234 actions".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(n) + " " + what + "s"
}

// thousands formats a number with a comma between groups of three digits.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// total formats the duration of a run. Short runs have milliseconds, so no run takes 0 s.
func total(s float64) string {
	if s < 0.1 {
		return fmt.Sprintf("%.0f ms", max(1, s*1000))
	}
	return fmt.Sprintf("%.2f s", s)
}

// Seconds formats a duration for users: "312 ms", "1.5 s", "41 s".
func Seconds(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d >= time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

// shown returns a command's output as a terminal would finally show it. It keeps the last version of an overwritten
// line, and removes cursor movements and colors.
func shown(out string) string {
	lines := strings.Split(out, "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		line = line[strings.LastIndexByte(line, '\r')+1:]
		lines[i] = plain(ansi.Strip(strings.ReplaceAll(line, "\t", "    ")))
	}
	return strings.Join(lines, "\n")
}

func indent(s, with string) string {
	return with + strings.ReplaceAll(s, "\n", "\n"+with)
}

// few is the maximum number of a step's instances that get a line each when they only succeed. If there are more, users
// look for executed and failed ones, and one line counts the others.
const few = 8

// Kinds of lines that report holds back.
const (
	heldCached = iota
	heldNotRun
	heldNot // shown at once
)

// held returns the kind of a step that needs no line of its own.
func (st *stepState) held() int {
	switch {
	case st.failed > 0 || st.executed > 0 || len(st.workers) > 0:
		return heldNot
	case st.skipped > 0:
		return heldNotRun
	}
	return heldCached
}

// ended returns the line of a finished step, or "" while it waits for its other instances.
func (l *lines) ended(st *stepState) string {
	g, kind := st.group, st.held()
	if l.o.Verbose || kind == heldNot || g.planned <= few {
		return l.stepLine(st) + l.complete(st)
	}
	g.actions[kind] += st.actions
	g.count[kind]++
	if len(g.held) <= few {
		g.held = append(g.held, st)
	}
	return l.complete(st)
}

// complete returns the held-back lines if the whole group of a finished step has ended.
func (l *lines) complete(st *stepState) string {
	g := st.group
	if g.late || g.ended < g.planned {
		return ""
	}
	return l.release(g)
}

// release returns the held-back lines: each of them if they are few, or one that counts them.
func (l *lines) release(g *group) string {
	var b strings.Builder
	held, all := g.held, g.count[heldCached]+g.count[heldNotRun]
	if all <= few {
		for _, st := range held {
			b.WriteString(l.stepLine(st))
		}
	} else {
		for kind, word := range []string{heldCached: l.dim("cached  "), heldNotRun: l.yellow("not run ")} {
			if g.count[kind] > 0 {
				fmt.Fprintf(&b, "  %s %s %s\n", word, l.column(g.name), l.dim(Count(g.actions[kind], "action")))
			}
		}
	}
	g.held, g.actions, g.count = nil, [2]int{}, [2]int{}
	return b.String()
}

// rest returns all lines that are still held back.
func (l *lines) rest() string {
	var b strings.Builder
	for _, g := range l.steps.order {
		b.WriteString(l.release(g))
	}
	return b.String()
}

// steps counts the actions and results of each step of a build.
type steps struct {
	by      map[string]*stepState // the unfinished steps
	groups  map[string]*group
	order   []*group
	running map[int]*activity
	wide    int // width of the longest name in columns
	total   int
	ended   int
}

// stepState is the state of one instance of a step.
type stepState struct {
	name     string
	group    *group
	actions  int // 0 if not known yet
	ended    int
	cached   int
	executed int
	failed   int
	skipped  int
	busy     time.Duration // sum over its actions
	workers  []string      // unique names of remote machines
}

// group is all instances of a step: one, or those that for_each creates.
type group struct {
	name    string // exec.obj
	planned int    // instances with a known number of actions
	ended   int    // how many of them ended
	late    bool   // some were planned after others had ended, so more may follow

	held    []*stepState // the first few that ended and are not shown yet
	actions [2]int       // actions of all ended instances that are not shown, by held kind
	count   [2]int       // the number of those instances
}

type activity struct {
	step, text  string
	start       time.Time
	done, total int64
	progress    string
}

func newSteps() *steps {
	return &steps{by: map[string]*stepState{}, groups: map[string]*group{}, running: map[int]*activity{}}
}

func (s *steps) step(name string) *stepState {
	st := s.by[name]
	if st == nil {
		st = &stepState{name: name, group: s.group(name)}
		s.by[name] = st
	}
	return st
}

// plan sets the number of the step's actions.
func (st *stepState) plan(actions int) {
	st.actions = actions
	st.group.planned++
	st.group.late = st.group.late || st.group.ended > 0
}

// group returns the group of a step's instance: exec.obj for exec.obj["a.c"], module.aot.exec.obj for
// module.aot["x"].exec.obj.
func (s *steps) group(name string) *group {
	base := addrs.WithoutKeys(name)
	g := s.groups[base]
	if g == nil {
		g = &group{name: base}
		s.groups[base] = g
		s.order = append(s.order, g)
	}
	return g
}

// add handles an event. It returns the step that the event completed, if any.
func (s *steps) add(e event.Event, now time.Time) *stepState {
	switch e := e.(type) {
	case event.ActionsPlanned:
		s.wide = max(s.wide, columns(e.Step))
		s.total += e.Actions
		s.step(e.Step).plan(e.Actions)
	case event.ActionStarted:
		s.running[e.ID] = &activity{step: e.Step, text: cmp.Or(e.Description, e.Name), start: now}
	case event.ActionProgress:
		if a := s.running[e.ID]; a != nil {
			a.done, a.total, a.progress = e.Done, e.Total, e.Text
		}
	case event.ActionFinished:
		delete(s.running, e.ID)
		st := s.step(e.Step)
		s.ended++
		st.count(e)
		if st.actions > 0 && st.ended == st.actions {
			st.group.ended++
			delete(s.by, e.Step)
			return st
		}
	}
	return nil
}

func (st *stepState) count(e event.ActionFinished) {
	st.ended++
	switch e.Outcome {
	case event.Cached:
		st.cached++
	case event.Executed:
		st.executed++
		st.busy += e.Duration()
	case event.Failed:
		st.failed++
		st.busy += e.Duration()
	case event.NotRun:
		st.skipped++
	}
	if e.Worker != "" && e.Worker != action.ExecutorLocal && !slices.Contains(st.workers, e.Worker) {
		st.workers = append(st.workers, e.Worker)
	}
}

// verified returns the result of running an action a second time, or "" if the outputs are equal.
func (l *lines) verified(e event.ActionVerified) string {
	name := strings.TrimSpace(e.Step + " " + e.Name)
	var b strings.Builder
	switch e.Verdict {
	case event.Unverified:
		fmt.Fprintf(&b, "  %s %s: %s\n", l.yellow("not verified"), name, e.Reason)
	case event.Different, event.ExpectedDifference:
		with := "two runs produced different outputs"
		if e.ComparedWithCache {
			with = "output differs from the cached result"
		}
		sign := l.red("≠")
		if e.Verdict == event.ExpectedDifference {
			sign, with = l.yellow("≠"), with+", as declared"
		}
		fmt.Fprintf(&b, "\n%s %s: %s\n", sign, l.bold(name), with)
		for _, d := range e.Differences {
			b.WriteString(l.difference(d))
		}
		if e.More > 0 {
			fmt.Fprintf(&b, "  and %d more\n", e.More)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (l *lines) difference(d event.Difference) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %s %s\n", l.bold(strings.TrimSpace(plain(d.Path)+" "+l.dim(d.Kind+":"))), d.Detail)
	if d.Varies != "" {
		b.WriteString(indent(l.yellow("may differ: ")+plain(d.Varies), "    ") + "\n")
	}
	for i, line := range d.Lines {
		sign := "-"
		if i > 0 || d.Kind == "exit code" {
			sign = "+"
		}
		fmt.Fprintf(&b, "    %s %s\n", sign, shown(line))
	}
	return b.String()
}

func (l *lines) verifySummary(e event.VerifyFinished) string {
	text := fmt.Sprintf("verified: %d identical", e.Same)
	if e.Different > 0 {
		text += ", " + l.red(fmt.Sprintf("%d different", e.Different))
	}
	if e.ExpectedDifferences > 0 {
		text += fmt.Sprintf(", %d different as declared", e.ExpectedDifferences)
	}
	if e.Unverified > 0 {
		text += fmt.Sprintf(", %d not verified", e.Unverified)
	}
	return text + "\n"
}
