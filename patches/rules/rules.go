// Package rules rewrites C++ sources to match the declarations in an SDK's headers.
//
// A Rule names old and new code, the header declarations that make the rule necessary, and the expected number of
// places in a source tree. Rules match tokens, so comments and strings stay unchanged. A second run changes nothing.
//
// A rename rule changes one name. With a receiver, it matches only member accesses: x.old, p->old, Receiver::old.
//
// A replace rule changes code of a given shape: C++ text without regard to blanks and comments. In a shape, $name
// stands for one argument: anything with balanced brackets and without a comma outside them. $$name stands for any
// number of arguments.
//
// The package does not read files. It does not know the types of objects, macro expansion or conditional
// compilation. The limits in a rule guard against members of other classes.
package rules

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/patches/cpptoken"
)

// Rule is a `rename` or `replace` block of a rules file.
type Rule struct {
	Kind        string // rename or replace
	Name        string `hcl:"name,label"`
	Description string `hcl:"description,optional"`
	From        string `hcl:"from"` // a name or a shape
	// To is the new code. If it is empty, a replace rule deletes the code, its semicolon and a line that becomes blank.
	To string `hcl:"to"`
	// Receiver is the class of a rename's From. If it is set, the rule matches only member accesses. Diagnose compares
	// Receiver with the class in a compiler's message.
	Receiver string   `hcl:"receiver,optional"`
	When     *When    `hcl:"when,block"`
	Files    []string `hcl:"files"` // doublestar patterns of slash paths under the source root
	Expect   Expect   `hcl:"expect,block"`
}

// When is a rule's condition: declarations that a header must or must not contain. Comments in the header do not count.
type When struct {
	Header   string `hcl:"header"` // slash path under the SDK's include folder, or a doublestar pattern
	Lacks    string `hcl:"lacks,optional"`
	Declares string `hcl:"declares,optional"`
}

// Expect limits how many places in a source tree a rule matches. Places that need no change count too.
type Expect struct {
	Min   int          `hcl:"min,optional"`
	Max   int          `hcl:"max"`
	Files []FileExpect `hcl:"file,block"`
}

// FileExpect limits how many places a rule matches in each file whose path matches a pattern. The pattern need not
// match any file.
type FileExpect struct {
	Pattern string `hcl:"pattern,label"`
	Min     int    `hcl:"min,optional"`
	Max     int    `hcl:"max"`
}

// String returns the rule's kind and name, as in a rules file.
func (r Rule) String() string { return fmt.Sprintf("%s %q", r.Kind, r.Name) }

var name = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Validate rejects an invalid rule. It reads no sources.
func (r Rule) Validate() error {
	errs := []error{r.When.Validate()}
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if r.Kind == "rename" && (!name.MatchString(r.From) || !name.MatchString(r.To)) {
		bad("from %q and to %q must be C++ names", r.From, r.To)
	}
	if r.Receiver != "" && (r.Kind != "rename" || !name.MatchString(r.Receiver)) {
		bad("receiver %q must be a class name without its namespace, in a rename rule", r.Receiver)
	}
	if _, err := r.shapes(); err != nil {
		bad("%w", err)
	}
	if len(r.Files) == 0 {
		bad("files is empty: name the sources of the rule")
	}
	for _, f := range r.Files {
		if !doublestar.ValidatePattern(f) {
			bad("files: invalid pattern %q", f)
		}
	}
	e := r.Expect
	if e.Min < 0 || e.Max < e.Min || e.Max == 0 {
		bad("expect: min %d and max %d must satisfy 0 <= min <= max, 0 < max", e.Min, e.Max)
	}
	if r.To == "" && e.Min > 0 {
		bad("expect: min must be 0 if to is empty, because a second run finds nothing to count")
	}
	for _, f := range e.Files {
		if !doublestar.ValidatePattern(f.Pattern) || f.Min < 0 || f.Max < f.Min {
			bad("expect: file %q must be a pattern, with 0 <= min <= max", f.Pattern)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%s: %w", r, err)
	}
	return nil
}

// Validate rejects an invalid condition. A nil condition is valid.
func (w *When) Validate() error {
	switch {
	case w == nil:
		return nil
	case w.Lacks == "" && w.Declares == "":
		return fmt.Errorf("when: missing condition for %s: set lacks or declares", w.Header)
	case !doublestar.ValidatePattern(w.Header):
		return fmt.Errorf("when: invalid pattern %q", w.Header)
	}
	return nil
}

// Matches reports whether the rule applies to a file. The path is a slash path under the source root.
func (r Rule) Matches(path string) bool {
	return slices.ContainsFunc(r.Files, func(f string) bool { return doublestar.MatchUnvalidated(f, path) })
}

// Holds reports whether the condition holds, and why. The parameter names contains the names in the header.
func (w When) Holds(names map[string]bool) (bool, string) {
	switch {
	case w.Lacks != "" && names[w.Lacks]:
		return false, fmt.Sprintf("%s declares %s", w.Header, w.Lacks)
	case w.Declares != "" && !names[w.Declares]:
		return false, fmt.Sprintf("%s does not declare %s", w.Header, w.Declares)
	case w.Lacks == "":
		return true, fmt.Sprintf("%s declares %s", w.Header, w.Declares)
	case w.Declares == "":
		return true, fmt.Sprintf("%s lacks %s", w.Header, w.Lacks)
	}
	return true, fmt.Sprintf("%s lacks %s and declares %s", w.Header, w.Lacks, w.Declares)
}

// AddNames adds the names in a header to the set names.
func AddNames(names map[string]bool, header []byte) error {
	tokens, err := cpptoken.Scan(header)
	for _, k := range tokens {
		if k.Kind == cpptoken.Name {
			names[k.Text] = true
		}
	}
	return err
}

// Place is a position in a source file. Lines and columns count from 1. Columns are in bytes.
type Place struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Col  int    `json:"col"`
}

func (p Place) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col) }

// shownPlaces is the largest number of places in an error.
const shownPlaces = 50

// Count returns an error if the rule matches too many or too few places. If few is true, too few places are allowed.
func (r Rule) Count(files []string, changed, already []Place, few bool) error {
	check := func(changed, already []Place, least, most int, in string) error {
		found := len(changed) + len(already)
		short := found < least && !few
		if !short && found <= most {
			return nil
		}
		text := "check whether the name has another meaning in some places; if not, raise the rule's expect"
		if short {
			text = "check that the series is for this source tree, and that its files match the rule's files"
		}
		for i, p := range slices.Concat(changed, already) {
			if i == shownPlaces {
				text += fmt.Sprintf("\n  and %d more", found-i)
				break
			}
			text += "\n  " + p.String()
		}
		return fmt.Errorf("%s: found %d places of %s and %d of %s, expected %d to %d in total in %s; %s",
			r, len(changed), r.From, len(already), r.target(), least, most, in, text)
	}
	if err := check(changed, already, r.Expect.Min, r.Expect.Max, fmt.Sprintf("%q", r.Files)); err != nil {
		return err
	}
	for _, f := range r.Expect.Files {
		for _, file := range files {
			if !doublestar.MatchUnvalidated(f.Pattern, file) {
				continue
			}
			elsewhere := func(p Place) bool { return p.File != file }
			if err := check(slices.DeleteFunc(slices.Clone(changed), elsewhere),
				slices.DeleteFunc(slices.Clone(already), elsewhere), f.Min, f.Max, file); err != nil {
				return err
			}
		}
	}
	return nil
}

// target describes the new code in words.
func (r Rule) target() string {
	if r.To == "" {
		return "nothing"
	}
	return r.To
}
