// Package rename gives names in C++ sources the spelling that an SDK's headers declare.
//
// A Rule names an old and a new spelling, what the headers must say for the rule to be needed, and how many places a source
// tree is expected to have. A place is a token, so comments and strings stay as they are.
//
// A rule with a receiver looks at member accesses only: x.old, p->old, Receiver::old.
//
// The package does not know the types of objects: the bounds of a rule guard against members of other classes. It does not
// read files; its callers do.
package rename

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/patches/cpptoken"
)

// Rule is one rename, as a `rename` block of a rules file holds it.
type Rule struct {
	Name string `hcl:"name,label"`
	From string `hcl:"from"`
	To   string `hcl:"to"`
	// Receiver is the class whose member From is. It limits places to member accesses and is what a compiler's message names.
	Receiver string `hcl:"receiver,optional"`
	Scope    `hcl:",remain"`
}

// Scope is what rules of all sorts have: where they look, how much they expect there, when they are needed.
type Scope struct {
	Description string   `hcl:"description,optional"`
	When        *When    `hcl:"when,block"`
	Files       []string `hcl:"files"` // doublestar patterns of slash paths under the source root
	Expect      Expect   `hcl:"expect,block"`
}

// When says what an SDK's header must declare, and not declare, for a rule to be needed. Names are looked for among the
// header's tokens; those in its comments do not count.
type When struct {
	Header   string `hcl:"header"` // slash path under the SDK's include folder, or a doublestar pattern of several
	Lacks    string `hcl:"lacks,optional"`
	Declares string `hcl:"declares,optional"`
}

// Expect bounds the number of places of one rule in one source tree, in either spelling.
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

var name = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

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
	for _, err := range r.Scope.Check() {
		bad("%w", err)
	}
	return errors.Join(errs...)
}

// Check says what is wrong with a scope.
func (s Scope) Check() []error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(s.Files) == 0 {
		bad("files is empty; name the sources it applies to")
	}
	for _, f := range s.Files {
		if !doublestar.ValidatePattern(f) {
			bad("files: %q is not a pattern", f)
		}
	}
	e := s.Expect
	if e.Min < 0 || e.Max < e.Min || e.Max == 0 {
		bad("expect: min %d and max %d must satisfy 0 <= min <= max, 0 < max", e.Min, e.Max)
	}
	for _, f := range e.Files {
		if !doublestar.ValidatePattern(f.Pattern) {
			bad("expect: file %q is not a pattern", f.Pattern)
		}
		if f.Min < 0 || f.Max < f.Min {
			bad("expect: file %q: min %d and max %d must satisfy 0 <= min <= max", f.Pattern, f.Min, f.Max)
		}
	}
	if err := s.When.Check(); err != nil {
		errs = append(errs, err)
	}
	return errs
}

// Check says what is wrong with a condition; with none there is nothing.
func (w *When) Check() error {
	var errs []error
	if w != nil && w.Lacks == "" && w.Declares == "" {
		errs = append(errs, fmt.Errorf("when: say what %s lacks or declares", w.Header))
	}
	if w != nil && !doublestar.ValidatePattern(w.Header) {
		errs = append(errs, fmt.Errorf("when: %q is not a pattern", w.Header))
	}
	return errors.Join(errs...)
}

// WithoutMinimum returns the scope for sources that the rule was not written for: they may have fewer places.
func (s Scope) WithoutMinimum() Scope {
	s.Expect.Min, s.Expect.Files = 0, slices.Clone(s.Expect.Files)
	for i := range s.Expect.Files {
		s.Expect.Files[i].Min = 0
	}
	return s
}

// Matches says whether a rule with the scope, which is valid, applies to the file with this slash path under the source root.
func (s Scope) Matches(path string) bool {
	return slices.ContainsFunc(s.Files, func(f string) bool { return doublestar.MatchUnvalidated(f, path) })
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

// Rewritten is what a rule makes of one file.
type Rewritten struct {
	Out     []byte  // the source with its changes; the source itself if there are none
	Changed []Place // in the source as it was
	Already []Place // that are as the rule wants them
}

// Rewrite returns the source with every place of From spelled To. Line splices inside a name are kept behind it, so that lines
// keep their numbers. Rewriting twice changes nothing more.
func (r Rule) Rewrite(file string, src []byte) (Rewritten, error) {
	return r.RewriteSource(&Source{File: file, Text: src})
}

// RewriteSource returns what Rewrite returns.
func (r Rule) RewriteSource(s *Source) (Rewritten, error) {
	src := s.Text
	res := Rewritten{Out: src}
	if !s.MayHave(r.From, r.To) {
		return res, nil
	}
	code, err := s.Code()
	if err != nil {
		return res, err
	}
	var out []byte
	copied := 0
	for i, k := range code {
		if k.Kind != cpptoken.Identifier || k.Name != r.From && k.Name != r.To {
			continue
		}
		place := Place{File: s.File, Line: k.Line, Col: k.Col}
		if r.Receiver != "" && !r.member(code[:i]) {
			continue
		}
		if k.Name == r.To {
			res.Already = append(res.Already, place)
			continue
		}
		res.Changed = append(res.Changed, place)
		out = append(out, src[copied:k.Start]...)
		out = append(out, r.To...)
		out = append(out, splices(src[k.Start:k.End])...)
		copied = k.End
	}
	if res.Changed != nil {
		res.Out = append(out, src[copied:]...)
	}
	return res, nil
}

// Significant returns the tokens without blanks, line ends and comments.
func Significant(tokens []cpptoken.Token) []cpptoken.Token {
	code := make([]cpptoken.Token, 0, len(tokens)/2)
	for _, k := range tokens {
		switch k.Kind {
		case cpptoken.Space, cpptoken.Newline, cpptoken.Comment:
		default:
			code = append(code, k)
		}
	}
	return code
}

// member says whether a name after these tokens is a member's, as the rule means it.
func (r Rule) member(before []cpptoken.Token) bool {
	switch mark(before, 1) {
	case ".":
		return mark(before, 2) != "." // x.name, not pack... name
	case "->":
		return true
	case "::":
		return ident(before, 2) == r.Receiver
	}
	return false
}

// mark returns the n-th last token's spelling if it is a punctuation mark, else "".
func mark(code []cpptoken.Token, n int) string { return spelling(code, n, cpptoken.Punct) }

// ident returns the n-th last token's spelling if it is a name, else "".
func ident(code []cpptoken.Token, n int) string { return spelling(code, n, cpptoken.Identifier) }

func spelling(code []cpptoken.Token, n int, k cpptoken.Kind) string {
	if len(code) < n || code[len(code)-n].Kind != k {
		return ""
	}
	return code[len(code)-n].Name
}

var splice = lazyregexp.New(`\\[ \t\v\f]*\r?\n`)

func splices(text []byte) []byte { return bytes.Join(splice.Get().FindAll(text, -1), nil) }

// CountError says that a rule that is needed found too few or too many places.
type CountError struct {
	Rule    string // such as `rename "interface_scale"`
	Changed []Place
	Already []Place
	Min     int
	Max     int
	In      string // the pattern or file that was to have them
	Of      string // what the places are of, such as "get_interface_scale"
	To      string // what they are when they need no change, such as "interface_scale"
}

// shownPlaces bounds how many places an error lists.
const shownPlaces = 50

func (e *CountError) Error() string {
	text := fmt.Sprintf("%s: %d places of %s and %d of %s, expected %d to %d in %s; ", e.Rule,
		len(e.Changed), e.Of, len(e.Already), e.To, e.Min, e.Max, e.In)
	if len(e.Changed)+len(e.Already) < e.Min {
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

// Count checks the number of places that a rule, which makes To of Of, found in a whole tree, and in each of the files that were looked at.
// What is wrong is a *CountError.
func (s Scope) Count(rule, of, to string, files []string, changed, already []Place) error {
	wrong := func(c, a []Place, least, most int, in string) error {
		if found := len(c) + len(a); found >= least && found <= most {
			return nil
		}
		return &CountError{Rule: rule, Of: of, To: to, Changed: c, Already: a, Min: least, Max: most, In: in}
	}
	if err := wrong(changed, already, s.Expect.Min, s.Expect.Max, fmt.Sprintf("%q", s.Files)); err != nil {
		return err
	}
	in := func(file string, all []Place) (own []Place) {
		for _, p := range all {
			if p.File == file {
				own = append(own, p)
			}
		}
		return own
	}
	for _, f := range s.Expect.Files {
		for _, file := range files {
			if doublestar.MatchUnvalidated(f.Pattern, file) {
				if err := wrong(in(file, changed), in(file, already), f.Min, f.Max, file); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Count checks the number of places found in the files of a tree that the rule looks at.
func (r Rule) Count(files []string, changed, already []Place) error {
	return r.Scope.Count(fmt.Sprintf("rename %q", r.Name), r.From, r.To, files, changed, already)
}
