// Package edit changes C++ sources where giving a name another spelling is not enough: it adds #include lines, defines macros,
// inserts lines, guards functions with #ifndef, and rewrites or drops calls of a shape.
//
// All rules see tokens, so that comments and strings stay as they are, and all are idempotent: what one has done it finds done.
//
// It knows nothing of types, of macros' expansions or of which conditional code is compiled. It does not read files; its
// callers do.
package edit

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/patches/rename"
)

// Rule is one change that a block of a rules file asks for.
type Rule struct {
	Sort string // include, define, insert, guard or call: the block's type
	Name string
	rename.Scope
	Editor
}

// Editor changes one file.
type Editor interface {
	// Rewrite returns what becomes of a source. What it has changed it counts as Already the next time.
	Rewrite(file string, src []byte) (rename.Rewritten, error)
	// Of says in a few words what is changed, and to what.
	Of() (from, to string)
	validate() []error
}

// String names the rule as it stands in its file.
func (r Rule) String() string { return fmt.Sprintf("%s %q", r.Sort, r.Name) }

// Validate says what is wrong with a rule by itself.
func (r Rule) Validate() error {
	var errs []error
	for _, err := range append(r.Scope.Check(), r.validate()...) {
		errs = append(errs, fmt.Errorf("%s: %w", r, err))
	}
	return errors.Join(errs...)
}

// Count checks the number of places found in the files of a tree that the rule looks at.
func (r Rule) Count(files []string, changed, already []rename.Place) error {
	from, to := r.Of()
	return r.Scope.Count(r.String(), from, to, files, changed, already)
}

// Blocks are the blocks of a rules file that this package knows.
type Blocks struct {
	Includes []Include `hcl:"include,block"`
	Defines  []Define  `hcl:"define,block"`
	Inserts  []Insert  `hcl:"insert,block"`
	Guards   []Guard   `hcl:"guard,block"`
	Calls    []Call    `hcl:"call,block"`
}

// Rules returns the rules in the order in which they are to be applied.
func (b Blocks) Rules() []Rule {
	var out []Rule
	for _, r := range b.Includes {
		out = append(out, Rule{"include", r.Name, r.Scope, r})
	}
	for _, r := range b.Defines {
		out = append(out, Rule{"define", r.Name, r.Scope, r})
	}
	for _, r := range b.Inserts {
		out = append(out, Rule{"insert", r.Name, r.Scope, r})
	}
	for _, r := range b.Guards {
		out = append(out, Rule{"guard", r.Name, r.Scope, r})
	}
	for _, r := range b.Calls {
		out = append(out, Rule{"call", r.Name, r.Scope, r})
	}
	return out
}

// Include adds an #include line to each file that uses a name for which the header is needed.
type Include struct {
	Name         string   `hcl:"name,label"`
	Header       string   `hcl:"header"` // as it is written: HTP/core/x.h, or <x.h> with its brackets
	Uses         []string `hcl:"uses"`   // the names
	rename.Scope `hcl:",remain"`
}

// Define defines a macro, unless it is defined, before the first #include of each file that uses one of the names.
type Define struct {
	Name         string   `hcl:"name,label"`
	Macro        string   `hcl:"macro"`
	Value        string   `hcl:"value,optional"` // what it is defined as
	Uses         []string `hcl:"uses"`
	rename.Scope `hcl:",remain"`
}

// Insert puts a line behind the first place in a file that has a shape.
type Insert struct {
	Name         string   `hcl:"name,label"`
	Text         string   `hcl:"text"`  // the line; a file that has its first name in code has it already
	After        []string `hcl:"after"` // shapes as of Call.From; the first that the file has counts
	Uses         []string `hcl:"uses"`  // only files with one of these names, which must then have one of the shapes
	rename.Scope `hcl:",remain"`
}

// Guard puts #ifndef around functions of a file's outermost level that are used nowhere in the file but in arguments of
// some macros, or by other such functions.
type Guard struct {
	Name         string   `hcl:"name,label"`
	Macro        string   `hcl:"macro"`
	UsedBy       []string `hcl:"used_by"` // names of macros
	rename.Scope `hcl:",remain"`
}

// Call rewrites what has a shape. A shape is C++ text whose blanks and comments do not count, and in which $name stands for one
// argument (anything with balanced brackets, without a comma outside of them) and $$name for any number of arguments.
type Call struct {
	Name         string `hcl:"name,label"`
	From         string `hcl:"from"`
	To           string `hcl:"to"` // "" drops it, with the semicolon behind it and the line if nothing else is on it
	rename.Scope `hcl:",remain"`
}

// Of implements Editor.
func (r Include) Of() (string, string) {
	return "files without #include " + r.line(), "files with it"
}

// Of implements Editor.
func (r Define) Of() (string, string) { return "files without #define " + r.Macro, "files with it" }

// Of implements Editor.
func (r Insert) Of() (string, string) { return "files without " + r.Text, "files with it" }

// Of implements Editor.
func (r Guard) Of() (string, string) {
	return "functions without #ifndef " + r.Macro, "functions with it"
}

// Of implements Editor.
func (r Call) Of() (string, string) {
	if r.To == "" {
		return r.From, "nothing"
	}
	return r.From, r.To
}

var (
	cName   = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	cHeader = lazyregexp.New(`^[^\s"<>\\]+$`)
)

func checkNames(what string, names []string) (errs []error) {
	if len(names) == 0 {
		errs = append(errs, fmt.Errorf("%s is empty", what))
	}
	for _, n := range names {
		if !cName.MatchString(n) {
			errs = append(errs, fmt.Errorf("%s: %q is no C++ name", what, n))
		}
	}
	return errs
}

func (r Include) path() string {
	return strings.TrimSuffix(strings.TrimPrefix(r.Header, "<"), ">")
}

func (r Include) line() string {
	if strings.HasPrefix(r.Header, "<") {
		return r.Header
	}
	return `"` + r.Header + `"`
}

func (r Include) validate() []error {
	errs := checkNames("uses", r.Uses)
	if !cHeader.MatchString(r.path()) || strings.HasPrefix(r.Header, "<") != strings.HasSuffix(r.Header, ">") {
		errs = append(errs, fmt.Errorf("header %q is to be a header's path, or one in < and >", r.Header))
	}
	return errs
}

func (r Define) validate() []error {
	errs := append(checkNames("uses", r.Uses), checkNames("macro", []string{r.Macro})...)
	if strings.ContainsAny(r.Value, "\r\n") {
		errs = append(errs, errors.New("value has a line end"))
	}
	return errs
}

func (r Insert) validate() []error {
	errs := checkNames("uses", r.Uses)
	if firstName(r.Text) == "" || strings.ContainsAny(r.Text, "\r\n") {
		errs = append(errs, fmt.Errorf("text %q is to be one line of code with a name in it", r.Text))
	}
	if len(r.After) == 0 {
		errs = append(errs, errors.New("after is empty"))
	}
	for _, a := range r.After {
		if _, err := parseShape(a); err != nil {
			errs = append(errs, fmt.Errorf("after: %w", err))
		}
	}
	return errs
}

func (r Guard) validate() []error {
	return append(checkNames("used_by", r.UsedBy), checkNames("macro", []string{r.Macro})...)
}

func (r Call) validate() []error {
	from, err := parseShape(r.From)
	if err != nil {
		return []error{fmt.Errorf("from: %w", err)}
	}
	if r.To == "" {
		if r.Expect.Min > 0 {
			return []error{errors.New("expect: min must be 0 where to is empty, because nothing is left to count the second time")}
		}
		return nil
	}
	to, err := parseShape(r.To)
	if err != nil {
		return []error{fmt.Errorf("to: %w", err)}
	}
	bound := map[string]bool{}
	for _, k := range from {
		bound[k.hole] = true
	}
	for _, k := range to {
		if k.hole != "" && !bound[k.hole] {
			return []error{fmt.Errorf("to: %s is not in from", k.text)}
		}
	}
	if hasShape(r.To, from) {
		return []error{fmt.Errorf("to %q has the shape of from %q: it would never come to rest", r.To, r.From)}
	}
	return nil
}
