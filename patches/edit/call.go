package edit

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/hexmage/hexmage/patches/cpptoken"
	"github.com/hexmage/hexmage/patches/rename"
)

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
	src   []byte // nil where no literals are compared
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
			return 0, false // somebody's member of the same name
		}
	}
	m.holes = map[string][2]int{}
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
	return i, true
}

func (m *matcher) text(i int) string {
	if k := m.code[i]; k.Name != "" || m.src == nil {
		return k.Name
	} else {
		return string(m.src[k.Start:k.End])
	}
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

// Rewrite implements Editor.
func (r Call) Rewrite(file string, src []byte) (rename.Rewritten, error) {
	res := rename.Rewritten{Out: src}
	from, err := parseShape(r.From)
	if err != nil {
		return res, err
	}
	if !rename.MayHave(src, firstName(r.From), firstName(r.To)) && firstName(r.From) != "" {
		return res, nil
	}
	s, err := open(file, src)
	if err != nil {
		return res, err
	}
	w := rewriter{source: s, rule: r, from: from}
	out := w.between(0, len(s.code), 0, len(src))
	res.Changed = w.places
	if r.To != "" {
		to, err := parseShape(r.To)
		if err != nil {
			return res, err
		}
		m := matcher{code: s.code, src: src, shape: to, steps: &w.steps}
		for i, k := range s.code {
			if _, ok := m.at(i); ok {
				res.Already = append(res.Already, rename.Place{File: file, Line: k.Line, Col: k.Col})
			}
		}
	}
	if w.steps >= maxSteps {
		return rename.Rewritten{Out: src}, fmt.Errorf("%s: its brackets are nested too deep, or never closed, to look for %s", file, r.From)
	}
	if len(w.places) > 0 {
		if hasShape(string(out), from) {
			return res, fmt.Errorf("%s: what call %q writes has the shape of %s again", file, r.Name, r.From)
		}
		res.Out = out
	}
	return res, nil
}

// rewriter rewrites the calls of one file, also those within arguments of others.
type rewriter struct {
	*source
	rule   Call
	from   []part
	places []rename.Place
	steps  int
}

// between returns the text from offset start to end, whose tokens are code[i:to], with its calls rewritten.
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
		w.places = append(w.places, rename.Place{File: w.file, Line: k.Line, Col: k.Col})
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

// statement says whether a statement begins at token i, so that it may go with its semicolon.
func (w *rewriter) statement(i int) bool {
	if i == 0 || w.code[i-1].Directive {
		return true
	}
	switch w.code[i-1].Name {
	case ";", "{", "}":
		return true
	}
	return false
}

// dropLine takes away a line of which nothing is left.
func (w *rewriter) dropLine(out []byte, start int) ([]byte, int) {
	begin := bytes.LastIndexByte(out, '\n') + 1
	end := w.lineAfter(start)
	if len(bytes.TrimSpace(out[begin:])) > 0 || len(bytes.TrimSpace(w.src[start:end])) > 0 {
		return out, start
	}
	return out[:begin], end
}
