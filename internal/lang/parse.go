package lang

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Limits of sources.
const (
	// MaxSource is the largest size of a file in bytes: HCL keeps a list of all tokens, 96 bytes each.
	MaxSource = 2 << 20

	// of brackets, blocks, operators, conditions and directives: HCL's parser and what it makes call themselves for
	// each
	maxNesting     = 500
	maxExponentLen = 4  // digits
	maxSyntax      = 50 // mistakes that are told of one file
)

// Parse parses native syntax. It rejects nesting that is too deep for HCL's recursive parser.
func Parse(src []byte, name string) (*hcl.File, hcl.Diagnostics) {
	if diags := checkSource(src, name); diags.HasErrors() {
		return nil, diags
	}
	f, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	return f, placed(diags[:min(len(diags), maxSyntax)], src, name)
}

// ParseShipped is Parse for a file that is part of the program. It does not check the limits of sources.
func ParseShipped(src []byte, name string) (*hcl.File, hcl.Diagnostics) {
	return hclsyntax.ParseConfig(src, name, hcl.InitialPos)
}

// mergeMark begins a line that git leaves in a file that it could not merge.
const mergeMark = "<<<<<<< "

// placed says of mistakes that HCL finds far from where they are made where that is: of a heredoc that nothing ends,
// and of a merge that git left to people.
func placed(diags hcl.Diagnostics, src []byte, name string) hcl.Diagnostics {
	if !diags.HasErrors() {
		return diags
	}
	if at := bytes.Index(append([]byte{'\n'}, src...), []byte("\n"+mergeMark)); at >= 0 {
		pos := hcl.Pos{Line: 1 + bytes.Count(src[:at], []byte{'\n'}), Column: 1, Byte: at}
		end := hcl.Pos{Line: pos.Line, Column: len(mergeMark), Byte: pos.Byte + len(mergeMark) - 1}
		return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "A merge is not finished",
			Subject: &hcl.Range{Filename: name, Start: pos, End: end},
			Detail: "Here git left both sides, between lines that begin with <<<<<<< and >>>>>>>. Keep what is " +
				"right, and remove these lines. (hexmage.lock.hcl: keep either side, then run `hexmage lock`.)"}}
	}
	for i, d := range diags {
		if d.Summary != "Unterminated template string" {
			continue
		}
		if begin := openHeredoc(src, name); begin != nil {
			own := *d
			own.Summary, own.Subject, own.Context = "A heredoc has no end", begin.Range.Ptr(), nil
			mark := strings.TrimLeft(strings.TrimSpace(string(begin.Bytes)), "<-")
			own.Detail = fmt.Sprintf("The text that begins here goes on to the end of the file. End it with a line "+
				"that has nothing but %s.", mark)
			diags[i] = &own
		}
	}
	return diags
}

// openHeredoc is the last heredoc that nothing ends.
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

// ParseManifest is Parse for a file that is no pipeline, whose expressions spend the budget.
func ParseManifest(src []byte, name string, b *Budget) (*hcl.File, hcl.Diagnostics) {
	f, diags := Parse(src, name)
	if !diags.HasErrors() {
		b.Count(f.Body)
	}
	return f, diags
}

// ParseExpression is Parse for an expression.
func ParseExpression(src []byte, name string) (hclsyntax.Expression, hcl.Diagnostics) {
	if diags := checkSource(src, name); diags.HasErrors() {
		return nil, diags
	}
	e, diags := hclsyntax.ParseExpression(src, name, hcl.InitialPos)
	return e, diags[:min(len(diags), maxSyntax)]
}

func checkSource(src []byte, name string) hcl.Diagnostics {
	if len(src) > MaxSource {
		return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "File too large",
			Detail: fmt.Sprintf("%s has %d bytes; the limit is %d. Give long data to steps as files.", name, len(src),
				MaxSource)}}
	}
	tokens, _ := hclsyntax.LexConfig(src, name, hcl.InitialPos) // what is wrong is for the parser to say
	n := nesting{}
	for _, t := range tokens {
		if t.Type == hclsyntax.TokenNumberLit && !writable(t.Bytes) {
			return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "A number is too long",
				Detail: fmt.Sprintf("A number has at most %d characters, and an exponent of %d.", maxNumberText,
					maxExponentLen), Subject: t.Range.Ptr()}}
		}
		if n.add(t); n.depth > maxNesting {
			return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Nested too deeply",
				Detail: fmt.Sprintf("Here brackets, blocks, operators and conditions are more than %d deep. Make "+
					"locals of parts.", maxNesting), Subject: t.Range.Ptr()}}
		}
	}
	return nil
}

// writable says whether a number can be written without its exponent.
func writable(number []byte) bool {
	if len(number) > maxNumberText {
		return false
	}
	e := bytes.IndexAny(number, "eE")
	return e < 0 || len(bytes.TrimLeft(number[e+1:], "+-")) <= maxExponentLen
}

// nesting counts how deep the tree of what the tokens say can be: an open bracket is a level, and so is each operator
// since the last comma or line end, since 1+1+1 is (1+1)+1.
type nesting struct {
	open    []int // operators since the last comma or line end, in each open bracket; open[0] is outside of all
	braces  []bool
	depth   int
	control bool // the last token began a directive
	ended   bool // a line ended, after which an operator may go on
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
		n.ended = n.ended || bytes.HasSuffix(t.Bytes, []byte("\n")) // a comment of a line takes its end
		return
	case hclsyntax.TokenComma:
		n.reset(top)
	case hclsyntax.TokenOBrack:
		n.operators(top, 1) // an index of what stands before it
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
