package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// ImproveDiagnostics removes diagnostics that are only a consequence of another diagnostic. If HCL's message suggests
// no fix, ImproveDiagnostics adds a suggestion.
func ImproveDiagnostics(diags hcl.Diagnostics) hcl.Diagnostics {
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

// advice replaces a detail of HCL's.
type advice struct {
	summary string
	detail  *lazyregexp.Regexp
	says    string
}

var advices = []advice{
	{"Missing required argument",
		lazyregexp.New(`^The argument "([^"]+)" is required, but no definition was found\.`),
		"The argument $1 is missing. Add $1 = … to the block."},
	{"Missing item separator", lazyregexp.New(`^Expected a comma to mark the beginning of the next item\.$`),
		"Add a comma before the next item, or the closing bracket of the list."},
	{"Unclosed configuration block",
		lazyregexp.New(`^.* closing brace for this block before the end of the file\..*$`),
		"The block has no closing brace. Add }, or close a bracket or string inside the block."},
	{"Unclosed template interpolation sequence",
		lazyregexp.New(`^.* closing brace for this interpolation sequence before the end of the quoted template\..*$`),
		"The $${ in this string has no closing brace. Add }. For a shell variable, write $$$${NAME}."},
	{"Not enough function arguments",
		lazyregexp.New(`^Function "([^"]+)" expects (\d+) argument\(s\)\. Missing value for "([^"]+)"\.$`),
		"The function $1 takes $2 arguments. Add the argument $3."},
	{"Attribute redefined", lazyregexp.New(`Each argument may be set only once\.$`), "Remove one of the two lines."},
	{"Invalid operand", lazyregexp.New(`^Unsuitable value for (left|right) operand: a number is required\.$`),
		"The $1 operand is not a number. Compare strings with == and !=, and join them in a template: \"$${a}$${b}\"."},
	{"Invalid operand", lazyregexp.New(`^Unsuitable value for (left|right) operand: a bool is required\.$`),
		"The $1 operand is not a bool. Compare it with a value: a == b."},
	{"Invalid type specification", lazyregexp.New(`^The keyword "([^"]+)" is not a valid type specification\.$`),
		"Unknown type $1. Valid types are string, number, bool, any, list(TYPE), set(TYPE), map(TYPE), " +
			"tuple([TYPE, …]), object({ NAME = TYPE, … }), and optional(TYPE)."},
	{"Incorrect attribute value type",
		lazyregexp.New(`^Inappropriate value for attribute "([^"]+)": list of string required, but have string\.`),
		`$1 must be a list of strings, not a string. Write $1 = ["…", …].`},
	{"Unsupported argument", lazyregexp.New(`^(An argument named "[^"]+" is not expected here\.)$`),
		"$1 Correct the name, or remove the argument."},
	{"Unsupported block type", lazyregexp.New(`^(Blocks of type "[^"]+" are not expected here\.)$`),
		"$1 Correct the name, or remove the block."},
	{"Call to unknown function", lazyregexp.New(`^.* function named "([^"]+)"\.`),
		"The function $1 does not exist."},
	{"Argument or block definition required", lazyregexp.New(`^An argument or block definition is required here\..*$`),
		"Write an argument as NAME = VALUE, or a block as NAME { … }."},
	{"Invalid function argument", lazyregexp.New(`^.*: cannot convert ("[^"]*") to number; .*$`),
		"$1 is not a number. Use a decimal number, such as \"12.5\"."},
}

// follows maps the title of an error to the title of the error that causes it.
var follows = map[string]string{
	"Invalid string literal":    "Invalid character encoding",
	"Invalid name":              "Invalid character encoding",
	"Invalid multi-line string": "Unclosed template interpolation sequence",
}

// perLine are errors that HCL reports for each token of a mistake: only the first on a line is shown, if the line has
// no other error.
var perLine = []string{"Invalid character", "Invalid expression", "Invalid operand", "Invalid multi-line string"}

var (
	meant   = lazyregexp.New(`Did you mean "?([\w-]+)"?\?`)
	missing = lazyregexp.New(`^The argument "([^"]+)" is required`)
)

// causes removes diagnostics that follow from another one.
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
		line := Where(*d.Subject)
		again := told[line] && slices.Contains(perLine, d.Summary)
		told[line] = true
		return again
	})
}
