package patches

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/lazyregexp"
	"github.com/hexmage/hexmage/patches/lint"
	"github.com/hexmage/hexmage/patches/rename"
)

// Hint says that a compile error is one that a known rule fixes, or comes from a known change of the SDK.
type Hint struct {
	Series string      // of the rule; "" if none does it
	Range  string      // the rule's
	Rule   rename.Rule // a rename that fixes it; without a name where the cause is another
	Change lint.Change // what the SDK has changed, where no rename fixes it
	Edit   string      // the rule of another sort that does what the change needs, such as `call "register_ops"`; "" if none does
	Names  []string    // the names that the compiler did not know, in its order
	Places []string    // file:line:col as the compiler gave them, in its order; empty if it gave none
}

// String says the cause and the remedy in one line.
func (h Hint) String() string {
	if h.Rule.Name != "" {
		return fmt.Sprintf("the SDK's headers spell %s::%s as %s; rename rule %q of patches/%s/%s fixes it: build the sources after a step \"patch\" with series = %q",
			h.Rule.Receiver, h.Rule.From, h.Rule.To, h.Rule.Name, h.Series, h.Range, h.Series)
	}
	between := "since " + h.Change.Since
	if h.Change.Until != "" {
		between = fmt.Sprintf("after %s, at the latest in %s", h.Change.Until, h.Change.Since)
	}
	text := fmt.Sprintf("the SDK's headers have no %s (a %s that changed %s); instead: %s", strings.Join(h.Names, ", "), h.Change.Kind, between, h.Change.Instead)
	if h.Edit != "" {
		text += fmt.Sprintf("; %s of patches/%s/%s does it: build the sources after a step \"patch\" with series = %q", h.Edit, h.Series, h.Range, h.Series)
	}
	return text + "; `hexmage patch lint` lists all such places"
}

// miss is one name that a compiler did not know.
type miss struct {
	place string // file:line:col
	name  string
	class string // whose member it was to be; "" if it was not said
}

var (
	// An error, with where it is: file:1:2: error: text
	errorLine = lazyregexp.New(`^(?:(\S.*?:\d+:\d+): )?.*?\b(?:fatal )?error: (.*)$`)
	// clang: no member named 'old' in 'ns::Class' (or namespace 'ns')
	clangMember = lazyregexp.New(`^no (?:member|type|template) named '(\w+)' in (?:namespace )?'([^']+)'`)
	clangName   = lazyregexp.New(`^(?:use of undeclared identifier|unknown type name|call to undeclared function|no template named|undeclared function) '(\w+)'`)
	// gcc: 'class ns::Class' has no member named 'old'; 'old' is not a member of 'ns'; 'old' was not declared in this scope
	gccMember = lazyregexp.New(`^['‘]([^'‘’]+)['’] has no member named ['‘](\w+)['’]`)
	gccOf     = lazyregexp.New(`^['‘](\w+)['’] is not a member of ['‘]([^'‘’]+)['’]`)
	gccName   = lazyregexp.New(`^['‘](\w+)['’] (?:was not declared in this scope|does not name a type|has not been declared)`)
	noFile    = lazyregexp.New(`^(?:'([^']+)' file not found|([^\s:]+): No such file or directory)`)
	// Both, of a macro at a file's outermost level and of a base class: what is meant stands in the source line below.
	inLine = lazyregexp.New(`^(?:unknown type name|expected function body|a type specifier is required|C\+\+ requires a type specifier|expected constructor, destructor|expected class[- ]name|expected unqualified-id|expected parameter declarator|expected '\)')`)
	// The source line as compilers show it:   12 | DEF_X(a, b)
	shownLine = lazyregexp.New(`^\s*\d+ \| (.*)$`)
	firstWord = lazyregexp.New(`^\s*(\w+)\s*\(`)
	baseNames = lazyregexp.New(`\b(?:class|struct)\s+\w+[^:]*:([^{]*)`)
	word      = lazyregexp.New(`\w+`)
)

// maxDiagnosed bounds how much of a compiler's output is looked at, in bytes.
const maxDiagnosed = 4 << 20

// Diagnose names the rules that come with hexmage and would fix errors in a compiler's output, and the known changes of SDKs that
// are their cause, each once.
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
	rules := shippedRules()
	var hints []Hint
	for _, h := range rules {
		if h.Rule.Name == "" {
			continue
		}
		if h.add(misses, func(m miss) bool { return m.name == h.Rule.From && className(m.class) == h.Rule.Receiver }) {
			hints = append(hints, h)
		}
	}
	data, err := lint.Shipped()
	if err != nil {
		return hints // that it can be read is a test's matter
	}
	renamed := func(m miss) bool {
		return slices.ContainsFunc(hints, func(h Hint) bool { return h.Rule.From == m.name && className(m.class) == h.Rule.Receiver })
	}
	for _, c := range append(data.Removed, data.Added...) {
		h := Hint{Change: c}
		for _, r := range rules {
			if r.Edit != "" && r.Edit == quoted(c.Rule) {
				h.Series, h.Range, h.Edit = r.Series, r.Range, r.Edit
			}
		}
		if h.add(misses, func(m miss) bool {
			return c.Matches(m.name) && (c.Receiver == "" || c.Receiver == className(m.class)) && !renamed(m)
		}) {
			hints = append(hints, h)
		}
	}
	return hints
}

// add takes what a hint is about from what a compiler missed, and says whether there was any.
func (h *Hint) add(misses []miss, about func(miss) bool) bool {
	for _, m := range misses {
		if !about(m) {
			continue
		}
		if !slices.Contains(h.Names, m.name) {
			h.Names = append(h.Names, m.name)
		}
		if m.place != "" && !slices.Contains(h.Places, m.place) {
			h.Places = append(h.Places, m.place)
		}
	}
	return len(h.Names) > 0
}

// missing returns the names that a compiler says it does not know.
func missing(text string) []miss {
	var out []miss
	place := "" // of an error whose name stands in the source line
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if m := shownLine.FindStringSubmatch(line); m != nil {
			if place != "" {
				out = append(out, inSource(place, m[1])...)
			}
			place = ""
			continue
		}
		m := errorLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		at, said := m[1], m[2]
		place = ""
		if inLine.MatchString(said) {
			place = at
		}
		if n := clangMember.FindStringSubmatch(said); n != nil {
			out = append(out, miss{at, n[1], n[2]})
		} else if n := gccMember.FindStringSubmatch(said); n != nil {
			out = append(out, miss{at, n[2], n[1]})
		} else if n := gccOf.FindStringSubmatch(said); n != nil {
			out = append(out, miss{at, n[1], n[2]})
		} else if n := clangName.FindStringSubmatch(said); n != nil {
			out = append(out, miss{at, n[1], ""})
		} else if n := gccName.FindStringSubmatch(said); n != nil {
			out = append(out, miss{at, n[1], ""})
		} else if n := noFile.FindStringSubmatch(said); n != nil {
			out = append(out, miss{at, n[1] + n[2], ""})
		}
	}
	return out
}

// inSource returns the names that a source line uses in a way which would not be understood if they were not known: a macro's call
// that begins the line, base classes.
func inSource(place, line string) (out []miss) {
	if m := firstWord.FindStringSubmatch(line); m != nil {
		out = append(out, miss{place, m[1], ""})
	}
	if m := baseNames.FindStringSubmatch(line); m != nil {
		for _, w := range word.Get().FindAllString(m[1], -1) {
			out = append(out, miss{place, w, ""})
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

// quoted returns `call "x"` of "call x".
func quoted(rule string) string {
	sort, name, ok := strings.Cut(rule, " ")
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s %q", sort, name)
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
			for _, r := range rg.Edits {
				hints = append(hints, Hint{Series: e.Name(), Range: rg.Name, Edit: r.String()})
			}
		}
	}
	return hints
}
