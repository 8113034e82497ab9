// Package rename gives names in C++ sources the spelling that an SDK's headers declare.
//
// A Rule names an old and a new spelling, what the headers must say for the rule to be needed, and how many places a source
// tree is expected to have. A place is a token, so comments and strings stay as they are.
//
// It knows nothing of types: a rule with a receiver takes every member access of that name (x.old, p->old, Receiver::old),
// whatever x is, and nothing else. It does not read files; its callers do.
package rename

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hexmage/hexmage/patches/cpptoken"
)

// Rule is one rename, as a `rename` block of a rules file holds it.
type Rule struct {
	Name        string `hcl:"name,label"`
	Description string `hcl:"description,optional"`
	From        string `hcl:"from"`
	To          string `hcl:"to"`
	// Receiver is the class whose member From is. It limits places to member accesses and is what a compiler's message names.
	Receiver string   `hcl:"receiver,optional"`
	When     *When    `hcl:"when,block"`
	Files    []string `hcl:"files"` // doublestar patterns of slash paths under the source root
	Expect   Expect   `hcl:"expect,block"`
}

// When says what an SDK's header must declare, and not declare, for a rule to be needed. Names are looked for among the
// header's tokens; those in its comments do not count.
type When struct {
	Header   string `hcl:"header"` // slash path under the SDK's include folder
	Lacks    string `hcl:"lacks,optional"`
	Declares string `hcl:"declares,optional"`
}

// Expect bounds the number of places of one rule in one source tree, in either spelling.
type Expect struct {
	Min int `hcl:"min,optional"`
	Max int `hcl:"max"`
}

var name = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Validate says what is wrong with a rule by itself.
func (r Rule) Validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("rename %q: "+format, append([]any{r.Name}, args...)...))
	}
	if !name.MatchString(r.From) || !name.MatchString(r.To) {
		bad("from %q and to %q must be C++ names", r.From, r.To)
	}
	if r.From == r.To {
		bad("from and to are both %q", r.From)
	}
	if r.Receiver != "" && !name.MatchString(r.Receiver) {
		bad("receiver %q must be a class name without its namespace", r.Receiver)
	}
	if len(r.Files) == 0 {
		bad("files is empty; name the sources it applies to")
	}
	for _, f := range r.Files {
		if !doublestar.ValidatePattern(f) {
			bad("files: %q is not a pattern", f)
		}
	}
	if r.Expect.Min < 0 || r.Expect.Max < r.Expect.Min || r.Expect.Max == 0 {
		bad("expect: min %d and max %d must satisfy 0 <= min <= max, 0 < max", r.Expect.Min, r.Expect.Max)
	}
	if w := r.When; w != nil && w.Lacks == "" && w.Declares == "" {
		bad("when: say what %s lacks or declares", w.Header)
	}
	return errors.Join(errs...)
}

// Matches says whether the rule applies to the file with this slash path under the source root.
func (r Rule) Matches(path string) bool {
	for _, f := range r.Files {
		if doublestar.MatchUnvalidated(f, path) {
			return true
		}
	}
	return false
}

// Holds says whether a header with these names needs the rule, and why or why not.
func (w When) Holds(names map[string]bool) (bool, string) {
	if w.Lacks != "" && names[w.Lacks] {
		return false, fmt.Sprintf("%s declares %s", w.Header, w.Lacks)
	}
	if w.Declares != "" && !names[w.Declares] {
		return false, fmt.Sprintf("%s does not declare %s", w.Header, w.Declares)
	}
	reason := w.Header
	if w.Lacks != "" {
		reason += " lacks " + w.Lacks
	}
	if w.Declares != "" {
		if w.Lacks != "" {
			reason += " and"
		}
		reason += " declares " + w.Declares
	}
	return true, reason
}

// Names returns the names among a header's tokens.
func Names(header []byte) (map[string]bool, error) {
	tokens, err := cpptoken.Scan(header)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, k := range tokens {
		if k.Kind == cpptoken.Identifier {
			names[k.Name] = true
		}
	}
	return names, nil
}

// Place is where a name stands. Lines and columns count from 1; columns in bytes.
type Place struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Col  int    `json:"col"`
}

func (p Place) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col) }

// Compare orders places by file, line and column.
func (p Place) Compare(q Place) int {
	return cmp.Or(cmp.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Col, q.Col))
}

// Rewrite returns the source with every place of From spelled To, the places that were changed, and those that were spelled
// To already. Line splices inside a name are kept behind it, so that lines keep their numbers. Rewriting twice changes nothing more.
func (r Rule) Rewrite(file string, src []byte) (out []byte, changed, already []Place, err error) {
	tokens, err := cpptoken.Scan(src)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%s:%w", file, err)
	}
	var before, beforeThat cpptoken.Token // the last two tokens that are not blanks or comments
	copied := 0
	for _, k := range tokens {
		switch k.Kind {
		case cpptoken.Space, cpptoken.Newline, cpptoken.Comment:
			continue
		case cpptoken.Identifier:
			if (k.Name == r.From || k.Name == r.To) && r.member(before, beforeThat) {
				place := Place{File: file, Line: k.Line, Col: k.Col}
				if k.Name == r.To {
					already = append(already, place)
					break
				}
				changed = append(changed, place)
				out = append(out, src[copied:k.Start]...)
				out = append(out, r.To...)
				out = append(out, splices(src[k.Start:k.End])...)
				copied = k.End
			}
		}
		beforeThat, before = before, k
	}
	if changed == nil {
		return src, nil, already, nil
	}
	return append(out, src[copied:]...), changed, already, nil
}

// member says whether a name after these two tokens is one the rule means.
func (r Rule) member(before, beforeThat cpptoken.Token) bool {
	if r.Receiver == "" {
		return true
	}
	switch before.Name {
	case ".", "->":
		return before.Kind == cpptoken.Punct
	case "::":
		return beforeThat.Kind == cpptoken.Identifier && beforeThat.Name == r.Receiver
	}
	return false
}

var splice = regexp.MustCompile(`\\[ \t\v\f]*\r?\n`)

func splices(text []byte) []byte {
	var out []byte
	for _, s := range splice.FindAll(text, -1) {
		out = append(out, s...)
	}
	return out
}

// CountError says that a rule that is needed found too few or too many places.
type CountError struct {
	Rule    Rule
	Changed []Place // spelled From
	Already []Place // spelled To
}

// shownPlaces bounds how many places an error lists.
const shownPlaces = 50

func (e *CountError) Error() string {
	found := len(e.Changed) + len(e.Already)
	text := fmt.Sprintf("rename %q: %d places of %s and %d of %s, expected %d to %d in %q; ", e.Rule.Name,
		len(e.Changed), e.Rule.From, len(e.Already), e.Rule.To, e.Rule.Expect.Min, e.Rule.Expect.Max, e.Rule.Files)
	if found < e.Rule.Expect.Min {
		text += "is the source the tree this series is for, and are its files where the rule looks?"
	} else {
		text += "does the name mean something else in some of them? If all are right, raise the rule's expect"
	}
	all := append(append([]Place(nil), e.Changed...), e.Already...)
	for i, p := range all {
		if i == shownPlaces {
			return text + fmt.Sprintf("\n  and %d more", len(all)-i)
		}
		text += "\n  " + p.String()
	}
	return text
}

// Count checks the number of places found in a whole tree. What is wrong is a *CountError.
func (r Rule) Count(changed, already []Place) error {
	if found := len(changed) + len(already); found < r.Expect.Min || found > r.Expect.Max {
		return &CountError{Rule: r, Changed: changed, Already: already}
	}
	return nil
}
