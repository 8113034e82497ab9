package patches

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/patches/rename"
)

// Hint names a shipped rename rule that fixes compile errors.
type Hint struct {
	Series string // of the rule
	Range  string // of the rule
	Rule   rename.Rule
	Places []string // file:line:col as the compiler gave them, in its order; empty if it gave none
}

// String names the cause and the remedy in one line.
func (h Hint) String() string {
	return fmt.Sprintf("the SDK's headers spell %s::%s as %s; rename rule %q of patches/%s/%s fixes it: "+
		"build the sources after a step \"patch\" with series = %q",
		h.Rule.Receiver, h.Rule.From, h.Rule.To, h.Rule.Name, h.Series, h.Range, h.Series)
}

// miss is one member that a compiler did not find.
type miss struct {
	place string // file:line:col; "" if the compiler gave none
	name  string
	class string
}

var (
	// An error and its place: file:1:2: error: text
	errorLine = lazyregexp.New(`^(?:(\S.*?:\d+:\d+): )?.*?\b(?:fatal )?error: (.*)$`)
	// clang: no member named 'old' in 'ns::Class'
	clangMember = lazyregexp.New(`^no (?:member|type|template) named '(\w+)' in (?:namespace )?'([^']+)'`)
	// gcc: 'class ns::Class' has no member named 'old'
	gccMember = lazyregexp.New(`^['‘]([^'‘’]+)['’] has no member named ['‘](\w+)['’]`)
	// gcc: 'old' is not a member of 'ns::Class'
	gccOf = lazyregexp.New(`^['‘](\w+)['’] is not a member of ['‘]([^'‘’]+)['’]`)
)

// maxDiagnosed bounds how much of a compiler's output Diagnose reads, in bytes.
const maxDiagnosed = 4 << 20

// Diagnose returns the shipped rename rules that fix errors in a compiler's output, each once.
func Diagnose(compilerOutput string) []Hint {
	if len(compilerOutput) > maxDiagnosed {
		compilerOutput = compilerOutput[:maxDiagnosed]
	}
	if !strings.Contains(compilerOutput, "error: ") {
		return nil
	}
	misses := missing(ansi.Strip(compilerOutput))
	if len(misses) == 0 {
		return nil
	}
	var hints []Hint
	for _, h := range shippedRenames() {
		found := false
		for _, m := range misses {
			if m.name != h.Rule.From || className(m.class) != h.Rule.Receiver {
				continue
			}
			found = true
			if m.place != "" && !slices.Contains(h.Places, m.place) {
				h.Places = append(h.Places, m.place)
			}
		}
		if found {
			hints = append(hints, h)
		}
	}
	return hints
}

// missing returns the members that a compiler did not find.
func missing(text string) (out []miss) {
	for line := range strings.Lines(text) {
		m := errorLine.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			continue
		}
		if n := clangMember.FindStringSubmatch(m[2]); n != nil {
			out = append(out, miss{m[1], n[1], n[2]})
		} else if n := gccMember.FindStringSubmatch(m[2]); n != nil {
			out = append(out, miss{m[1], n[2], n[1]})
		} else if n := gccOf.FindStringSubmatch(m[2]); n != nil {
			out = append(out, miss{m[1], n[1], n[2]})
		}
	}
	return out
}

// className returns the class of a type's spelling: "Tensor" of "const class hnnx::Tensor &".
func className(s string) string {
	s = strings.TrimRight(s, " &*")
	if i := strings.LastIndexAny(s, " :"); i >= 0 {
		s = s[i+1:]
	}
	return s
}

// shippedRenames returns a Hint without places for each shipped rename rule. A test checks that all series load.
func shippedRenames() (hints []Hint) {
	for _, name := range ShippedNames() {
		fsys, err := Shipped(name)
		if err != nil {
			continue
		}
		ranges, err := Load(fsys)
		if err != nil {
			continue
		}
		for _, rg := range ranges {
			for _, r := range rg.Renames {
				hints = append(hints, Hint{Series: name, Range: rg.Name, Rule: r})
			}
		}
	}
	return hints
}
