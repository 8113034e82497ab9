package patches

import (
	"fmt"
	"strings"

	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/internal/version"
	"github.com/hexmage/hexmage/patches/rules"
)

// Hint names a shipped rename rule that fixes compile errors.
type Hint struct {
	Series string // series of the rule
	Range  string // range of the rule
	Rule   rules.Rule
}

// String returns the cause and the remedy in one line.
func (h Hint) String() string {
	return fmt.Sprintf("the SDK's headers spell %s::%s as %s; rename rule %q of patches/%s/%s fixes it: "+
		"build the sources after a step \"patch\" with series = %q",
		h.Rule.Receiver, h.Rule.From, h.Rule.To, h.Rule.Name, h.Series, h.Range, h.Series)
}

var (
	// Matches a missing class member in an error of clang or gcc. Both quote the member and the class.
	noMember = lazyregexp.New(`error: .*\bno(?:t a)? (?:member|type|template)\b.*`)
	quoted   = lazyregexp.New(`['‘]([^'‘’]+)['’]`)
)

// maxDiagnosed limits the compiler output that Diagnose reads, in bytes.
const maxDiagnosed = 4 << 20

// Diagnose returns the shipped rename rules that fix errors in a compiler's output.
func Diagnose(compilerOutput string) []Hint {
	if len(compilerOutput) > maxDiagnosed {
		compilerOutput = compilerOutput[:maxDiagnosed]
	}
	missing := map[[2]string]bool{} // class and member, in both orders
	for _, line := range noMember.Get().FindAllString(ansi.Strip(compilerOutput), -1) {
		names := quoted.Get().FindAllStringSubmatch(line, 2)
		if len(names) == 2 {
			a, b := unqualified(names[0][1]), unqualified(names[1][1])
			missing[[2]string{a, b}], missing[[2]string{b, a}] = true, true
		}
	}
	if len(missing) == 0 {
		return nil
	}
	var hints []Hint
	for _, name := range ShippedNames() {
		for _, h := range shippedRenames(name) {
			if missing[[2]string{h.Rule.Receiver, h.Rule.From}] {
				hints = append(hints, h)
			}
		}
	}
	return hints
}

// unqualified returns the last name in a type: "Tensor" of "const class hnnx::Tensor &".
func unqualified(s string) string {
	s = strings.TrimRight(s, " &*")
	return s[strings.LastIndexAny(s, " :")+1:]
}

// Newer returns the rename rules that adapt older sources to the SDK. It uses the FROM-TO folders of a shipped series
// if TO is at most the SDK's version.
func Newer(series, sdk string) ([]rules.Rule, error) {
	if _, err := Shipped(series); err != nil {
		return nil, err
	}
	var out []rules.Rule
	for _, h := range shippedRenames(series) {
		from, to, _ := strings.Cut(h.Range, "-")
		from, to = strings.TrimPrefix(from, "qairt"), strings.TrimPrefix(to, "qairt")
		if version.Older(from, to) && !version.Older(sdk, to) {
			out = append(out, h.Rule)
		}
	}
	return out, nil
}

// shippedRenames returns the rename rules of a shipped series. A test checks that all series load.
func shippedRenames(series string) (hints []Hint) {
	fsys, err := Shipped(series)
	if err != nil {
		return nil
	}
	ranges, _ := Load(fsys)
	for _, rg := range ranges {
		for _, r := range rg.Rules {
			if r.Kind == "rename" {
				hints = append(hints, Hint{Series: series, Range: rg.Name, Rule: r})
			}
		}
	}
	return hints
}
