package lang

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// ParseWritten reads blocks that are written out: nothing in them but texts, whole numbers, true, false, null, references and lists of these, no comment and
// nothing that is not ASCII. What it makes of them is what HCL's parser does, in a tenth of the time and without a list of all tokens, which takes several times
// the memory that the source does. Texts in the body are parts of src. It is not ok if there is anything else, or anything wrong: that is for Parse.
//
// If brief, nobody tells where something is wrong by what it makes: names after dots have no ranges, and references share those that they have in common, which
// halves them.
func ParseWritten(src, name string, start hcl.Pos, brief bool) (body *hclsyntax.Body, ok bool) {
	if start.Column != 1 {
		return nil, false
	}
	for i := range len(src) {
		if c := src[i]; c >= 0x80 || c == '\r' {
			return nil, false
		}
	}
	w := &written{src: src, name: name, start: start.Byte, line: start.Line, brief: brief}
	w.spaces()
	return w.body(hcl.Range{Filename: name, Start: w.pos()}, 0)
}

// written is a place in a source that is read. Each of its methods that is not ok has found something that is not written out.
type written struct {
	src   string
	name  string // of the file
	start int    // offset of src in the file
	at    int    // offset in src
	line  int    // that at is in
	began int    // offset in src where that line began

	brief bool
	last  hcl.Traversal // that was read, if brief
}

// maxWritten is how many lists, or blocks, may be in each other.
const maxWritten = 10

func (w *written) pos() hcl.Pos {
	return hcl.Pos{Line: w.line, Column: w.at - w.began + 1, Byte: w.start + w.at} // of ASCII a byte is a column
}

// since is the range from a place to here.
func (w *written) since(start hcl.Pos) hcl.Range {
	return hcl.Range{Filename: w.name, Start: start, End: w.pos()}
}

// next is the byte that stands here, or a zero, which nothing accepts, at the end.
func (w *written) next() byte {
	if w.at < len(w.src) {
		return w.src[w.at]
	}
	return 0
}

// take reads a byte.
func (w *written) take(c byte) (hcl.Range, bool) {
	if w.next() != c {
		return hcl.Range{}, false
	}
	start := w.pos()
	w.at++
	return w.since(start), true
}

func (w *written) spaces() {
	for c := w.next(); c == ' ' || c == '\t'; c = w.next() {
		w.at++
	}
}

func (w *written) lines() {
	for w.spaces(); w.next() == '\n'; w.spaces() {
		w.at++
		w.line, w.began = w.line+1, w.at
	}
}

// lineEnd says whether nothing more stands on the line.
func (w *written) lineEnd() bool {
	w.spaces()
	return w.at == len(w.src) || w.next() == '\n'
}

// body reads what is in a block up to its brace or, at depth 0, in the source up to its end.
func (w *written) body(open hcl.Range, depth int) (*hclsyntax.Body, bool) {
	whole := depth == 0
	b := &hclsyntax.Body{Attributes: hclsyntax.Attributes{}, Blocks: hclsyntax.Blocks{}}
	for {
		w.lines()
		if whole && w.at == len(w.src) || !whole && w.next() == '}' {
			end := w.since(w.pos())
			if !whole {
				end, _ = w.take('}')
			}
			b.SrcRange, b.EndRange = hcl.RangeBetween(open, end), hcl.Range{Filename: w.name, Start: end.End, End: end.End}
			return b, true
		}
		name, at, ok := w.ident()
		if !ok {
			return nil, false
		}
		w.spaces()
		if w.next() == '=' {
			a, ok := w.attribute(name, at)
			if _, twice := b.Attributes[name]; !ok || twice || !w.lineEnd() {
				return nil, false
			}
			b.Attributes[name] = a
			continue
		}
		block, ok := w.block(name, at, depth)
		if !ok || !w.lineEnd() {
			return nil, false
		}
		b.Blocks = append(b.Blocks, block)
	}
}

// block reads a block whose type was read.
func (w *written) block(name string, at hcl.Range, depth int) (*hclsyntax.Block, bool) {
	b := &hclsyntax.Block{Type: name, TypeRange: at}
	for w.next() == '"' {
		start := w.pos()
		text, _, ok := w.text()
		if !ok {
			return nil, false
		}
		b.Labels, b.LabelRanges = append(b.Labels, text), append(b.LabelRanges, w.since(start))
		w.spaces()
	}
	var ok bool
	if b.OpenBraceRange, ok = w.take('{'); !ok || depth == maxWritten {
		return nil, false
	}
	w.spaces()
	if c := w.next(); c == '\n' || c == '}' {
		b.Body, ok = w.body(b.OpenBraceRange, depth+1)
		if ok {
			end := b.Body.SrcRange.End
			b.CloseBraceRange = hcl.Range{Filename: w.name, Start: hcl.Pos{Line: end.Line, Column: end.Column - 1, Byte: end.Byte - 1}, End: end}
		}
		return b, ok
	}
	name, at, ok = w.ident() // the one argument of a block on one line
	if !ok {
		return nil, false
	}
	w.spaces()
	a, ok := w.attribute(name, at)
	if !ok {
		return nil, false
	}
	b.Body = &hclsyntax.Body{Attributes: hclsyntax.Attributes{name: a}, SrcRange: a.SrcRange, EndRange: hcl.Range{Filename: w.name, Start: a.SrcRange.End, End: a.SrcRange.End}}
	w.spaces()
	b.CloseBraceRange, ok = w.take('}')
	return b, ok
}

// attribute reads an argument whose name was read.
func (w *written) attribute(name string, at hcl.Range) (*hclsyntax.Attribute, bool) {
	equals, ok := w.take('=')
	if !ok {
		return nil, false
	}
	w.spaces()
	x, ok := w.expression(0)
	return &hclsyntax.Attribute{Name: name, Expr: x, SrcRange: w.since(at.Start), NameRange: at, EqualsRange: equals}, ok
}

// expression reads one, of which whatever follows has to say that it ended.
func (w *written) expression(depth int) (hclsyntax.Expression, bool) {
	start := w.pos()
	switch c := w.next(); {
	case c == '"':
		text, at, ok := w.text()
		if !ok || text == "" { // HCL has the text of an empty one behind its quotes
			return nil, false
		}
		return &hclsyntax.TemplateExpr{Parts: []hclsyntax.Expression{&hclsyntax.LiteralValueExpr{Val: cty.StringVal(text), SrcRange: at}}, SrcRange: w.since(start)}, true
	case c == '[':
		return w.list(depth)
	case c >= '0' && c <= '9':
		from := w.at
		for c := w.next(); c >= '0' && c <= '9'; c = w.next() {
			w.at++
		}
		v, err := cty.ParseNumberVal(w.src[from:min(w.at, from+maxNumberText)])
		return &hclsyntax.LiteralValueExpr{Val: v, SrcRange: w.since(start)}, err == nil && w.at-from <= maxNumberText && w.next() != '.' && !identByte(w.next())
	}
	return w.reference()
}

// list reads a list.
func (w *written) list(depth int) (hclsyntax.Expression, bool) {
	open, _ := w.take('[')
	if depth == maxWritten {
		return nil, false
	}
	x := &hclsyntax.TupleConsExpr{OpenRange: open}
	for w.lines(); w.next() != ']'; w.lines() {
		e, ok := w.expression(depth + 1)
		if !ok {
			return nil, false
		}
		x.Exprs = append(x.Exprs, e)
		if w.lines(); w.next() == ']' {
			break
		}
		if _, ok := w.take(','); !ok {
			return nil, false
		}
	}
	w.at++
	x.SrcRange = w.since(open.Start)
	return x, true
}

// reference reads a name, and those after dots.
func (w *written) reference() (hclsyntax.Expression, bool) {
	start := w.pos()
	root, at, ok := w.ident()
	if !ok {
		return nil, false
	}
	switch root {
	case "true":
		return &hclsyntax.LiteralValueExpr{Val: cty.True, SrcRange: at}, w.next() != '.'
	case "false":
		return &hclsyntax.LiteralValueExpr{Val: cty.False, SrcRange: at}, w.next() != '.'
	case "null":
		return &hclsyntax.LiteralValueExpr{Val: cty.NullVal(cty.DynamicPseudoType), SrcRange: at}, w.next() != '.'
	case "for":
		return nil, false
	}
	dots := 0
	for i := w.at; i < len(w.src) && (w.src[i] == '.' || identByte(w.src[i])); i++ {
		if w.src[i] == '.' {
			dots++
		}
	}
	t := make(hcl.Traversal, 1, 1+dots)
	t[0] = hcl.TraverseRoot{Name: root, SrcRange: at}
	for w.next() == '.' {
		dot := w.pos()
		w.at++
		name, _, ok := w.ident()
		if !ok {
			return nil, false
		}
		t = append(t, w.attr(name, dot, len(t)))
	}
	w.last = t
	return &hclsyntax.ScopeTraversalExpr{Traversal: t, SrcRange: w.since(start)}, true
}

// attr is the name after a dot that was read, the n-th of a reference.
func (w *written) attr(name string, dot hcl.Pos, n int) hcl.Traverser {
	if !w.brief {
		return hcl.TraverseAttr{Name: name, SrcRange: w.since(dot)}
	}
	if n < len(w.last) {
		if a := w.last[n].(hcl.TraverseAttr); a.Name == name {
			return w.last[n]
		}
	}
	return hcl.TraverseAttr{Name: name}
}

// text reads what is in quotes, and tells where that is, without them.
func (w *written) text() (string, hcl.Range, bool) {
	w.at++
	start, from := w.pos(), w.at
	for {
		switch c := w.next(); {
		case c == '"':
			text, at := w.src[from:w.at], w.since(start)
			w.at++
			return text, at, true
		case c < ' ' || c > '~' || c == '\\' || c == '$' || c == '%': // what may be more than it looks
			return "", hcl.Range{}, false
		}
		w.at++
	}
}

// ident reads a name.
func (w *written) ident() (string, hcl.Range, bool) {
	start, from := w.pos(), w.at
	if c := w.next(); !identByte(c) || c == '-' || c >= '0' && c <= '9' {
		return "", hcl.Range{}, false
	}
	for identByte(w.next()) {
		w.at++
	}
	return w.src[from:w.at], w.since(start), true
}

func identByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
