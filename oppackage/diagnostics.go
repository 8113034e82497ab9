package oppackage

import (
	"fmt"
	"path"
	"strings"

	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// diagnostic is one error of a compiler or linker.
type diagnostic struct {
	place   string // file:line:col in the package; "" for a linker and for bad compiler flags
	message string
}

// maxDiagnostics is the largest number of errors read from an output, maxDiagnosed the number of bytes searched.
const (
	maxDiagnostics = 200
	maxDiagnosed   = 4 << 20
)

var anError = lazyregexp.New(
	`(?m)^(?:(\S.*?:\d+:\d+): (?:fatal )?|(?:\S*clang\S*|\S*ld(?:\.lld)?|\S*link|lld\S*): )error: (.*?)\r?$`)

// diagnostics returns the errors in a compiler's or linker's output, in order and without duplicates.
func diagnostics(output string) (all []diagnostic) {
	seen := map[diagnostic]bool{}
	text := ansi.Strip(output[:min(len(output), maxDiagnosed)])
	for _, m := range anError.Get().FindAllStringSubmatch(text, maxDiagnostics) {
		d := diagnostic{place: m[1], message: m[2]}
		for _, top := range []string{"/src/", "/include/"} { // drop the folders above the package
			if i := strings.LastIndex("/"+m[1], top); i >= 0 {
				d.place = m[1][i:]
				break
			}
		}
		if !seen[d] {
			seen[d] = true
			all = append(all, d)
		}
	}
	return all
}

// Fingerprint identifies the errors in a compiler's output: equal errors for several targets have the same fingerprint.
// It returns "" if no error is in a source.
func Fingerprint(output string) string {
	var b strings.Builder
	for _, d := range diagnostics(output) {
		if d.place != "" { // flags and objects differ by target
			fmt.Fprintf(&b, "%s: %s\n", d.place, d.message)
		}
	}
	return b.String()
}

// Explain returns hints about a failed action that builds an op package, such as the op and the target. The function
// renames returns hints about names that differ between SDKs.
func Explain(spec, output string, renames func(output string) []string) []string {
	target, object, _ := strings.Cut(spec, "/")
	var hints []string
	if op, ok := strings.CutPrefix(object, "ops/"); ok {
		text := fmt.Sprintf("op %s does not compile for %s", strings.TrimSuffix(path.Base(op), path.Ext(op)), target)
		if place, _, ok := strings.Cut(Fingerprint(output), ": "); ok {
			text += ", first at " + place
		}
		hints = append(hints, text)
	}
	return append(hints, renames(output)...)
}

// Summary returns one line: the first error in an output, and the number of other errors.
func Summary(output string) string {
	all := diagnostics(output)
	if len(all) == 0 {
		return ""
	}
	text := strings.TrimPrefix(all[0].place+": "+all[0].message, ": ")
	if n := len(all) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	return text
}
