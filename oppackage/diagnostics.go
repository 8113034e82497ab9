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
	place   string // file:line:col in the package; "" of a linker, and of a compiler that complains about its flags
	message string
}

// maxDiagnostics bounds how many errors of one output are looked at, and maxDiagnosed how much of it, in bytes.
const (
	maxDiagnostics = 200
	maxDiagnosed   = 4 << 20
)

var anError = lazyregexp.New(
	`(?m)^(?:(\S.*?:\d+:\d+): (?:fatal )?|(?:\S*clang\S*|\S*ld(?:\.lld)?|\S*link|lld\S*): )error: (.*?)\r?$`)

// diagnostics finds the errors in the output of a compiler or linker, in its order, each once.
func diagnostics(output string) (all []diagnostic) {
	seen := map[diagnostic]bool{}
	text := ansi.Strip(output[:min(len(output), maxDiagnosed)])
	for _, m := range anError.Get().FindAllStringSubmatch(text, maxDiagnostics) {
		d := diagnostic{place: m[1], message: m[2]}
		for _, top := range []string{"/src/", "/include/"} { // the folders that lead to the package do not matter
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

// Fingerprint is the same for outputs with the same errors, such as those of one source for several targets; "" if there
// is none.
func Fingerprint(output string) string {
	var b strings.Builder
	for _, d := range diagnostics(output) {
		if d.place != "" { // flags and objects differ from target to target
			fmt.Fprintf(&b, "%s: %s\n", d.place, d.message)
		}
	}
	return b.String()
}

// Explain says for people what failed in an action of a kind that builds op packages, and what to do: which op for which
// target, then what renames knows, which looks for names that an SDK spells otherwise. Other causes are in the catalogue
// of package runner/diagnose.
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

// Summary is the first error of an output in a line, and how many others there are.
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
