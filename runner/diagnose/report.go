package diagnose

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/runner/literal"
)

// Report is what was found in a text.
type Report struct {
	Findings []Finding `json:"findings"`          // the one that explains most first
	Unknown  []Line    `json:"unknown,omitempty"` // the first lines that look like errors and are in no catalogue
	More     int       `json:"unknown_more,omitempty"`
	Benign   int       `json:"benign"` // lines that look like errors and are known to mean nothing
	Lines    int       `json:"lines"`
	Skipped  int       `json:"skipped,omitempty"` // lines that were not looked at, after too much work
}

// Finding is a known failure that the text shows.
type Finding struct {
	Entry  *Entry `json:"-"`
	ID     string `json:"id"`
	Rank   string `json:"rank"`
	Level  string `json:"severity"` // error or warning
	Cause  string `json:"cause"`
	Remedy string `json:"remedy"`
	Count  int    `json:"count"` // lines that show it
	Source string `json:"source,omitempty"`
	Line          // the first of them

	// Explained tells that another finding explains this one: its remedy does not help.
	Explained bool `json:"explained,omitempty"`
}

func (s *scanner) report() *Report {
	r := &Report{Findings: []Finding{}, Unknown: s.unknown, More: s.more, Benign: s.benign, Lines: s.lines, Skipped: s.skipped}
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
		if e.Warning() {
			level = "warning"
		}
		r.Findings = append(r.Findings, Finding{
			Entry: e, ID: e.ID, Rank: string(e.Rank), Level: level, Cause: fill(e.Cause, h.groups), Remedy: fill(e.Remedy, h.groups),
			Count: h.count, Source: e.Source, Line: h.line,
		})
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Explained, f.Codes = explained[f.ID], s.c.Codes.In(f.Text)
	}
	for i := range r.Unknown {
		r.Unknown[i].Codes = s.c.Codes.In(r.Unknown[i].Text)
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(a.weight()-b.weight(), a.Number-b.Number)
	})
	return r
}

// weight orders findings: causes before symptoms before consequences, what another explains after those, warnings last.
func (f Finding) weight() int {
	w := slices.Index(ranks(), f.Entry.Rank)
	if f.Explained {
		w = len(ranks()) - 1
	}
	if f.Entry.Warning() {
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
	return placeholder.Get().ReplaceAllStringFunc(text, func(p string) string {
		if v, ok := groups[p[1:len(p)-1]]; ok {
			return v
		}
		return p
	})
}

// Clean tells whether the text shows nothing but noise.
func (r *Report) Clean() bool { return len(r.Findings) == 0 && len(r.Unknown) == 0 }

// Distinct returns the findings without those that only repeat the first finding's line.
func (r *Report) Distinct() []Finding {
	var kept []Finding
	for i, f := range r.Findings {
		first := r.Findings[0]
		if i == 0 || f.Number == 0 || f.Number != first.Number || f.Count > 1 || f.weight() <= first.weight() {
			kept = append(kept, f)
		}
	}
	return kept
}

// maxHints is how many findings are told as hints: who reads the first and acts need not read on.
const maxHints = 3

// Hints tells the report to somebody whose step has failed: the first finding as cause and remedy with the line that shows it, others
// of the same rank that it does not explain, and the rest by name. None if no known failure shows.
func (r *Report) Hints() []string {
	var hints []string
	var rest []string
	for i, f := range r.Distinct() {
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

// How much is looked at. The rest of a longer line is skipped.
const (
	maxLine    = 4 << 10
	maxUnknown = 20        // lines that look like errors and are not known, which a Report keeps
	maxWork    = 256 << 20 // bytes, each as often as a pattern is tried on it; logs that nobody made up take a tenth of it
)

// Line is a line of the input.
type Line struct {
	Number int    `json:"line"` // counted from 1
	Text   string `json:"text"` // at most maxLine bytes, without colours
	Codes  []Code `json:"codes,omitempty"`
}

// scanner collects what a Report is made of.
type scanner struct {
	c        *Catalogue
	suspect  *regexp.Regexp
	level    *regexp.Regexp
	words    [][]byte // one of them is in every line that suspect matches
	harmless [][]byte // lines with one of them speak of errors that are none
	low      []byte
	try      []int // patterns that may match the line

	work    int // left of maxWork
	lines   int // seen, also those that were skipped
	skipped int
	benign  int
	hits    []hit // by entry
	inBlock bool  // the line belongs to a message of several lines
	block   []int // hits in that message
	also    map[[2]int]bool
	unknown []Line
	more    int // unknown lines beyond those kept
}

// hit is where an entry matched first.
type hit struct {
	count  int
	line   Line
	groups map[string]string
}

// WithCode returns the failures whose messages, as their examples have them, show one of the codes.
func (c *Catalogue) WithCode(codes []Code) []*Entry {
	shows := map[*Entry]bool{}
	for _, e := range c.Entries {
		for _, text := range e.Examples {
			for _, f := range c.Text([]byte(text)).Findings {
				shows[f.Entry] = shows[f.Entry] || slices.ContainsFunc(f.Codes, func(has Code) bool {
					return slices.ContainsFunc(codes, func(is Code) bool { return has.Family == is.Family && has.Name == is.Name })
				})
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(c.Entries), func(e *Entry) bool { return !shows[e] })
}

// Text diagnoses what is in b.
func (c *Catalogue) Text(b []byte) *Report {
	r, _ := c.Read(bytes.NewReader(b)) // reading memory does not fail
	return r
}

// Read diagnoses what r gives until its end. The error is r's; then the report tells of what came before.
func (c *Catalogue) Read(r io.Reader) (*Report, error) { return c.read(r, maxWork) }

func (c *Catalogue) read(r io.Reader, work int) (*Report, error) {
	s := &scanner{
		c: c, work: work, hits: make([]hit, len(c.Entries)), also: map[[2]int]bool{},
		words: words("error", "fatal", "fail", "panic", "exception", "abort", "segmentation", "undefined", "denied", "killed",
			"unable", "cannot", "can't", "<e>", "not found", "no such", "could not", "mismatch", "illegal", "bus error",
			"terminate", "trap", "*** ", "what():", "insufficient", "unsupported", "[e:", "exit"),
		harmless: words("0 error", "no error", "without error", "error: 0", "error=0", "error = 0", "errors: 0", "0 failed", "failed: 0", "error code: 0", "not an error"),
		suspect:  suspect.Get(),
		level:    level.Get(),
	}
	err := s.read(r)
	return s.report(), err
}

var (
	// suspect matches lines that look like errors, by their words or by the exit code of a program.
	suspect = lazyregexp.New(`(?i:(?:^|[^a-z0-9_-])(?:[a-z]*errors?|fatal|failed|failure|panic(?:ked)?|[a-z]*exception|` +
		`abort(?:ed)?|segmentation fault|bus error|illegal instruction|(?:trace/)?breakpoint trap|terminate called|` +
		`undefined (?:hidden )?(?:reference|symbol)|permission denied|insufficient|killed|unable to|cannot|can't|could not|` +
		`not found|no such|mismatch(?:ed)?|unsupported)(?:[^a-z0-9_-]|$)|make(?:\[[0-9]+\])?: \*\*\* |what\(\):|` +
		`exit(?:ed)?(?: with)?(?: code| status)?:? (?:13[2-9]|12[67])\b)` +
		`|<E>|\[E:`)

	// level matches lines with an error's level, as logcat prints it.
	level = lazyregexp.New(`^(?:[0-9-]+ [0-9:.]+ +[0-9]+ +[0-9]+ )?E(?:/| +)[A-Za-z][^:]*:`)
)

// read splits the input into lines.
func (s *scanner) read(r io.Reader) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part[:min(maxLine-len(line), len(part))]...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err == nil || len(line) > 0 {
			s.lines++
			s.match(s.lines, line)
			line = line[:0]
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// match compares a line with the catalogue.
func (s *scanner) match(number int, line []byte) {
	if s.work <= 0 {
		s.skipped++
		return
	}
	line = ansi.StripBytes(bytes.TrimRight(line, "\r\n"))
	s.low = literal.Lower(s.low[:0], line)
	s.goOn(line)
	var found []int // entries, each once
	s.try = s.c.words.owners(s.try[:0], s.low)
	slices.Sort(s.try)
	for _, i := range slices.Compact(s.try) {
		p := &s.c.patterns[i]
		s.work -= len(line)
		if p.also >= 0 {
			if !s.also[[2]int{p.entry, p.also}] && p.re.Match(line) {
				s.also[[2]int{p.entry, p.also}] = true
			}
			continue
		}
		if len(found) > 0 && found[len(found)-1] == p.entry {
			continue
		}
		m := p.re.FindSubmatch(line)
		if m == nil {
			continue
		}
		if s.c.Entries[p.entry].Benign {
			s.benign++
			return
		}
		found = append(found, p.entry)
		if h := &s.hits[p.entry]; h.count == 0 {
			h.line = Line{Number: number, Text: text(line)}
			h.groups = map[string]string{}
			for j, name := range p.re.SubexpNames() {
				if name != "" {
					h.groups[name] = clip(string(m[j]), 120)
				}
			}
		}
	}
	for _, e := range found {
		s.hits[e].count++
		if s.inBlock && s.hits[e].count == 1 {
			s.block = append(s.block, e)
		}
	}
	if len(found) == 0 && (hasAny(s.low, s.words) && s.suspect.Match(line) || s.level.Match(line)) &&
		!hasAny(s.low, s.harmless) {
		if len(s.unknown) < maxUnknown {
			s.unknown = append(s.unknown, Line{Number: number, Text: text(line)})
		} else {
			s.more++
		}
	}
}

// goOn adds the line to a message that goes on: below `CMake Error at`, the indented lines say what is wrong.
func (s *scanner) goOn(line []byte) {
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	if !bytes.HasPrefix(line, []byte("  ")) {
		s.inBlock, s.block = bytes.HasPrefix(line, []byte("CMake Error")), nil
	}
	for _, i := range s.block {
		if h := &s.hits[i].line; len(h.Text) < maxLine {
			h.Text = clip(h.Text+" "+text(line), maxLine)
		}
	}
}

func words(list ...string) [][]byte {
	out := make([][]byte, len(list))
	for i, w := range list {
		out[i] = []byte(w)
	}
	return out
}

func hasAny(line []byte, words [][]byte) bool {
	for _, w := range words {
		if bytes.Contains(line, w) {
			return true
		}
	}
	return false
}

// text is the line as a string that can be shown.
func text(line []byte) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, strings.TrimSpace(strings.ToValidUTF8(string(line), "�")))
}

// clip cuts s to n bytes or less.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
