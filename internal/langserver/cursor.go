package langserver

import (
	"bytes"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/hexmage/hexmage/internal/lang"
)

// place is a sort of place in a text.
type place uint8

const (
	nowhere place = iota
	inBody        // the name of an argument or block
	inLabel       // a label of a block
	inValue       // an expression
	inText        // a text between quotes, of an argument
	inKey         // the key of an object
)

// header is how a block begins: step "patch" "ops".
type header struct {
	name   string
	labels []string
}

// cursor is what is being written at a place. It is found by tokens alone, of what stands before it, as the text
// mostly does not parse there.
type cursor struct {
	place    place
	path     []header // blocks that it is in, the outermost first
	argument string   // of a value, text or key
	label    int      // which, from 0; path ends with the block
	parts    []string // of a reference, before the last dot: ["step", "patch"]
	prefix   string   // what of the word is there
	start    int      // where the word begins
}

// frame is an open bracket, block or quote.
type frame struct {
	place place // inBody, inValue (brackets and interpolations), inText, inKey (objects)
	head  header
	item  []hclsyntax.Token // since the line or element began
	text  []byte            // of a quote, from start
	start int
	plain bool // of a quote: nothing is interpolated
	here  bool // heredoc
}

// index stands for an index in brackets among the tokens of an item.
const index = hclsyntax.TokenOBrack

// cursorAt finds what is written at the offset.
func cursorAt(text []byte, offset int) cursor {
	text = text[:min(max(offset, 0), len(text))]
	begin := hcl.Pos{Byte: blockStart(text), Line: 1, Column: 1}
	if len(text)-begin.Byte > lang.MaxSource {
		return cursor{}
	}
	stack := []*frame{{place: inBody}}
	for try := 0; ; try++ {
		tokens, _ := hclsyntax.LexConfig(text[begin.Byte:], "", begin) // however broken, there are tokens
		i := slices.IndexFunc(tokens, func(t hclsyntax.Token) bool { return t.Type == hclsyntax.TokenQuotedNewline })
		if i < 0 || try == maxUnclosed {
			i = len(tokens)
		}
		for _, t := range tokens[:i] {
			stack = take(stack, t)
		}
		if i == len(tokens) {
			if i > 1 && tokens[i-2].Type == hclsyntax.TokenComment && !bytes.HasSuffix(tokens[i-2].Bytes, []byte("\n")) {
				return cursor{}
			}
			return read(stack, len(text))
		}
		for stack[len(stack)-1].place != inBody { // a quote that was never closed, and what it stands in
			stack = stack[:len(stack)-1]
		}
		stack[len(stack)-1].item = nil
		begin = tokens[i].Range.End
	}
}

// maxUnclosed is how many quotes of a block may not be closed until what follows is taken for a part of the last.
const maxUnclosed = 20

// blockStart is where the last line begins that looks like the header of a block that is in no other: whatever stands
// before it is left alone, as it may not be closed.
func blockStart(text []byte) int {
	for end := len(text); ; {
		start := bytes.LastIndexByte(text[:end], '\n') + 1
		line := text[start:]
		name := line[:len(line)-len(bytes.TrimLeft(line, "abcdefghijklmnopqrstuvwxyz"))]
		if after := line[len(name):]; len(name) > 0 && len(after) > 0 && (after[0] == ' ' || after[0] == '{') {
			if _, ok := blockNamed(string(name[:min(len(name), 20)])); ok {
				return start
			}
		}
		if start == 0 {
			return 0
		}
		end = start - 1
	}
}

// take takes a token.
func take(stack []*frame, t hclsyntax.Token) []*frame {
	top := stack[len(stack)-1]
	pop := func() {
		if len(stack) > 1 {
			stack = stack[:len(stack)-1]
			top = stack[len(stack)-1]
		}
	}
	switch t.Type {
	case hclsyntax.TokenOBrace:
		if top.place == inBody && !has(top.item, hclsyntax.TokenEqual) {
			return append(stack, &frame{place: inBody, head: headerOf(top.item)})
		}
		return append(stack, &frame{place: inKey})
	case hclsyntax.TokenOBrack, hclsyntax.TokenOParen:
		return append(stack, &frame{place: inValue})
	case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
		top.plain = false
		return append(stack, &frame{place: inValue})
	case hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
		return append(stack, &frame{place: inText, start: t.Range.End.Byte, plain: true, here: t.Type == hclsyntax.TokenOHeredoc})
	case hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
		if top.place == inText {
			whole := t
			whole.Type, whole.Bytes = hclsyntax.TokenQuotedLit, top.text
			pop()
			top.item = append(top.item, whole)
		}
	case hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit:
		top.text = append(top.text, t.Bytes...)
	case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd:
		if len(stack) > 1 && top.place != inText {
			pop()
			t.Type = index
			if top.place != inText {
				top.item = append(top.item, t)
			}
		}
	case hclsyntax.TokenNewline, hclsyntax.TokenComment:
		if bytes.HasSuffix(t.Bytes, []byte("\n")) && (top.place == inBody || top.place == inKey) {
			top.item = nil
		}
	case hclsyntax.TokenComma:
		top.item = nil
	case hclsyntax.TokenEOF:
	default:
		top.item = append(top.item, t)
	}
	return stack
}

func has(item []hclsyntax.Token, types ...hclsyntax.TokenType) bool {
	return slices.ContainsFunc(item, func(t hclsyntax.Token) bool { return slices.Contains(types, t.Type) })
}

func headerOf(item []hclsyntax.Token) (h header) {
	for i, t := range item {
		switch {
		case i == 0:
			h.name = string(t.Bytes)
		case t.Type == hclsyntax.TokenQuotedLit, t.Type == hclsyntax.TokenIdent:
			h.labels = append(h.labels, string(t.Bytes))
		}
	}
	return h
}

// read tells what is written where the frames end.
func read(stack []*frame, end int) cursor {
	top := stack[len(stack)-1]
	c := cursor{start: end}
	for _, f := range stack {
		if f.place == inBody && f.head.name != "" {
			c.path = append(c.path, f.head)
		}
		if f.place == inBody && has(f.item, hclsyntax.TokenEqual) {
			c.argument = string(f.item[0].Bytes)
		}
	}
	switch {
	case top.place == inText && len(stack) > 1:
		if top.here || !top.plain {
			return cursor{}
		}
		c.place, c.prefix, c.start = inText, string(top.text), top.start
		if below := stack[len(stack)-2]; below.place == inBody && c.argument == "" && len(below.item) > 0 {
			head := headerOf(below.item)
			c.place, c.label, c.path = inLabel, len(head.labels), append(c.path, head)
		}
		if c.place == inText && c.argument == "" {
			return cursor{}
		}
		return c
	case top.place == inBody && !has(top.item, hclsyntax.TokenEqual):
		c.place = inBody
		return c.word(top.item, end)
	case top.place == inKey && !has(top.item, hclsyntax.TokenEqual, hclsyntax.TokenColon):
		c.place = inKey
		if len(top.item) > 0 && string(top.item[0].Bytes) == "for" {
			c.place = inValue
		}
	default:
		c.place = inValue
	}
	if c.place == inKey {
		return c.word(top.item, end)
	}
	return c.reference(top.item, end)
}

// word takes the word of which an item consists so far; behind it nothing is completed.
func (c cursor) word(item []hclsyntax.Token, end int) cursor {
	switch {
	case len(item) == 0:
	case len(item) == 1 && item[0].Type == hclsyntax.TokenIdent && item[0].Range.End.Byte == end:
		c.prefix, c.start = string(item[0].Bytes), item[0].Range.Start.Byte
	default:
		c.place = nowhere
	}
	return c
}

// reference takes the names with dots between them that an item ends with.
func (c cursor) reference(item []hclsyntax.Token, end int) cursor {
	if n := len(item); n > 0 && item[n-1].Type == hclsyntax.TokenIdent && item[n-1].Range.End.Byte == end {
		c.prefix, c.start = string(item[n-1].Bytes), item[n-1].Range.Start.Byte
		item = item[:n-1]
	}
	for n := len(item); n > 0 && item[n-1].Type == hclsyntax.TokenDot; n = len(item) {
		item = item[:n-1]
		for len(item) > 0 && item[len(item)-1].Type == index {
			item = item[:len(item)-1]
		}
		if len(item) == 0 || item[len(item)-1].Type != hclsyntax.TokenIdent {
			c.place = nowhere
			return c
		}
		c.parts = append(c.parts, string(item[len(item)-1].Bytes))
		item = item[:len(item)-1]
	}
	slices.Reverse(c.parts)
	return c
}
