package diagnose

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
)

// How much is looked at. Of what is longer, the rest of a line, and the middle of the input, are skipped.
const (
	maxLine    = 4 << 10
	headBytes  = 8 << 20
	tailBytes  = 8 << 20   // at most; at least half of it
	maxUnknown = 20        // lines that look like errors and are not known, which a Report keeps
	maxWork    = 256 << 20 // bytes, each as often as a pattern is tried on it; logs that nobody made up take a tenth of it
)

// Line is a line of the input.
type Line struct {
	Number int    `json:"line"` // counted from 1
	Text   string `json:"text"` // at most maxLine bytes, without colours
}

// scanner collects what a Report is made of.
type scanner struct {
	c       *Catalogue
	ansi    *regexp.Regexp
	suspect *regexp.Regexp
	words   [][]byte // one of them is in every line that suspect matches
	nothing [][]byte // lines with one of them speak of errors that are none
	low     []byte
	try     []int // patterns that may match the line

	work    int // left of maxWork
	lines   int // seen, also those that were skipped
	skipped int
	benign  int
	hits    []hit // by entry
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

// Text diagnoses what is in b.
func (c *Catalogue) Text(b []byte) *Report {
	r, _ := c.Read(bytes.NewReader(b)) // reading memory does not fail
	return r
}

// Read diagnoses what r gives until its end. The error is r's; then the report tells of what came before.
func (c *Catalogue) Read(r io.Reader) (*Report, error) { return c.read(r, maxWork) }

func (c *Catalogue) read(r io.Reader, work int) (*Report, error) {
	s := &scanner{
		c: c, work: work, hits: make([]hit, len(c.Entries)), also: map[[2]int]bool{}, ansi: regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`),
		words: words("error", "fatal", "fail", "panic", "exception", "abort", "segmentation", "undefined", "denied", "killed", "unable", "cannot", "can't", "<e>",
			"not found", "no such", "could not"),
		nothing: words("0 error", "no error", "without error", "error: 0", "error=0", "error = 0", "errors: 0", "0 failed", "failed: 0", "error code: 0", "not an error"),
		suspect: regexp.MustCompile(`(?i)(?:^|[^a-z0-9_-])(?:[a-z]*errors?|fatal|failed|failure|panic(?:ked)?|[a-z]*exception|abort(?:ed)?|segmentation fault|undefined (?:reference|symbol)|permission denied|killed|unable to|cannot|can't|could not|not found|no such)(?:[^a-z0-9_-]|$)|<E>`),
	}
	err := s.read(r)
	return s.report(), err
}

// read splits the input into lines: the first ones are looked at as they come, of the others the last.
func (s *scanner) read(r io.Reader) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	var old, now chunk
	seen := 0
	for {
		part, err := in.ReadSlice('\n')
		room := maxLine - len(line)
		line = append(line, part[:min(room, len(part))]...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err == nil || len(line) > 0 {
			s.lines++
			switch {
			case seen < headBytes:
				s.look(s.lines, line)
			default:
				if len(now.text) >= tailBytes/2 {
					s.skipped += old.lines
					old, now = now, chunk{}
				}
				if now.lines == 0 {
					now.first = s.lines
				}
				now.text = append(now.text, bytes.TrimRight(line, "\r\n")...)
				now.text = append(now.text, '\n')
				now.lines++
			}
			seen += len(line)
			line = line[:0]
		}
		if err != nil {
			for _, c := range []chunk{old, now} {
				n := c.first
				for l := range bytes.Lines(c.text) {
					s.look(n, l)
					n++
				}
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// chunk is some lines in one piece.
type chunk struct {
	text  []byte
	first int // number of its first line
	lines int
}

// look matches one line against the catalogue.
func (s *scanner) look(number int, line []byte) {
	if s.work <= 0 {
		s.skipped++
		return
	}
	line = bytes.TrimRight(line, "\r\n")
	if bytes.IndexByte(line, 0x1b) >= 0 {
		line = s.ansi.ReplaceAll(line, nil)
	}
	s.low = lower(s.low[:0], line)
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
			h.line = Line{number, text(line)}
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
	}
	if len(found) == 0 && hasAny(s.low, s.words) && s.suspect.Match(line) && !hasAny(s.low, s.nothing) {
		if len(s.unknown) < maxUnknown {
			s.unknown = append(s.unknown, Line{number, text(line)})
		} else {
			s.more++
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
