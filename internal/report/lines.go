// Package report shows a build to people and programs.
//
// It turns events into lines on a terminal, plain lines elsewhere, or JSON. It knows how things look; it does not
// know plans, stores or how anything runs.
package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/event"
)

// Options says how a build is shown.
type Options struct {
	Colour  bool
	Live    bool // a terminal whose last lines may be rewritten
	Verbose bool // every action, and the output of those that succeed
	Width   int  // columns of the live lines; 0 is 100

	// Left, if not nil, says how long the build will go on, about, and whether that is known. Live lines show it.
	Left func() (time.Duration, bool)
}

type lines struct {
	o      Options
	steps  *steps
	checks []event.CheckFinished // of the build that goes on
}

// text returns the lines the event adds, "" for none.
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
			fmt.Fprintf(&b, "    %-8s %s %s  %s\n", e.Outcome, e.Step, e.Name, l.dim(Seconds(e.Duration)))
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
		if e.Skipped > 0 {
			fmt.Fprintf(&b, ", %s not run", thousands(e.Skipped))
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

// stepLine is the line of a step that ended: "  ok       compile.library          14 actions (3 cached)   2.1 s".
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
		n := Count(int(st.actions), "action")
		if st.cached > 0 && st.executed > 0 {
			n += fmt.Sprintf(" (%s cached)", thousands(int(st.cached)))
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

// The column of names is so wide, or as wide as the longest name, as long as the notes behind it have room on the
// terminal.
const (
	narrowName = 28
	wideName   = 72
	roomNotes  = 24
)

// column is a step's name in its column.
func (l *lines) column(name string) string {
	most := wideName
	if l.o.Width > 0 {
		most = max(narrowName, min(wideName, l.o.Width-len("  not run  ")-roomNotes))
		name = middle(name, most)
	}
	return name + strings.Repeat(" ", max(0, max(narrowName, min(l.steps.wide, most))-columns(name)))
}

// middle shortens a text that has no room, in the middle: of an address, both where it stands and what it is says
// more.
func middle(s string, room int) string {
	r := []rune(s)
	if columns(s) <= room || len(r) <= room {
		return s
	}
	end := (room - 1) / 2
	return string(r[:room-1-end]) + "…" + string(r[len(r)-end:])
}

// maxSource is how many lines of a step's block are shown with its failure: enough to know it again.
const maxSource = 10

// failure is the block that tells why an action failed: first the cause, as the command and those who know it say it,
// then where it comes from.
func (l *lines) failure(e event.ActionFinished) string {
	f := e.Failure
	var b strings.Builder
	title := "failed"
	if f.Engine {
		title = "could not run"
	}
	fmt.Fprintf(&b, "\n%s %s: %s\n", l.red("✗"), l.bold(strings.TrimSpace(e.Step+" "+e.Name)), title+": "+f.Summary)
	if out := strings.TrimRight(f.Output, "\n"); out != "" {
		b.WriteString(indent(shown(out), "  "+l.dim("▏")+" ") + "\n")
	}
	for _, h := range f.Hints {
		b.WriteString(indent(l.yellow("hint: ")+h, "  ") + "\n")
	}
	if f.Log != "" {
		what := "whole output"
		if f.LogCut {
			what = "output, but for a part in the middle"
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
	if !l.o.Colour {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (l *lines) bold(s string) string   { return l.paint("1", s) }
func (l *lines) dim(s string) string    { return l.paint("2", s) }
func (l *lines) red(s string) string    { return l.paint("31", s) }
func (l *lines) green(s string) string  { return l.paint("32", s) }
func (l *lines) yellow(s string) string { return l.paint("33", s) }

// Count is a number of something, for people: "1 action", "1,234 actions".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(n) + " " + what + "s"
}

// thousands writes a number with a comma between groups of three digits.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// total is how long the whole run took: to the millisecond where that is short, as nothing takes no time.
func total(s float64) string {
	if s < 0.1 {
		return fmt.Sprintf("%.0f ms", max(1, s*1000))
	}
	return fmt.Sprintf("%.2f s", s)
}

// Seconds is a time for people: "312 ms", "1.5 s", "41 s".
func Seconds(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d >= time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

// shown is a command's output as a terminal would end up showing it: of a line that was written over, the last
// version, and nothing that moves the cursor or changes colours.
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

// few is how many copies of a step have a line each when nothing happened to them. Of more, those that were executed
// or failed are what people look for, and the others are counted.
const few = 8

// What may be held back, and how its lines begin.
const (
	heldCached = iota
	heldNotRun
	heldNot // it is shown at once
)

// held tells whether nothing happened to the step that people need a line for.
func (st *stepState) held() int {
	switch {
	case st.failed > 0 || st.executed > 0 || len(st.workers) > 0:
		return heldNot
	case st.skipped > 0:
		return heldNotRun
	}
	return heldCached
}

// ended returns the line of a step that ended, or "" when it waits for those of its other copies.
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

// complete returns the lines that were held back, if the group of a step that ended has ended.
func (l *lines) complete(st *stepState) string {
	g := st.group
	if g.late || g.ended < g.planned {
		return ""
	}
	if !copied(st.name) { // of copies, more may come
		l.steps.drop(g)
	}
	return l.release(g)
}

// release returns the lines that were held back: of a few, each; of many, one that counts them.
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
				fmt.Fprintf(&b, "  %s %s %s\n", word, l.column(g.name), l.dim(Count(int(g.actions[kind]), "action")))
			}
		}
	}
	g.held, g.actions, g.count = nil, [2]int32{}, [2]int32{}
	return b.String()
}

// rest returns all lines that are still held back.
func (l *lines) rest() string {
	var b strings.Builder
	for _, g := range l.steps.order {
		if g != nil {
			b.WriteString(l.release(g))
		}
	}
	return b.String()
}

// steps keeps, per step of a build, what a person wants to know: how many of its actions ended, and how.
type steps struct {
	by map[string]*stepState // those that have not ended
	// stands there for a step that is no copy, has one action, and did not begin: of ten thousand nothing else is
	// known for long
	single  *stepState
	groups  map[string]*group
	order   []*group // nil: there is nothing more to say of it
	running map[int]*activity
	wide    int // columns of the longest name
	total   int
	ended   int
}

// stepState is one instance of a step.
type stepState struct {
	name     string
	group    *group
	actions  int32 // 0: not known yet
	ended    int32
	cached   int32
	executed int32
	failed   int32
	skipped  int32
	busy     time.Duration // of its actions, added up
	workers  []string      // other than this machine's own, each once
}

// group is all instances of a step: one, or the copies that for_each makes.
type group struct {
	name    string // exec.obj
	at      int32  // in order
	planned int32  // instances whose number of actions is known
	ended   int32  // of these
	late    bool   // some became known only after others had ended: more may come

	held    []*stepState // ended, not shown yet: the first few of them
	actions [2]int32     // how many actions those that ended and are not shown have, by held word
	count   [2]int32     // and how many instances they are
}

// copied tells whether an address is that of a copy, or of something in one.
func copied(name string) bool { return strings.Contains(name, "[") }

// withoutKeys is an address as files write it.
func withoutKeys(name string) string {
	before, rest, keyed := strings.Cut(name, "[")
	if !keyed {
		return name
	}
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil || !strings.HasPrefix(rest[len(quoted):], "]") {
		return before
	}
	return before + withoutKeys(rest[len(quoted)+1:])
}

type activity struct {
	step, text  string
	start       time.Time
	done, total int64
	progress    string
}

func newSteps() *steps {
	return &steps{by: map[string]*stepState{}, single: new(stepState), groups: map[string]*group{},
		running: map[int]*activity{}}
}

func (s *steps) step(name string) *stepState {
	st := s.by[name]
	if st != nil && st != s.single {
		return st
	}
	planned := st != nil
	st = &stepState{name: name, group: s.group(name)}
	s.by[name] = st
	if planned {
		st.plan(1)
	}
	return st
}

// plan says how many actions the step has.
func (st *stepState) plan(actions int) {
	st.actions = int32(actions)
	st.group.planned++
	st.group.late = st.group.late || st.group.ended > 0
}

// group returns the group of a step's instance: exec.obj for exec.obj["a.c"], module.aot.exec.obj for
// module.aot["x"].exec.obj.
func (s *steps) group(name string) *group {
	base := withoutKeys(name)
	g := s.groups[base]
	if g == nil {
		g = &group{name: base, at: int32(len(s.order))}
		s.groups[base] = g
		s.order = append(s.order, g)
	}
	return g
}

// drop forgets a step of which all is said.
func (s *steps) drop(g *group) {
	delete(s.groups, g.name)
	s.order[g.at] = nil
}

// add takes an event in. It returns the step that the event completed, if it did.
func (s *steps) add(e event.Event, now time.Time) *stepState {
	switch e := e.(type) {
	case event.ActionsPlanned:
		s.wide = max(s.wide, columns(e.Step))
		s.total += e.Actions
		if e.Actions == 1 && s.by[e.Step] == nil && !copied(e.Step) {
			s.by[e.Step] = s.single
		} else {
			s.step(e.Step).plan(e.Actions)
		}
	case event.ActionStarted:
		text := e.Description
		if text == "" {
			text = e.Name
		}
		s.running[e.ID] = &activity{step: e.Step, text: text, start: now}
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
		st.busy += e.Duration
	case event.Failed:
		st.failed++
		st.busy += e.Duration
	case event.Skipped:
		st.skipped++
	}
	if e.Worker != "" && e.Worker != action.ExecutorLocal && !slices.Contains(st.workers, e.Worker) {
		st.workers = append(st.workers, e.Worker)
	}
}

// verified is what came of running an action once more: nothing for people when all is the same.
func (l *lines) verified(e event.ActionVerified) string {
	name := strings.TrimSpace(e.Step + " " + e.Name)
	var b strings.Builder
	switch e.Verdict {
	case event.Unverified:
		fmt.Fprintf(&b, "  %s %s: %s\n", l.yellow("not verified"), name, e.Reason)
	case event.Different, event.Declared:
		with := "two runs left different outputs"
		if e.Known {
			with = "it left something else than what the cache has"
		}
		sign := l.red("≠")
		if e.Verdict == event.Declared {
			sign, with = l.yellow("≠"), with+", as it may"
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
	text := fmt.Sprintf("verified: %d the same", e.Same)
	if e.Different > 0 {
		text += ", " + l.red(fmt.Sprintf("%d different", e.Different))
	}
	if e.Declared > 0 {
		text += fmt.Sprintf(", %d different as declared", e.Declared)
	}
	if e.Unverified > 0 {
		text += fmt.Sprintf(", %d not verified", e.Unverified)
	}
	return text + "\n"
}
