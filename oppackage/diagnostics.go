package oppackage

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// Diagnostic is one error of a compiler or linker.
type Diagnostic struct {
	File      string // as the compiler was told it; "" of a linker, and of a compiler that complains about its flags
	Line, Col int
	Message   string
	Excerpt   []string // the source line, and what points into it
}

// Place is where the error is, for people: file:line:col without the folders that lead to the package.
func (d Diagnostic) Place() string {
	if d.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d:%d", inPackage(d.File), d.Line, d.Col)
}

// inPackage cuts a path down to what lies in the package, if it does.
func inPackage(file string) string {
	for _, top := range []string{"/src/", "/include/"} {
		if i := strings.LastIndex("/"+file, top); i >= 0 {
			return ("/" + file)[i+1:]
		}
	}
	return file
}

// maxDiagnostics bounds how many errors of one output are looked at, and maxDiagnosed how much of it, in bytes.
const (
	maxDiagnostics = 200
	maxDiagnosed   = 4 << 20
)

var (
	compilerError = lazyregexp.New(`^(\S[^\n]*?):(\d+):(\d+): (?:fatal )?error: (.*)$`)
	toolError     = lazyregexp.New(`^(?:\S*clang\S*|\S*ld(?:\.lld)?|\S*link|lld\S*): error: (.*)$`)
)

// Diagnostics finds the errors in the output of a compiler or linker, in its order, each once.
func Diagnostics(output string) []Diagnostic {
	lines := strings.Split(ansi.Strip(output[:min(len(output), maxDiagnosed)]), "\n")
	var out []Diagnostic
	seen := map[string]bool{}
	for i, line := range lines {
		var d Diagnostic
		if m := compilerError.FindStringSubmatch(line); m != nil {
			d.File, d.Message = m[1], m[4]
			d.Line, _ = strconv.Atoi(m[2])
			d.Col, _ = strconv.Atoi(m[3])
			for _, next := range lines[i+1 : min(len(lines), i+3)] {
				if !excerpt.MatchString(next) {
					break
				}
				d.Excerpt = append(d.Excerpt, next)
			}
		} else if m := toolError.FindStringSubmatch(line); m != nil {
			d.Message = m[1]
		} else {
			continue
		}
		if key := d.key(); !seen[key] {
			seen[key] = true
			out = append(out, d)
		}
		if len(out) == maxDiagnostics {
			break
		}
	}
	return out
}

// excerpt is a line of source, or of marks below one, as clang prints them: the line's number, a bar, text.
var excerpt = lazyregexp.New(`^ *\d* \|`)

func (d Diagnostic) key() string {
	return fmt.Sprintf("%s:%d:%d: %s", d.File, d.Line, d.Col, d.Message)
}

// Fingerprint is the same for outputs with the same errors, such as those of one source for several targets; "" if there is none.
func Fingerprint(output string) string {
	var b strings.Builder
	for _, d := range Diagnostics(output) {
		if d.File != "" { // flags and objects differ from target to target
			b.WriteString(d.key() + "\n")
		}
	}
	return b.String()
}

// Explain says for people what failed in an action of a kind that builds op packages, and what to do: which op for which
// target, then what renames knows, which looks for names that an SDK spells otherwise. Other causes are in the catalogue of package
// runner/diagnose.
func Explain(spec, output string, renames func(output string) []string) []string {
	target, object, _ := strings.Cut(spec, "/")
	var hints []string
	if op, ok := strings.CutPrefix(object, "ops/"); ok {
		places := ""
		for _, d := range Diagnostics(output) {
			if places == "" && d.File != "" {
				places = ", first at " + d.Place()
			}
		}
		hints = append(hints, fmt.Sprintf("op %s does not compile for %s%s", strings.TrimSuffix(path.Base(op), path.Ext(op)), target, places))
	}
	return append(hints, renames(output)...)
}

// Summary is the first error of an output in a line, and how many others there are.
func Summary(output string) string {
	all := Diagnostics(output)
	if len(all) == 0 {
		return ""
	}
	text := strings.TrimPrefix(all[0].Place()+": "+all[0].Message, ": ")
	if n := len(all) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	return text
}
