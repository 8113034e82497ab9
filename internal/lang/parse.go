package lang

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Limits for source files.
const (
	// MaxSource is the maximum size of a file in bytes. The limit bounds memory, because HCL stores 96 bytes for each
	// token.
	MaxSource = 2 << 20

	// of brackets, blocks, operators, conditions and directives: HCL's parser and evaluator recurse for each level
	maxNesting     = 500
	maxExponentLen = 4  // digits
	maxSyntax      = 50 // reported syntax errors of one file
)

// Parse parses a file in native HCL syntax. It rejects files that are nested too deeply for HCL's recursive parser.
func Parse(src []byte, name string) (*hcl.File, hcl.Diagnostics) {
	if diags := checkSource(src, name); diags.HasErrors() {
		return nil, diags
	}
	f, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	return f, placed(diags[:min(len(diags), maxSyntax)], src, name)
}

// ParseShipped is like Parse, for a file inside hexmage's binary. The limits for source files do not apply.
func ParseShipped(src []byte, name string) (*hcl.File, hcl.Diagnostics) {
	return hclsyntax.ParseConfig(src, name, hcl.InitialPos)
}

// mergeMark begins a line that git writes at a merge conflict.
const mergeMark = "<<<<<<< "

// placed improves the positions of errors that HCL reports far from their cause: an unterminated heredoc, and a merge
// conflict.
func placed(diags hcl.Diagnostics, src []byte, name string) hcl.Diagnostics {
	if !diags.HasErrors() {
		return diags
	}
	if at := bytes.Index(append([]byte{'\n'}, src...), []byte("\n"+mergeMark)); at >= 0 {
		pos := hcl.Pos{Line: 1 + bytes.Count(src[:at], []byte{'\n'}), Column: 1, Byte: at}
		end := hcl.Pos{Line: pos.Line, Column: len(mergeMark), Byte: pos.Byte + len(mergeMark) - 1}
		return errorf(hcl.Range{Filename: name, Start: pos, End: end}, "Unresolved merge conflict",
			"The file contains a git conflict between <<<<<<< and >>>>>>>. Keep the right lines and remove the "+
				"conflict markers. In hexmage.lock.hcl, keep either side, then run `hexmage lock`.")
	}
	for i, d := range diags {
		if d.Summary != "Unterminated template string" {
			continue
		}
		if begin := openHeredoc(src, name); begin != nil {
			own := *d
			own.Summary, own.Subject, own.Context = "Unterminated heredoc", begin.Range.Ptr(), nil
			mark := strings.TrimLeft(strings.TrimSpace(string(begin.Bytes)), "<-")
			own.Detail = fmt.Sprintf("This heredoc has no end. After its text, add a line that contains only %s.", mark)
			diags[i] = &own
		}
	}
	return diags
}

// openHeredoc returns the last unterminated heredoc.
func openHeredoc(src []byte, name string) (begin *hclsyntax.Token) {
	tokens, _ := hclsyntax.LexConfig(src, name, hcl.InitialPos)
	for i, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOHeredoc:
			begin = &tokens[i]
		case hclsyntax.TokenCHeredoc:
			begin = nil
		}
	}
	return begin
}

// ParseManifest is like Parse, for a file that is not a pipeline. Evaluating the file's expressions spends the budget.
func ParseManifest(src []byte, name string, b *Budget) (*hcl.File, hcl.Diagnostics) {
	f, diags := Parse(src, name)
	if !diags.HasErrors() {
		b.Count(f.Body)
	}
	return f, diags
}

// ParseExpression is like Parse, for a single expression.
func ParseExpression(src []byte, name string) (hclsyntax.Expression, hcl.Diagnostics) {
	if diags := checkSource(src, name); diags.HasErrors() {
		return nil, diags
	}
	e, diags := hclsyntax.ParseExpression(src, name, hcl.InitialPos)
	return e, diags[:min(len(diags), maxSyntax)]
}

func checkSource(src []byte, name string) hcl.Diagnostics {
	if len(src) > MaxSource {
		return errorf(hcl.Range{}, "File too large",
			"%s has %d bytes; the limit is %d. Move long data into files that steps read.", name, len(src), MaxSource)
	}
	tokens, _ := hclsyntax.LexConfig(src, name, hcl.InitialPos) // the parser reports errors
	n := nesting{}
	for _, t := range tokens {
		if t.Type == hclsyntax.TokenNumberLit && !writable(t.Bytes) {
			return errorf(t.Range, "Number too long",
				"A number can have at most %d characters, and its exponent at most %d digits.",
				maxNumberText, maxExponentLen)
		}
		if n.add(t); n.depth > maxNesting {
			return errorf(t.Range, "Nested too deeply",
				"Brackets, blocks, operators and conditions are nested more than %d levels deep. Move parts of "+
					"the expression into locals.",
				maxNesting)
		}
	}
	return nil
}

// writable reports whether a number can be written without its exponent.
func writable(number []byte) bool {
	if len(number) > maxNumberText {
		return false
	}
	e := bytes.IndexAny(number, "eE")
	return e < 0 || len(bytes.TrimLeft(number[e+1:], "+-")) <= maxExponentLen
}

// nesting computes an upper bound for the depth of the syntax tree from tokens. An open bracket is a level. Each
// operator since the last comma or line end is one, too, because 1+1+1 is (1+1)+1.
type nesting struct {
	open    []int // operators since the last comma or line end, in each open bracket; open[0] is outside all brackets
	braces  []bool
	depth   int
	control bool // the last token began a directive
	ended   bool // a line ended, and the next one may begin with an operator
	last    hclsyntax.TokenType
}

func (n *nesting) add(t hclsyntax.Token) {
	if n.open == nil {
		n.open, n.braces = []int{0}, []bool{true}
	}
	top := len(n.open) - 1
	goesOn := operator(t.Type) || t.Type == hclsyntax.TokenDot || t.Type == hclsyntax.TokenOBrack
	if n.ended && t.Type != hclsyntax.TokenNewline && t.Type != hclsyntax.TokenComment {
		n.ended = false
		if !goesOn && n.braces[top] && !operator(n.last) {
			n.reset(top)
		}
	}
	switch t.Type {
	case hclsyntax.TokenNewline:
		n.ended = true
		return
	case hclsyntax.TokenComment:
		n.ended = n.ended || bytes.HasSuffix(t.Bytes, []byte("\n")) // a line comment includes the line end
		return
	case hclsyntax.TokenComma:
		n.reset(top)
	case hclsyntax.TokenOBrack:
		n.operators(top, 1) // an index of the expression before it
		n.push(false)
	case hclsyntax.TokenOParen:
		n.push(false)
	case hclsyntax.TokenOBrace:
		n.push(true)
	case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
		n.push(false)
	case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd,
		hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
		n.pop()
	case hclsyntax.TokenIdent:
		if n.control && top > 0 {
			switch string(t.Bytes) {
			case "if", "for":
				n.operators(top-1, 1)
			case "endif", "endfor":
				n.operators(top-1, -1)
			}
		}
	default:
		if operator(t.Type) {
			n.operators(top, 1)
		}
	}
	n.control = t.Type == hclsyntax.TokenTemplateControl
	n.last = t.Type
}

func (n *nesting) push(brace bool) {
	n.open, n.braces = append(n.open, 0), append(n.braces, brace)
	n.depth++
}

func (n *nesting) pop() {
	if top := len(n.open) - 1; top > 0 {
		n.depth -= n.open[top] + 1
		n.open, n.braces = n.open[:top], n.braces[:top]
	}
}

func (n *nesting) operators(at, more int) {
	more = max(more, -n.open[at])
	n.open[at] += more
	n.depth += more
}

func (n *nesting) reset(at int) { n.operators(at, -n.open[at]) }

func operator(t hclsyntax.TokenType) bool {
	switch t {
	case hclsyntax.TokenPlus, hclsyntax.TokenMinus, hclsyntax.TokenStar, hclsyntax.TokenSlash, hclsyntax.TokenPercent,
		hclsyntax.TokenBang,
		hclsyntax.TokenEqualOp, hclsyntax.TokenNotEqual, hclsyntax.TokenLessThan, hclsyntax.TokenLessThanEq,
		hclsyntax.TokenGreaterThan,
		hclsyntax.TokenGreaterThanEq, hclsyntax.TokenAnd, hclsyntax.TokenOr, hclsyntax.TokenQuestion,
		hclsyntax.TokenColon:
		return true
	}
	return false
}
