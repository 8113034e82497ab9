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

// Report is the diagnosis of a text.
type Report struct {
	Findings []Finding `json:"findings"`          // best explanation first
	Unknown  []Line    `json:"unknown,omitempty"` // the first lines that look like errors and match no entry
	More     int       `json:"unknown_more,omitempty"`
	Benign   int       `json:"benign"` // number of lines that look like errors but are harmless
	Lines    int       `json:"lines"`
	Skipped  int       `json:"skipped,omitempty"` // number of lines beyond the work limit
}

// Finding is a known failure in the text.
type Finding struct {
	Entry  *Entry `json:"-"`
	ID     string `json:"id"`
	Rank   string `json:"rank"`
	Level  string `json:"severity"` // error or warning
	Cause  string `json:"cause"`
	Remedy string `json:"remedy"`
	Count  int    `json:"count"` // number of matching lines
	Source string `json:"source,omitempty"`
	Line          // the first matching line

	// Explained is true if another finding explains this one. Then this finding's remedy does not help.
	Explained bool `json:"explained,omitempty"`
}

func (s *scanner) report() *Report {
	s.endBlock()
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

// weight orders findings: causes, symptoms, then consequences and explained findings. Warnings come last.
func (f Finding) weight() int {
	w := slices.Index(ranks(), f.Entry.Rank)
	if f.Explained {
		w = len(ranks())
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

// fill replaces {name} by the match of group name.
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

// Clean reports whether all lines of the text are harmless.
func (r *Report) Clean() bool { return len(r.Findings) == 0 && len(r.Unknown) == 0 }

// Distinct returns the findings. It omits less important failures that appear only in the line of the first finding.
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

// maxHints is the number of findings shown as hints. The first one is usually enough.
const maxHints = 3

// Hints returns hints for the message of a failed step. Each of the first findings is a hint with cause, remedy and
// line. The last hint also names the other findings.
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
		hints[len(hints)-1] += "\nprobably a consequence: " + strings.Join(rest, ", ")
	}
	return hints
}

// Hint returns the finding's cause, remedy and line, and the meaning of its error codes.
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

// Limits of the work on a text. The rest of a longer line is skipped.
const (
	maxLine    = 4 << 10
	maxUnknown = 20        // unknown lines that a Report keeps
	maxWork    = 256 << 20 // bytes, counted once for each pattern that is tried; real logs take a tenth of it
)

// Line is a line of the input.
type Line struct {
	Number int    `json:"line"` // counted from 1
	Text   string `json:"text"` // at most maxLine bytes, without colors
	Codes  []Code `json:"codes,omitempty"`
}

// scanner collects the contents of a Report.
type scanner struct {
	c        *Catalog
	suspect  *regexp.Regexp
	level    *regexp.Regexp
	words    [][]byte // a line that suspect matches contains one of them
	harmless [][]byte // a line with one of them is not an error
	low      []byte
	try      []int // patterns that may match the line

	work    int // remaining part of maxWork
	lines   int // including skipped ones
	skipped int
	benign  int
	hits    []hit // by entry
	inBlock bool  // the line continues a message of several lines
	block   []int // hits in that message
	joined  Line  // that message in one line, from its first line on
	also    map[[2]int]bool
	unknown []Line
	more    int // unknown lines that are not kept
}

// hit is the first match of an entry, and the number of matches.
type hit struct {
	count  int
	line   Line
	groups map[string]string
}

// WithCode returns the failures whose examples contain one of the codes.
func (c *Catalog) WithCode(codes []Code) []*Entry {
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

// Text diagnoses the text b.
func (c *Catalog) Text(b []byte) *Report {
	r, _ := c.Read(bytes.NewReader(b)) // reading memory does not fail
	return r
}

// Read diagnoses the text from r. If reading fails, Read returns the error, and the report on the text before the
// error.
func (c *Catalog) Read(r io.Reader) (*Report, error) { return c.read(r, maxWork) }

func (c *Catalog) read(r io.Reader, work int) (*Report, error) {
	s := &scanner{
		c: c, work: work, hits: make([]hit, len(c.Entries)), also: map[[2]int]bool{},
		words: words("error", "fatal", "fail", "panic", "exception", "abort", "segmentation", "undefined", "denied", "killed",
			"unable", "cannot", "can't", "<e>", "not found", "no such", "could not", "mismatch", "illegal", "bus error",
			"terminate", "trap", "*** ", "what():", "insufficient", "unsupported", "[e:", "exit", "not able", "invalid", "incompatible",
			"timed out", "refused", "corrupt", "crashed", "assertion", "does not exist", "not in available"),
		harmless: words("0 error", "no error", "without error", "error: 0", "error=0", "error = 0", "errors: 0", "0 failed", "failed: 0", "error code: 0", "not an error"),
		suspect:  suspect.Get(),
		level:    level.Get(),
	}
	err := s.read(r)
	return s.report(), err
}

var (
	// suspect matches lines that look like errors, by their words or by a program's exit code.
	suspect = lazyregexp.New(`(?i:(?:^|[^a-z0-9_-])(?:[a-z]*errors?|fatal|fail(?:s|ed|ures?)?|panic(?:ked)?|[a-z]*exception|` +
		`abort(?:ed)?|segmentation fault|bus error|illegal instruction|(?:trace/)?breakpoint trap|terminate called|` +
		`undefined (?:hidden )?(?:reference|symbol)|permission denied|insufficient|killed|unable to|cannot|can't|could not|` +
		`not found|no such|not able to|mismatch(?:ed)?|unsupported|invalid|incompatible|timed out|refused|corrupt(?:ed)?|crashed|assertion|does not exist|not in available)(?:[^a-z0-9_-]|$)|make(?:\[[0-9]+\])?: \*\*\* |what\(\):|` +
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

// match compares a line with the catalog.
func (s *scanner) match(number int, line []byte) {
	if s.work <= 0 {
		s.skipped++
		return
	}
	line = ansi.StripBytes(bytes.TrimRight(line, "\r\n"))
	s.goOn(number, line)
	found, benign := s.find(number, line)
	if benign {
		s.benign++
		return
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

// find returns the entries that match a line, and whether a benign one does. It notes the first match of each.
func (s *scanner) find(number int, line []byte) (found []int, benign bool) {
	s.low = literal.Lower(s.low[:0], line)
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
			return nil, true
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
	return found, false
}

// goOn appends the line to a message of several lines: the indented lines below `CMake Error at` have the problem.
func (s *scanner) goOn(number int, line []byte) {
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	if !bytes.HasPrefix(line, []byte("  ")) {
		s.endBlock()
		s.inBlock = bytes.HasPrefix(line, []byte("CMake Error"))
		s.joined = Line{Number: number}
	}
	if s.inBlock && len(s.joined.Text) < maxLine {
		s.joined.Text = clip(strings.TrimSpace(s.joined.Text+" "+text(line)), maxLine)
	}
	for _, i := range s.block {
		if h := &s.hits[i].line; len(h.Text) < maxLine {
			h.Text = clip(h.Text+" "+text(line), maxLine)
		}
	}
}

// endBlock compares a message of several lines with the catalog as one line: CMake wraps its sentences.
func (s *scanner) endBlock() {
	if s.inBlock {
		found, _ := s.find(s.joined.Number, []byte(s.joined.Text))
		for _, e := range found {
			s.hits[e].count = max(s.hits[e].count, 1)
		}
	}
	s.inBlock, s.block = false, nil
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

// text returns the line as a printable string.
func text(line []byte) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, strings.TrimSpace(strings.ToValidUTF8(string(line), "�")))
}

// clip shortens s to at most n bytes.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
