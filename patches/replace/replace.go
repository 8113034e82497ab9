// Package replace rewrites code that has a shape in C++ sources.
//
// A shape is C++ text whose blanks and comments do not count. In a shape, $name stands for one argument: anything with
// balanced brackets and without a comma outside of them. $$name stands for any number of arguments. Rules see tokens,
// so comments and strings stay as they are, except comments inside the replaced code and outside its arguments. A
// second run of a rule changes nothing.
//
// The package does not read files. It knows nothing of types, of macro expansion or of conditional compilation.
package replace

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/patches/cpptoken"
	"github.com/hexmage/hexmage/patches/rename"
)

// Rule is one `replace` block of a rules file.
type Rule struct {
	Name string `hcl:"name,label"`
	From string `hcl:"from"` // a shape
	// To is the new code. If it is empty, the rule deletes the code, its semicolon and a line that becomes blank.
	To           string `hcl:"to"`
	rename.Scope `hcl:",remain"`
}

// String returns the rule's name as a rules file has it.
func (r Rule) String() string { return fmt.Sprintf("replace %q", r.Name) }

// Target returns the new code in words.
func (r Rule) Target() string {
	if r.To == "" {
		return "nothing"
	}
	return r.To
}

// Count checks the number of places found in the files that the rule covers.
func (r Rule) Count(files []string, changed, already []rename.Place) error {
	return r.Scope.Count(r.String(), r.From, r.Target(), files, changed, already)
}

// Validate returns what is wrong with the rule.
func (r Rule) Validate() error {
	var errs []error
	for _, err := range append(r.Scope.Check(), r.check()) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", r, err))
		}
	}
	return errors.Join(errs...)
}

func (r Rule) check() error {
	from, err := parseShape(r.From)
	if err != nil {
		return fmt.Errorf("from: %w", err)
	}
	if r.To == "" {
		if r.Expect.Min > 0 {
			return errors.New("expect: min must be 0 where to is empty, because nothing is left to count the second time")
		}
		return nil
	}
	to, err := parseShape(r.To)
	if err != nil {
		return fmt.Errorf("to: %w", err)
	}
	bound := map[string]bool{}
	for _, k := range from {
		if k.hole != "" && bound[k.hole] {
			return fmt.Errorf("from: %s is there twice", k.text)
		}
		bound[k.hole] = true
	}
	for _, k := range to {
		if k.hole != "" && !bound[k.hole] {
			return fmt.Errorf("to: %s is not in from", k.text)
		}
	}
	if hasShape(r.To, from) {
		return fmt.Errorf("to %q has the shape of from %q: it would never come to rest", r.To, r.From)
	}
	return nil
}

// part is one token of a shape.
type part struct {
	kind cpptoken.Kind
	text string
	hole string // the name behind $ or $$
	many bool   // $$
}

// parseShape reads a shape. It begins with what can be looked for.
func parseShape(text string) ([]part, error) {
	tokens, err := cpptoken.Scan([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	var shape []part
	for _, k := range rename.Significant(tokens) {
		p := part{kind: k.Kind, text: text[k.Start:k.End]}
		if k.Name != "" {
			p.text = k.Name
		}
		if hole := strings.TrimLeft(p.text, "$"); k.Kind == cpptoken.Identifier && hole != p.text && hole != "" {
			p.hole, p.many = hole, strings.HasPrefix(p.text, "$$")
			if len(shape) > 0 && shape[len(shape)-1].hole != "" {
				return nil, fmt.Errorf("%q: nothing stands between %s and %s", text, shape[len(shape)-1].text, p.text)
			}
		}
		shape = append(shape, p)
	}
	if len(shape) == 0 || shape[0].hole != "" || shape[len(shape)-1].hole != "" {
		return nil, fmt.Errorf("%q: a shape begins and ends with code, such as NAME($argument)", text)
	}
	return shape, nil
}

// matcher looks for a shape among tokens.
type matcher struct {
	code  []cpptoken.Token
	src   []byte
	shape []part
	holes map[string][2]int // of the last match: the tokens that holes stand for
	steps *int              // how many tokens were looked at for arguments
}

// maxSteps bounds the work for one file, in tokens: brackets that are never closed would make it quadratic.
const maxSteps = 20_000_000

// at says whether the shape begins at token i, and returns the index behind it.
func (m *matcher) at(i int) (int, bool) {
	if i > 0 && m.shape[0].kind == cpptoken.Identifier && m.code[i-1].Kind == cpptoken.Punct {
		switch m.code[i-1].Name {
		case ".", "->", "::":
			return 0, false // a member with this name
		}
	}
	m.holes = map[string][2]int{}
	begin := i
	for _, p := range m.shape {
		if p.hole != "" {
			end := m.argument(i, p.many)
			if end == i && !p.many {
				return 0, false
			}
			m.holes[p.hole] = [2]int{i, end}
			i = end
			continue
		}
		if i >= len(m.code) || m.code[i].Kind != p.kind || m.text(i) != p.text {
			return 0, false
		}
		i++
	}
	return i, m.oneLine(begin, i)
}

// oneLine tells whether the tokens are all of one preprocessor line, or all of none: no match goes across an #if.
func (m *matcher) oneLine(begin, end int) bool {
	for i, k := range m.code[begin:end] {
		if k.Directive != m.code[begin].Directive || i > 0 && k.Directive && k.Name == "#" {
			return false
		}
	}
	return true
}

func (m *matcher) text(i int) string {
	if k := m.code[i]; k.Name == "" {
		return string(m.src[k.Start:k.End])
	}
	return m.code[i].Name
}

// argument returns the index behind the argument, or arguments, that begin at i.
func (m *matcher) argument(i int, many bool) int {
	depth := 0
	for ; i < len(m.code) && *m.steps < maxSteps; i++ {
		*m.steps++
		if m.code[i].Kind != cpptoken.Punct {
			continue
		}
		switch m.code[i].Name {
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

// hasShape says whether a text has the shape.
func hasShape(text string, shape []part) bool {
	tokens, err := cpptoken.Scan([]byte(text))
	if err != nil {
		return false
	}
	m := matcher{code: rename.Significant(tokens), src: []byte(text), shape: shape, steps: new(int)}
	for i := range m.code {
		if _, ok := m.at(i); ok {
			return true
		}
	}
	return false
}

// Rewrite returns what the rule makes of a file.
func (r Rule) Rewrite(file string, src []byte) (rename.Rewritten, error) {
	return r.RewriteSource(&rename.Source{File: file, Text: src})
}

// RewriteSource returns what the rule makes of a file.
func (r Rule) RewriteSource(s *rename.Source) (rename.Rewritten, error) {
	res := rename.Rewritten{Out: s.Text}
	from, err := parseShape(r.From)
	if err != nil {
		return res, err
	}
	names := []string{firstName(r.From)}
	if r.To != "" {
		names = append(names, firstName(r.To))
	}
	if !slices.Contains(names, "") && !s.MayHave(names...) {
		return res, nil
	}
	code, err := s.Code()
	if err != nil {
		return res, err
	}
	w := rewriter{src: s.Text, code: code, rule: r, from: from}
	out := w.between(0, len(code), 0, len(s.Text))
	place := func(i int) rename.Place { return rename.Place{File: s.File, Line: code[i].Line, Col: code[i].Col} }
	if r.To != "" {
		to, err := parseShape(r.To)
		if err != nil {
			return res, err
		}
		m := matcher{code: code, src: s.Text, shape: to, steps: &w.steps}
		for i := range code {
			if _, ok := m.at(i); ok {
				res.Already = append(res.Already, place(i))
			}
		}
	}
	if w.steps >= maxSteps {
		return rename.Rewritten{Out: s.Text},
			fmt.Errorf("%s: its brackets are nested too deep, or never closed, to look for %s", s.File, r.From)
	}
	for _, i := range w.found {
		res.Changed = append(res.Changed, place(i))
	}
	if len(w.found) > 0 {
		if hasShape(string(out), from) {
			return res, fmt.Errorf("%s: the new code of %s has the shape of %s again", s.File, r, r.From)
		}
		res.Out = out
	}
	return res, nil
}

// rewriter replaces the matches in one file, those within arguments of others too.
type rewriter struct {
	src   []byte
	code  []cpptoken.Token
	rule  Rule
	from  []part
	found []int // the tokens at which matches begin
	steps int
}

// between returns the text from offset start to end, whose tokens are code[i:to], with its matches replaced.
func (w *rewriter) between(i, to, start, end int) []byte {
	var out []byte
	m := matcher{code: w.code[:to], src: w.src, shape: w.from, steps: &w.steps}
	for i < to {
		after, ok := m.at(i)
		if !ok {
			i++
			continue
		}
		k := w.code[i]
		w.found = append(w.found, i)
		out = append(out, w.src[start:k.Start]...)
		start = w.code[after-1].End
		if w.rule.To == "" {
			if after < to && w.code[after].Name == ";" && w.statement(i) {
				start = w.code[after].End
				after++
			}
			out, start = w.dropLine(out, start)
		} else {
			out = append(out, w.fill(m.holes)...)
		}
		i = after
	}
	return append(out, w.src[start:end]...)
}

// fill returns the rule's To with its holes filled.
func (w *rewriter) fill(holes map[string][2]int) []byte {
	tokens, _ := cpptoken.Scan([]byte(w.rule.To))
	var out []byte
	for _, k := range tokens {
		hole := strings.TrimLeft(k.Name, "$")
		if k.Kind != cpptoken.Identifier || hole == k.Name {
			out = append(out, w.rule.To[k.Start:k.End]...)
			continue
		}
		if h := holes[hole]; h[0] < h[1] {
			out = append(out, w.between(h[0], h[1], w.code[h[0]].Start, w.code[h[1]-1].End)...)
		}
	}
	return out
}

// statement tells whether a statement begins at token i. Then its semicolon is deleted with it. In a macro's body only
// code after a semicolon or a brace counts: the body may follow an if.
func (w *rewriter) statement(i int) bool {
	before := i - 1
	for before >= 0 && w.code[before].Directive && !w.code[i].Directive {
		before--
	}
	return before < 0 || slices.Contains([]string{";", "{", "}"}, w.code[before].Name)
}

// dropLine deletes a line that became blank. It keeps the last line of a macro, which ends the macro.
func (w *rewriter) dropLine(out []byte, start int) ([]byte, int) {
	begin := bytes.LastIndexByte(out, '\n') + 1
	end := len(w.src)
	if i := bytes.IndexByte(w.src[start:], '\n'); i >= 0 {
		end = start + i + 1
	}
	blank := len(bytes.TrimSpace(out[begin:])) == 0 && len(bytes.TrimSpace(w.src[start:end])) == 0
	if !blank || bytes.HasSuffix(bytes.TrimRight(out[:begin], "\r\n"), []byte(`\`)) {
		return out, start
	}
	return out[:begin], end
}

// firstName returns the first name in a text's code.
func firstName(text string) string {
	tokens, err := cpptoken.Scan([]byte(text))
	if err != nil {
		return ""
	}
	for _, k := range tokens {
		if k.Kind == cpptoken.Identifier && !strings.HasPrefix(k.Name, "$") {
			return k.Name
		}
	}
	return ""
}
