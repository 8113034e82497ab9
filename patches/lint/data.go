// Package lint finds what in op package sources an SDK does not have, before anything is compiled.
//
// What came and went in the API is data (qairt.hcl): names, the releases between which they changed, what to use instead. Where
// an SDK's headers are at hand they decide, because releases say little; else the releases do, and what they leave open is told as
// open.
//
// It knows nothing of types and of conditional compilation: a name under #if counts. It does not read SDKs; its callers do.
package lint

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2/gohcl"

	"github.com/hexmage/hexmage/internal/lang"
	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/internal/version"
)

//go:embed qairt.hcl
var shipped []byte

// maxData bounds a file of changes, in bytes.
const maxData = 1 << 20

// Data is what is known of an API's changes.
type Data struct {
	Removed   []Change    `hcl:"removed,block"`
	Added     []Change    `hcl:"added,block"`
	Shapes    []Shape     `hcl:"shape,block"`
	Unguarded []Unguarded `hcl:"unguarded,block"`
}

// Change says that names have gone, or come.
type Change struct {
	Label    string   `hcl:"label,label"`
	Names    []string `hcl:"names"`             // one that ends with * stands for all that begin so
	Kind     string   `hcl:"kind"`              // macro, method, function, type, constant or header
	Receiver string   `hcl:"receiver,optional"` // the class that a method is of
	Until    string   `hcl:"until,optional"`    // the last release known to be as it was
	Since    string   `hcl:"since"`             // the first release known to be as it is
	Instead  string   `hcl:"instead"`           // what to write
	Rule     string   `hcl:"rule,optional"`     // sort and name of the shipped rule that writes it
	Source   string   `hcl:"source"`            // how this is known
}

// Shape says what an argument of a macro is to be.
type Shape struct {
	Label    string `hcl:"label,label"`
	Macro    string `hcl:"macro"`
	Argument int    `hcl:"argument"` // counts from 1
	Is       string `hcl:"is"`       // string: a string literal; name: anything but a string literal
	Since    string `hcl:"since"`
	Instead  string `hcl:"instead"`
	Source   string `hcl:"source"`
}

// Unguarded says that functions which only some macros use are to stand under #ifndef.
type Unguarded struct {
	Label   string   `hcl:"label,label"`
	Macro   string   `hcl:"macro"`
	UsedBy  []string `hcl:"used_by"`
	Since   string   `hcl:"since"`
	Instead string   `hcl:"instead"`
	Rule    string   `hcl:"rule,optional"`
	Source  string   `hcl:"source"`
}

// Text is what Shipped reads.
func Text() []byte { return shipped }

// Shipped returns what comes with hexmage.
func Shipped() (Data, error) { return Parse("qairt.hcl", shipped) }

// Parse reads a file of changes.
func Parse(file string, text []byte) (Data, error) {
	var d Data
	if len(text) > maxData {
		return d, fmt.Errorf("%s is larger than %d bytes", file, maxData)
	}
	body, diags := lang.ParseManifest(text, file, lang.NewBudget())
	if !diags.HasErrors() {
		diags = append(diags, gohcl.DecodeBody(body.Body, nil, &d)...)
	}
	if diags.HasErrors() {
		return d, errors.Join(diags.Errs()...)
	}
	return d, d.validate(file)
}

var (
	cName   = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*\*?$`)
	header  = lazyregexp.New(`^[\w./-]+\.h(pp)?$`)
	release = lazyregexp.New(`^\d+(\.\d+)*$`)
)

func (d Data) validate(file string) error {
	var errs []error
	bad := func(label, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: %q: "+format, append([]any{file, label}, args...)...))
	}
	versions := func(label, until, since string) {
		if !release.MatchString(since) || until != "" && !release.MatchString(until) {
			bad(label, "until %q and since %q are to be releases, such as 2.25.0", until, since)
		} else if until != "" && version.CompareShared(until, since) >= 0 {
			bad(label, "until %s is not before since %s", until, since)
		}
	}
	for _, c := range append(append([]Change(nil), d.Removed...), d.Added...) {
		versions(c.Label, c.Until, c.Since)
		switch c.Kind {
		case "macro", "method", "function", "type", "constant", "header":
		default:
			bad(c.Label, "kind %q is to be macro, method, function, type, constant or header", c.Kind)
		}
		for _, n := range c.Names {
			if c.Kind == "header" && !header.MatchString(n) || c.Kind != "header" && !cName.MatchString(n) {
				bad(c.Label, "%q is no name of a %s", n, c.Kind)
			}
		}
		if len(c.Names) == 0 {
			bad(c.Label, "names is empty")
		}
		if c.Receiver != "" && c.Kind != "method" {
			bad(c.Label, "a %s has no receiver", c.Kind)
		}
	}
	for _, s := range d.Shapes {
		versions(s.Label, "", s.Since)
		if s.Argument < 1 || s.Is != "string" && s.Is != "name" || !cName.MatchString(s.Macro) {
			bad(s.Label, "argument is to be 1 or more, is to be string or name, and macro a name")
		}
	}
	for _, u := range d.Unguarded {
		versions(u.Label, "", u.Since)
		if !cName.MatchString(u.Macro) || len(u.UsedBy) == 0 {
			bad(u.Label, "macro is to be a name, and used_by to have some")
		}
	}
	return errors.Join(errs...)
}

// Matches says whether a name is one of the change's.
func (c Change) Matches(name string) bool {
	for _, n := range c.Names {
		if stem, all := strings.CutSuffix(n, "*"); n == name || all && strings.HasPrefix(name, stem) {
			return true
		}
	}
	return false
}

// when says between which releases a change was.
func (c Change) when() string {
	if c.Until == "" {
		return "known since " + c.Since
	}
	return fmt.Sprintf("changed after %s, at the latest in %s", c.Until, c.Since)
}
