package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// Advised are diagnostics as people are told of them: without what only follows from another one, and, where HCL's
// own words say what is wrong and not what to do, with that.
func Advised(diags hcl.Diagnostics) hcl.Diagnostics {
	diags = causes(diags)
	for i, d := range diags {
		for _, a := range advices {
			if d.Summary == a.summary && a.detail.MatchString(d.Detail) {
				own := *d
				own.Detail = a.detail.ReplaceAllString(d.Detail, a.says)
				diags[i] = &own
				break
			}
		}
	}
	return diags
}

// advice is what is said in place of a detail of HCL's.
type advice struct {
	summary string
	detail  *lazyregexp.Regexp
	says    string
}

var advices = []advice{
	{"Missing required argument",
		lazyregexp.New(`^The argument "([^"]+)" is required, but no definition was found\.`),
		"The argument $1 is required, and is not here. Add it: $1 = …"},
	{"Missing item separator", lazyregexp.New(`^Expected a comma to mark the beginning of the next item\.$`),
		"Write a comma before the next item, or the bracket that ends the list."},
	{"Unclosed configuration block",
		lazyregexp.New(`^There is no closing brace for this block before the end of the file\..*$`),
		"Nothing ends this block before the end of the file. Add its }, or look for a bracket or text further down " +
			"that nothing ends."},
	{"Unclosed template interpolation sequence",
		lazyregexp.New(`^There is no closing brace for this interpolation sequence before the end of the quoted template\..*$`),
		"Nothing ends what begins with $${ in this text. Add its }; for a $${ of a shell write $$$${."},
	{"Not enough function arguments",
		lazyregexp.New(`^Function "([^"]+)" expects (\d+) argument\(s\)\. Missing value for "([^"]+)"\.$`),
		"$1 takes $2 arguments. Add the one that it calls $3."},
	{"Attribute redefined", lazyregexp.New(`Each argument may be set only once\.$`), "Remove one of them."},
	{"Invalid operand", lazyregexp.New(`^Unsuitable value for (left|right) operand: a number is required\.$`),
		"The $1 operand is no number. Compare texts with == and !=, and join them in a template: \"$${a}$${b}\"."},
	{"Invalid operand", lazyregexp.New(`^Unsuitable value for (left|right) operand: a bool is required\.$`),
		"The $1 operand is neither true nor false. Compare it with something: a == b."},
	{"Invalid type specification", lazyregexp.New(`^The keyword "([^"]+)" is not a valid type specification\.$`),
		"$1 is no type. There are string, number, bool, any, list(TYPE), set(TYPE), map(TYPE), tuple([TYPE, …]), " +
			"object({ NAME = TYPE, … }), and optional(TYPE) of one that may be left out."},
	{"Incorrect attribute value type",
		lazyregexp.New(`^(Inappropriate value for attribute "([^"]+)": list of string required, but have string)\.`),
		`$1. Write it in brackets: $2 = ["…", …]`},
	{"Unsupported argument", lazyregexp.New(`^(An argument named "[^"]+" is not expected here\.)$`),
		"$1 Correct its name, or remove it."},
	{"Unsupported block type", lazyregexp.New(`^(Blocks of type "[^"]+" are not expected here\.)$`),
		"$1 Correct its name, or remove it."},
}

// follows are errors that HCL finds because of another one, which is told in their place.
var follows = map[string]string{
	"Invalid string literal":    "Invalid character encoding",
	"Not a name":                "Invalid character encoding",
	"Invalid multi-line string": "Unclosed template interpolation sequence",
}

// perLine are errors that HCL finds in each part of what is wrong: the first on a line is told, if nothing else is.
var perLine = []string{"Invalid character", "Invalid expression", "Invalid operand", "Invalid multi-line string"}

var (
	meant   = lazyregexp.New(`Did you mean "?([\w-]+)"?\?`)
	missing = lazyregexp.New(`^The argument "([^"]+)" is required`)
)

// causes leaves out what follows from another diagnostic.
func causes(diags hcl.Diagnostics) hcl.Diagnostics {
	there, misspelt, told := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, d := range diags {
		there[d.Summary] = true
		if m := meant.FindStringSubmatch(d.Detail); m != nil && d.Subject != nil &&
			(d.Summary == "Unsupported argument" || d.Summary == "Unknown argument") {
			misspelt[d.Subject.Filename+" "+m[1]] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(diags), func(d *hcl.Diagnostic) bool {
		if d.Severity != hcl.DiagError || d.Subject == nil {
			return false
		}
		if m := missing.FindStringSubmatch(d.Detail); m != nil && misspelt[d.Subject.Filename+" "+m[1]] ||
			there[follows[d.Summary]] {
			return true
		}
		line := where(*d.Subject)
		again := told[line] && slices.Contains(perLine, d.Summary)
		told[line] = true
		return again
	})
}
