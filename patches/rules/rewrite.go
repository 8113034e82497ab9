package rules

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/patches/cpptoken"
)

// shape is the tokens of a From or To.
type shape []part

// part is one token of a shape.
type part struct {
	cpptoken.Token
	hole string // name after $ or $$
	many bool   // $$
}

// parseShape parses a shape. A shape begins and ends with searchable code.
func parseShape(text string) (shape, error) {
	tokens, err := cpptoken.Scan([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	var s shape
	for _, k := range tokens {
		p := part{Token: k}
		if hole := strings.TrimLeft(k.Text, "$"); k.Kind == cpptoken.Name && hole != k.Text && hole != "" {
			p.hole, p.many = hole, strings.HasPrefix(k.Text, "$$")
			if len(s) > 0 && s[len(s)-1].hole != "" {
				return nil, fmt.Errorf("%q: missing code between %s and %s", text, s[len(s)-1].Text, k.Text)
			}
		}
		s = append(s, p)
	}
	if len(s) == 0 || s[0].hole != "" || s[len(s)-1].hole != "" {
		return nil, fmt.Errorf("%q: a shape must begin and end with code, such as NAME($argument)", text)
	}
	return s, nil
}

// in reports whether a text may contain the shape's names, without scanning its tokens.
func (s shape) in(text []byte) bool {
	if len(s) == 0 {
		return false
	}
	i := slices.IndexFunc(s, func(p part) bool { return p.Kind == cpptoken.Name && p.hole == "" })
	return i < 0 || bytes.Contains(text, []byte(s[i].Text)) || bytes.Contains(text, []byte("\\\n")) // splits names
}

// shapes returns the shapes of From and To. An empty To has none.
func (r Rule) shapes() (s struct{ from, to shape }, err error) {
	if s.from, err = parseShape(r.From); err != nil {
		return s, fmt.Errorf("from: %w", err)
	}
	if r.To == "" {
		return s, nil
	}
	if s.to, err = parseShape(r.To); err != nil {
		return s, fmt.Errorf("to: %w", err)
	}
	bound := map[string]bool{"": true}
	for _, p := range s.from {
		if p.hole != "" && bound[p.hole] {
			return s, fmt.Errorf("from: duplicate %s", p.Text)
		}
		bound[p.hole] = true
	}
	for _, p := range s.to {
		if !bound[p.hole] {
			return s, fmt.Errorf("to: %s is missing from `from`", p.Text)
		}
	}
	code, _ := cpptoken.Scan([]byte(r.To))
	if again, err := r.places(code, s.from); err != nil || len(again) > 0 || r.From == r.To {
		return s, errors.Join(err, fmt.Errorf("to %q still matches from %q, so each run would change the code again",
			r.To, r.From))
	}
	return s, nil
}

// places returns the tokens at which a shape begins in code.
func (r Rule) places(code []cpptoken.Token, s shape) (found []cpptoken.Token, err error) {
	m := matcher{rule: r, code: code, shape: s}
	for i, k := range code {
		if m.at(i) > 0 {
			found = append(found, k)
		}
	}
	return found, m.bounded()
}

// matcher searches tokens for a shape.
type matcher struct {
	rule  Rule
	code  []cpptoken.Token
	shape shape
	holes map[string][2]int // tokens of the holes in the last match
	steps int               // tokens visited in the search for arguments
}

// maxSteps limits the work for one file, in tokens. Unclosed brackets would make it quadratic.
const maxSteps = 20_000_000

// at returns the index after the shape that begins at token i, or 0 if no shape begins there.
func (m *matcher) at(i int) int {
	if first := m.shape[0]; m.code[i].Text != first.Text || first.Kind == cpptoken.Name && !m.rule.after(m.code[:i]) {
		return 0
	}
	m.holes = map[string][2]int{}
	begin := i
	for _, p := range m.shape {
		switch {
		case p.hole != "":
			end := m.argument(i, p.many)
			if end == i && !p.many {
				return 0
			}
			m.holes[p.hole] = [2]int{i, end}
			i = end
		case i == len(m.code) || m.code[i].Kind != p.Kind || m.code[i].Text != p.Text:
			return 0
		default:
			i++
		}
	}
	for _, k := range m.code[begin:i] {
		if k.Directive != m.code[begin].Directive { // a match must not cross an #if
			return 0
		}
	}
	return i
}

// after reports whether a name after these tokens can be one that the rule changes.
func (r Rule) after(before []cpptoken.Token) bool {
	text := func(n int) string {
		if n > len(before) {
			return ""
		}
		return before[len(before)-n].Text
	}
	member := text(1) == "." && text(2) != "." || text(1) == "->" || text(1) == "::" // x.name, not pack... name
	switch {
	case r.Kind != "rename":
		return !member
	case r.Receiver == "":
		return true
	}
	return member && (text(1) != "::" || text(2) == r.Receiver)
}

// argument returns the index after the argument or arguments that begin at i.
func (m *matcher) argument(i int, many bool) int {
	depth := 0
	for ; i < len(m.code) && m.steps < maxSteps; i++ {
		m.steps++
		if m.code[i].Kind != cpptoken.Mark {
			continue
		}
		switch m.code[i].Text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth == 0 {
				return i
			}
			depth--
		case ",":
			if depth == 0 && !many {
				return i
			}
		case ";":
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

func (m *matcher) bounded() error {
	if m.steps < maxSteps {
		return nil
	}
	return fmt.Errorf("brackets are unclosed or nested too deeply to search for %s", m.rule.From)
}

// Rewritten is the result of applying a rule to one file.
type Rewritten struct {
	Out     []byte  // the changed source, or the source itself without changes
	Changed []Place // changed places in the original source
	Already []Place // places that already have the new code
}

// Rewrite applies the rule to the content of a file.
func (r Rule) Rewrite(file string, src []byte) (Rewritten, error) {
	none := Rewritten{Out: src}
	s, err := r.shapes()
	if err != nil || !s.from.in(src) && !s.to.in(src) {
		return none, err
	}
	code, err := cpptoken.Scan(src)
	if err != nil {
		return none, fmt.Errorf("%s:%w", file, err)
	}
	w := rewriter{src: src, matcher: matcher{rule: r, code: code, shape: s.from}}
	out := w.between(0, len(code), 0, len(src))
	var already []cpptoken.Token
	if r.To != "" {
		already, err = r.places(code, s.to)
	}
	if err := errors.Join(err, w.bounded()); err != nil {
		return none, fmt.Errorf("%s: %w", file, err)
	}
	if len(w.found) > 0 {
		code, err := cpptoken.Scan(out)
		if again, errAgain := r.places(code, s.from); err != nil || errAgain != nil || len(again) > 0 {
			return none, fmt.Errorf("%s: the new code of %s still matches %s", file, r, r.From)
		}
	}
	places := func(tokens []cpptoken.Token) (all []Place) {
		for _, k := range tokens {
			line, col := cpptoken.Position(src, k.Start)
			all = append(all, Place{File: file, Line: line, Col: col})
		}
		return all
	}
	return Rewritten{Out: out, Changed: places(w.found), Already: places(already)}, nil
}

// rewriter replaces the matches in one file, including those inside arguments of other matches.
type rewriter struct {
	matcher
	src   []byte
	found []cpptoken.Token // first tokens of matches
}

// between returns the text from offset start to end with its matches replaced. Its tokens are code[i:to].
func (w *rewriter) between(i, to, start, end int) []byte {
	var out []byte
	for i < to {
		after := w.at(i)
		if after == 0 || after > to {
			i++
			continue
		}
		first, last := w.code[i], w.code[after-1]
		w.found = append(w.found, first)
		out = append(out, w.src[start:first.Start]...)
		out = append(out, w.comments(i, after)...)
		if w.rule.To == "" {
			if after < to && w.code[after].Text == ";" && w.code[after].Directive == first.Directive && w.statement(i) {
				last = w.code[after]
				after++
			}
			out, start = w.dropLine(out, last.End)
		} else {
			out = append(out, w.fill(w.holes)...)
			start = last.End
		}
		i = after
	}
	return append(out, w.src[start:end]...)
}

// comments returns the text between the tokens of a match, outside its arguments, if it contains comments.
func (w *rewriter) comments(begin, end int) (out []byte) {
	for i := begin + 1; i < end; i++ {
		between := w.src[w.code[i-1].End:w.code[i].Start]
		kept := false
		for _, h := range w.holes {
			kept = kept || h[0] < i && i < h[1]
		}
		if !kept && bytes.IndexByte(between, '/') >= 0 {
			out = append(out, between...)
		}
	}
	return out
}

// fill returns the rule's To with its holes filled in.
func (w *rewriter) fill(holes map[string][2]int) []byte {
	tokens, _ := cpptoken.Scan([]byte(w.rule.To))
	var out []byte
	done := 0
	for _, k := range tokens {
		if h, ok := holes[strings.TrimLeft(k.Text, "$")]; ok && strings.HasPrefix(k.Text, "$") {
			out = append(out, w.rule.To[done:k.Start]...)
			if h[0] < h[1] {
				out = append(out, w.between(h[0], h[1], w.code[h[0]].Start, w.code[h[1]-1].End)...)
			}
			done = k.End
		}
	}
	return append(out, w.rule.To[done:]...)
}

// statement reports whether a statement begins at token i, so that deleting it includes its semicolon. In a macro's
// body, only code after a semicolon or a brace counts, because the body may follow an if.
func (w *rewriter) statement(i int) bool {
	before := i - 1
	for before >= 0 && w.code[i].Directive == 0 && w.code[before].Directive > 0 {
		before--
	}
	return before < 0 || slices.Contains([]string{";", "{", "}"}, w.code[before].Text)
}

// dropLine deletes a line that is now blank, except the last line of a macro, which ends the macro.
func (w *rewriter) dropLine(out []byte, start int) ([]byte, int) {
	begin := bytes.LastIndexByte(out, '\n') + 1
	end := len(w.src)
	if i := bytes.IndexByte(w.src[start:], '\n'); i >= 0 {
		end = start + i + 1
	}
	blank := len(bytes.TrimSpace(out[begin:])) == 0 && len(bytes.TrimSpace(w.src[start:end])) == 0
	if !blank || bytes.HasSuffix(bytes.TrimSpace(out[:begin]), []byte(`\`)) {
		return out, start
	}
	return out[:begin], end
}
