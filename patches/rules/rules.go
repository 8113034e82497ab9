// Package rules rewrites C++ sources so that they say what an SDK's headers declare.
//
// A Rule names old and new code, what the headers must say for the rule to be needed, and how many places a source tree
// is expected to have. Rules see tokens, so comments and strings stay as they are. A second run of a rule changes
// nothing.
//
// A rename rule is about one name. With a receiver it looks at member accesses only: x.old, p->old, Receiver::old.
//
// A replace rule is about code that has a shape: C++ text whose blanks and comments do not count. In a shape, $name
// stands for one argument: anything with balanced brackets and without a comma outside of them. $$name stands for any
// number of arguments.
//
// The package does not read files. It knows nothing of the types of objects, of macro expansion or of conditional
// compilation: the bounds of a rule guard against members of other classes.
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
	// Receiver is the class whose member a rename's From is. It limits places to member accesses and is what a
	// compiler's message names.
	Receiver string   `hcl:"receiver,optional"`
	When     *When    `hcl:"when,block"`
	Files    []string `hcl:"files"` // doublestar patterns of slash paths under the source root
	Expect   Expect   `hcl:"expect,block"`
}

// When says what an SDK's header must declare, and not declare, for a rule to be needed. Names are looked for among the
// header's tokens; those in its comments do not count.
type When struct {
	Header   string `hcl:"header"` // slash path under the SDK's include folder, or a doublestar pattern of several
	Lacks    string `hcl:"lacks,optional"`
	Declares string `hcl:"declares,optional"`
}

// Expect bounds the number of places of one rule in one source tree, those that need no change included.
type Expect struct {
	Min   int          `hcl:"min,optional"`
	Max   int          `hcl:"max"`
	Files []FileExpect `hcl:"file,block"`
}

// FileExpect bounds the number of places in each file that matches a pattern; no such file is no error.
type FileExpect struct {
	Pattern string `hcl:"pattern,label"`
	Min     int    `hcl:"min,optional"`
	Max     int    `hcl:"max"`
}

// String returns the rule's kind and name as a rules file has them.
func (r Rule) String() string { return fmt.Sprintf("%s %q", r.Kind, r.Name) }

var name = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Validate says what is wrong with a rule by itself.
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
		bad("files is empty; name the sources it applies to")
	}
	for _, f := range r.Files {
		if !doublestar.ValidatePattern(f) {
			bad("files: %q is not a pattern", f)
		}
	}
	e := r.Expect
	if e.Min < 0 || e.Max < e.Min || e.Max == 0 {
		bad("expect: min %d and max %d must satisfy 0 <= min <= max, 0 < max", e.Min, e.Max)
	}
	if r.To == "" && e.Min > 0 {
		bad("expect: min must be 0 where to is empty, because nothing is left to count the second time")
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

// Validate says what is wrong with a condition; with none there is nothing.
func (w *When) Validate() error {
	switch {
	case w == nil:
		return nil
	case w.Lacks == "" && w.Declares == "":
		return fmt.Errorf("when: say what %s lacks or declares", w.Header)
	case !doublestar.ValidatePattern(w.Header):
		return fmt.Errorf("when: %q is not a pattern", w.Header)
	}
	return nil
}

// Matches says whether the rule, which is valid, applies to the file with this slash path under the source root.
func (r Rule) Matches(path string) bool {
	return slices.ContainsFunc(r.Files, func(f string) bool { return doublestar.MatchUnvalidated(f, path) })
}

// Holds says whether a header with these names needs the rule, and why or why not.
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

// AddNames adds the names among a header's tokens to a set.
func AddNames(names map[string]bool, header []byte) error {
	tokens, err := cpptoken.Scan(header)
	for _, k := range tokens {
		if k.Kind == cpptoken.Name {
			names[k.Text] = true
		}
	}
	return err
}

// Place is where code stands. Lines and columns count from 1; columns in bytes.
type Place struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Col  int    `json:"col"`
}

func (p Place) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col) }

// shownPlaces bounds how many places an error lists.
const shownPlaces = 50

// Count checks the number of places that the rule found in a whole tree, and in each of the files that it looked at.
// few accepts fewer than the rule expects.
func (r Rule) Count(files []string, changed, already []Place, few bool) error {
	check := func(changed, already []Place, least, most int, in string) error {
		found := len(changed) + len(already)
		short := found < least && !few
		if !short && found <= most {
			return nil
		}
		text := "does the name mean something else in some of them? If all are right, raise the rule's expect"
		if short {
			text = "is the source the tree this series is for, and are its files where the rule looks?"
		}
		for i, p := range slices.Concat(changed, already) {
			if i == shownPlaces {
				text += fmt.Sprintf("\n  and %d more", found-i)
				break
			}
			text += "\n  " + p.String()
		}
		return fmt.Errorf("%s: %d places of %s and %d of %s, expected %d to %d in %s; %s",
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

// target returns the new code in words.
func (r Rule) target() string {
	if r.To == "" {
		return "nothing"
	}
	return r.To
}
