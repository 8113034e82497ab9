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

// Rank orders failures: a cause comes before a symptom.
type Rank string

// The ranks, in the order of findings.
const (
	Cause       Rank = "cause"       // the line names the problem; the default
	Symptom     Rank = "symptom"     // the line names the place of the problem
	Consequence Rank = "consequence" // the line follows from another failure, usually above it
)

func ranks() []Rank { return []Rank{Cause, Symptom, Consequence} }

// Places returns the kinds of text in which a failure can appear.
func Places() []string { return []string{"compile", "tool", "device", "logcat", "fetch"} }

// Entry is a known failure, or a harmless line that looks like a failure. Each failure block in a catalog file
// describes an entry.
type Entry struct {
	ID       string   `hcl:",label"`
	File     string   // file of the block, for messages
	Where    []string `hcl:"where"`             // places, from Places, where the failure can appear
	Patterns []string `hcl:"patterns"`          // regular expressions (RE2); a line that matches one is this failure
	Also     []string `hcl:"also,optional"`     // must match, too, each in some line; for weak Patterns
	Rank     Rank     `hcl:"rank,optional"`     // "": Cause
	Severity string   `hcl:"severity,optional"` // "warning": the program can go on; "error" or ""
	Benign   bool     // the line is noise
	Seed     bool     `hcl:"seed,optional"` // seen in the reproduction of llm.npu on a Snapdragon 8 Elite
	Cause    string   `hcl:"cause"`         // replaces {name} by the match of group name
	Remedy   string   `hcl:"remedy"`        // replaces {name} as in Cause; empty for a benign entry
	Source   string   `hcl:"source"`
	Explains []string `hcl:"explains,optional"`
	Examples []string `hcl:"examples"` // texts that this entry diagnoses
}

// Warning reports whether the program can continue after the failure.
func (e *Entry) Warning() bool { return e.Severity == "warning" }

// Catalog holds known failures and the names of error codes. It is safe for concurrent use.
type Catalog struct {
	Entries []*Entry
	Codes   Codes

	patterns []pattern
	words    finder // literals of the patterns: a matching line contains one
	byID     map[string]*Entry
}

// pattern is one compiled pattern of an entry.
type pattern struct {
	entry int
	also  int // index in Entry.Also, -1: of Entry.Patterns
	re    *regexp.Regexp
}

const (
	// minLiteral is the minimum length of a literal that each match of a pattern contains. A pattern without one
	// would be tried on every line, and match too much.
	minLiteral = 3
	maxPattern = 400 // bytes of a pattern
	maxEntries = 2000
)

// New compiles a catalog. An entry replaces an earlier entry with the same ID. The error lists all problems.
func New(entries []*Entry, codes Codes) (*Catalog, error) {
	c := &Catalog{Codes: codes, words: finder{}, byID: map[string]*Entry{}}
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
		return nil, fmt.Errorf("the catalogs have %d failures, more than the limit of %d", len(c.Entries), maxEntries)
	}
	for i, e := range c.Entries {
		e.Rank = cmp.Or(e.Rank, Cause)
		if err := c.compile(i, e); err != nil {
			errs = append(errs, fmt.Errorf("%s: failure %q: %w", e.File, e.ID, err))
		}
	}
	return c, errors.Join(errs...)
}

// Entry returns the entry with the ID, or nil.
func (c *Catalog) Entry(id string) *Entry { return c.byID[id] }

func (c *Catalog) compile(i int, e *Entry) error {
	switch {
	case e.ID == "":
		return errors.New("missing name")
	case len(e.Patterns) == 0:
		return errors.New("missing patterns")
	case e.Cause == "":
		return errors.New("missing cause")
	case e.Remedy == "" && !e.Benign:
		return errors.New("missing remedy")
	case !slices.Contains(ranks(), e.Rank):
		return fmt.Errorf("invalid rank %q; use one of %q", e.Rank, ranks())
	case !slices.Contains([]string{"", "error", "warning"}, e.Severity):
		return fmt.Errorf("invalid severity %q; use error or warning", e.Severity)
	case len(e.Where) == 0:
		return fmt.Errorf("where: missing value; list one or more of %s", strings.Join(Places(), ", "))
	}
	for _, w := range e.Where {
		if !slices.Contains(Places(), w) {
			return fmt.Errorf("where: invalid value %q; use one of %s", w, strings.Join(Places(), ", "))
		}
	}
	for _, id := range e.Explains {
		if c.byID[id] == nil {
			return fmt.Errorf("explains: unknown failure %q", id)
		}
	}
	for _, p := range e.Patterns {
		re, err := c.add(i, -1, p)
		if err != nil {
			return err
		}
		for _, name := range placeholder.Get().FindAllStringSubmatch(e.Cause+e.Remedy, -1) {
			if re.SubexpIndex(name[1]) < 0 {
				return fmt.Errorf("{%s} in cause or remedy: pattern %q lacks the group (?P<%s>…)", name[1], p, name[1])
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

func (c *Catalog) add(entry, also int, text string) (*regexp.Regexp, error) {
	if len(text) > maxPattern {
		return nil, fmt.Errorf("pattern %.40q…: longer than %d bytes", text, maxPattern)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", text, err)
	}
	literals := literal.Of(text)
	if len(literals) == 0 || slices.ContainsFunc(literals, func(s string) bool { return len(s) < minLiteral }) {
		return nil, fmt.Errorf("pattern %q needs at least %d bytes of fixed text; include more of the message", text,
			minLiteral)
	}
	for _, l := range literals {
		c.words.add(l, len(c.patterns))
	}
	c.patterns = append(c.patterns, pattern{entry: entry, also: also, re: re})
	return re, nil
}

// placeholder matches {name} in a cause or remedy.
var placeholder = lazyregexp.New(`\{([a-z_]+)\}`)
