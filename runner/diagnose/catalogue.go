package diagnose

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/runner/literal"
)

// Rank tells how near a failure is to the root: a cause comes before a symptom.
type Rank string

// The ranks, in the order of findings.
const (
	Cause       Rank = "cause"       // the line tells what is wrong; the default
	Symptom     Rank = "symptom"     // the line tells where it broke
	Consequence Rank = "consequence" // the line follows from another failure, usually above it
)

func ranks() []Rank { return []Rank{Cause, Symptom, Consequence} }

// Places are where a failure can be seen.
func Places() []string { return []string{"compile", "tool", "device", "logcat", "fetch"} }

// Entry is a known failure, or a known harmless line that looks like one. Its tags are those of block failure in a
// catalogue.
type Entry struct {
	ID       string   `hcl:",label"`
	File     string   // of the block, for messages
	Where    []string `hcl:"where"`             // of Places
	Patterns []string `hcl:"patterns"`          // regular expressions (RE2); a line that matches one is this failure
	Also     []string `hcl:"also,optional"`     // each must match some line too; a guard for patterns that mean little alone
	Rank     Rank     `hcl:"rank,optional"`     // "": Cause
	Severity string   `hcl:"severity,optional"` // "warning": the program can go on; "error" or ""
	Benign   bool     // the line is noise
	Seed     bool     `hcl:"seed,optional"` // seen in the reproduction of llm.npu on a Snapdragon 8 Elite
	Cause    string   `hcl:"cause"`         // {name} stands for the match of the group of that name
	Remedy   string   `hcl:"remedy"`        // as Cause; empty for a benign entry
	Source   string   `hcl:"source"`
	Explains []string `hcl:"explains,optional"`
	Examples []string `hcl:"examples"` // texts of which this entry is the diagnosis
}

// Warning tells whether the program can go on.
func (e *Entry) Warning() bool { return e.Severity == "warning" }

// Catalogue is all failures that are known, and the names of codes. It may be used by several goroutines.
type Catalogue struct {
	Entries []*Entry
	Codes   Codes

	patterns []pattern
	words    finder // of texts of which every match of a pattern has one
	byID     map[string]*Entry
}

// pattern is one compiled pattern of an entry.
type pattern struct {
	entry int
	also  int // index in Entry.Also, -1: of Entry.Patterns
	re    *regexp.Regexp
}

const (
	// minLiteral is how long a text every match of a pattern must contain: patterns without one would be tried on every
	// line, and match too much.
	minLiteral = 3
	maxPattern = 400 // bytes of a pattern
	maxEntries = 2000
)

// New compiles a catalogue. Of entries with the same ID the last counts, at the place of the first. The error lists all
// that is wrong.
func New(entries []*Entry, codes Codes) (*Catalogue, error) {
	c := &Catalogue{Codes: codes, words: finder{}, byID: map[string]*Entry{}}
	var errs []error
	for _, e := range entries {
		if i := slices.IndexFunc(c.Entries, func(o *Entry) bool { return o.ID == e.ID }); i >= 0 {
			c.Entries[i] = e
		} else {
			c.Entries = append(c.Entries, e)
		}
		c.byID[e.ID] = e
	}
	if len(c.Entries) > maxEntries {
		return nil, fmt.Errorf("%d failures are too many: at most %d", len(c.Entries), maxEntries)
	}
	for i, e := range c.Entries {
		e.Rank = cmp.Or(e.Rank, Cause)
		if err := c.compile(i, e); err != nil {
			errs = append(errs, fmt.Errorf("%s: failure %q: %w", e.File, e.ID, err))
		}
	}
	return c, errors.Join(errs...)
}

// Entry returns the entry of the ID, nil if there is none.
func (c *Catalogue) Entry(id string) *Entry { return c.byID[id] }

func (c *Catalogue) compile(i int, e *Entry) error {
	switch {
	case e.ID == "":
		return errors.New("it has no name")
	case len(e.Patterns) == 0:
		return errors.New("it has no patterns")
	case e.Cause == "":
		return errors.New("it has no cause")
	case e.Remedy == "" && !e.Benign:
		return errors.New("it has no remedy: say what to do")
	case !slices.Contains(ranks(), e.Rank):
		return fmt.Errorf("rank %q: use one of %q", e.Rank, ranks())
	case !slices.Contains([]string{"", "error", "warning"}, e.Severity):
		return fmt.Errorf("severity %q: use error or warning", e.Severity)
	case len(e.Where) == 0:
		return fmt.Errorf("where is empty: say where it is seen, of %s", strings.Join(Places(), ", "))
	}
	for _, w := range e.Where {
		if !slices.Contains(Places(), w) {
			return fmt.Errorf("where has %q, which is none of %s", w, strings.Join(Places(), ", "))
		}
	}
	for _, id := range e.Explains {
		if c.byID[id] == nil {
			return fmt.Errorf("explains has %q, which is no failure", id)
		}
	}
	for _, p := range e.Patterns {
		re, err := c.add(i, -1, p)
		if err != nil {
			return err
		}
		for _, name := range placeholder.Get().FindAllStringSubmatch(e.Cause+e.Remedy, -1) {
			if re.SubexpIndex(name[1]) < 0 {
				return fmt.Errorf("{%s} stands in cause or remedy, and pattern %q has no group (?P<%s>…)", name[1], p, name[1])
			}
		}
	}
	for j, p := range e.Also {
		if _, err := c.add(i, j, p); err != nil {
			return err
		}
	}
	return nil
}

func (c *Catalogue) add(entry, also int, text string) (*regexp.Regexp, error) {
	if len(text) > maxPattern {
		return nil, fmt.Errorf("pattern %.40q… has more than %d bytes", text, maxPattern)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", text, err)
	}
	literals := literal.Of(text)
	if len(literals) == 0 || slices.ContainsFunc(literals, func(s string) bool { return len(s) < minLiteral }) {
		return nil, fmt.Errorf("pattern %q matches lines that have no text of %d bytes in common: write out more of the message", text, minLiteral)
	}
	for _, l := range literals {
		c.words.add(l, len(c.patterns))
	}
	c.patterns = append(c.patterns, pattern{entry: entry, also: also, re: re})
	return re, nil
}

// placeholder matches {name} in a cause or remedy.
var placeholder = lazyregexp.New(`\{([a-z_]+)\}`)
