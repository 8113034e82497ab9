package patches

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/patches/rename"
)

// Hint says that a compile error is one that a known rename rule fixes.
type Hint struct {
	Series string
	Range  string
	Rule   rename.Rule
	Places []string // file:line:col as the compiler gave them, in its order; empty if it gave none
}

// String says the cause and the remedy in one line.
func (h Hint) String() string {
	return fmt.Sprintf("the SDK's headers spell %s::%s as %s; rename rule %q of patches/%s/%s fixes it: build the sources after a step \"patch\" with series = %q",
		h.Rule.Receiver, h.Rule.From, h.Rule.To, h.Rule.Name, h.Series, h.Range, h.Series)
}

var (
	colour = regexp.MustCompile("\x1b\\[[0-9;]*[mK]")
	// clang:  file:1:2: error: no member named 'old' in 'ns::Class'
	clangMember = regexp.MustCompile(`(?m)^(?:(\S[^\n]*?:\d+:\d+): )?[^\n]*no member named '(\w+)' in '([^'\n]+)'`)
	// gcc:  file:1:2: error: 'class ns::Class' has no member named 'old'
	gccMember = regexp.MustCompile(`(?m)^(?:(\S[^\n]*?:\d+:\d+): )?[^\n]*['‘]([^'‘’\n]+)['’] has no member named ['‘](\w+)['’]`)
)

// maxDiagnosed bounds how much of a compiler's output is looked at, in bytes.
const maxDiagnosed = 4 << 20

// Diagnose names the rename rules that come with hexmage and would fix errors in a compiler's output, each once.
func Diagnose(compilerOutput string) []Hint {
	if len(compilerOutput) > maxDiagnosed {
		compilerOutput = compilerOutput[:maxDiagnosed]
	}
	if !strings.Contains(compilerOutput, "no member named") {
		return nil
	}
	text := colour.ReplaceAllString(compilerOutput, "")
	type miss struct{ place, member, class string }
	var misses []miss
	for _, m := range clangMember.FindAllStringSubmatch(text, -1) {
		misses = append(misses, miss{m[1], m[2], m[3]})
	}
	for _, m := range gccMember.FindAllStringSubmatch(text, -1) {
		misses = append(misses, miss{m[1], m[3], m[2]})
	}
	var hints []Hint
	for _, s := range shippedRules() {
		for _, m := range misses {
			if m.member != s.Rule.From || className(m.class) != s.Rule.Receiver {
				continue
			}
			if m.place != "" && !slices.Contains(s.Places, m.place) {
				s.Places = append(s.Places, m.place)
			}
			if i := slices.IndexFunc(hints, func(h Hint) bool { return h.Series == s.Series && h.Rule.Name == s.Rule.Name }); i >= 0 {
				hints[i] = s
			} else {
				hints = append(hints, s)
			}
		}
	}
	return hints
}

// className returns the class of a type's spelling: "Tensor" of "const class hnnx::Tensor &".
func className(s string) string {
	s = strings.TrimRight(s, " &*")
	if i := strings.LastIndexAny(s, " :"); i >= 0 {
		s = s[i+1:]
	}
	return s
}

// shippedRules returns a Hint without places for every rule that comes with hexmage. That they load is a test's matter.
func shippedRules() []Hint {
	var hints []Hint
	entries, _ := shipped.ReadDir(".")
	for _, e := range entries {
		fsys, err := Shipped(e.Name())
		if err != nil {
			continue
		}
		ranges, err := Load(fsys)
		if err != nil {
			continue
		}
		for _, rg := range ranges {
			for _, r := range rg.Renames {
				hints = append(hints, Hint{Series: e.Name(), Range: rg.Name, Rule: r})
			}
		}
	}
	return hints
}
