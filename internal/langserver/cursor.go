package langserver

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/hexmage/hexmage/internal/lang"
)

// place is the role of a word in a text.
type place uint8

const (
	nowhere place = iota
	inBody        // the name of an argument or block
	inLabel       // a label of a block
	inValue       // an expression
	inText        // a quoted string as the value of an argument
	inKey         // the key of an object
)

// Regular expressions for a name, and for one part of a reference with the dot that follows.
const (
	name = `[\pL_][\pL\pN_-]*`
	part = name + `(?:\[[^\]]*\])*\.`
)

// cursor describes the word before an offset. It comes from tokens alone, since the text around a cursor often does
// not parse.
type cursor struct {
	place    place
	parent   string   // name of the block around block
	block    []string // name and labels of the block around the word; "" for the file
	argument string   // the argument of a value, string or key
	parts    []string // of a reference, before its last dot: ["step", "patch"]
	start    int      // of the word
	end      int      // of the word, which may be after the offset
	siblings []string // arguments of the body
}

// frame is an open bracket, block or quote.
type frame struct {
	place     place    // inBody, inValue (brackets and interpolations), inText, inKey (objects)
	words     []string // names and labels since the start of the line or element
	value     bool     // "=" or ":" follows the words
	start     int      // of a string
	arguments []string // of a body
}

// cursorAt returns the cursor at an offset.
func cursorAt(text []byte, offset int) cursor {
	from := blockStart(text[:offset])
	if len(text)-from > lang.MaxSource {
		return cursor{}
	}
	tokens, _ := hclsyntax.LexConfig(text[from:], "", hcl.Pos{Byte: from, Line: 1, Column: 1})
	stack := []*frame{{place: inBody}}
	n := 0
	for ; n < len(tokens)-1; n++ {
		t, end := tokens[n], tokens[n].Range.End.Byte
		isWord := t.Type == hclsyntax.TokenIdent || t.Type == hclsyntax.TokenComment && text[end-1] != '\n'
		if end > offset || end == offset && isWord {
			break
		}
		stack = push(stack, t, text)
	}
	c := read(stack, text[:offset])
	switch t := tokens[n]; {
	case t.Type == hclsyntax.TokenComment && t.Range.Start.Byte < offset:
		return cursor{}
	case t.Type == hclsyntax.TokenIdent || t.Type == hclsyntax.TokenQuotedLit:
		c.end = t.Range.End.Byte
	}
	if c.place == inBody { // the rest of the body has arguments, too
		body, depth := stack[len(stack)-1], len(stack)
		for ; n < len(tokens) && len(stack) >= depth; n++ {
			stack = push(stack, tokens[n], text)
		}
		c.siblings = body.arguments
	}
	return c
}

// blockStart returns the start of the last line that looks like the header of a top-level block. The text before it
// may have unclosed brackets.
func blockStart(text []byte) int {
	top := language()["{"]
	for end := len(text); ; {
		start := bytes.LastIndexByte(text[:end], '\n') + 1
		name := text[start : start+max(0, bytes.IndexAny(text[start:end], " {"))]
		if start == 0 || slices.ContainsFunc(top, func(w Word) bool { return w.Name == string(name) }) {
			return start
		}
		end = start - 1
	}
}

// push adds a token to the innermost frame, and opens or closes frames.
func push(stack []*frame, t hclsyntax.Token, text []byte) []*frame {
	top := stack[len(stack)-1]
	switch t.Type {
	case hclsyntax.TokenOBrace:
		if top.place == inBody && !top.value && len(top.words) > 0 {
			return append(stack, &frame{place: inBody})
		}
		return append(stack, &frame{place: inKey})
	case hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
		return append(stack, &frame{place: inValue})
	case hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
		return append(stack, &frame{place: inText, start: t.Range.End.Byte})
	case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd,
		hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
		if len(stack) == 1 {
			break
		}
		stack = stack[:len(stack)-1]
		below := stack[len(stack)-1]
		switch {
		case top.place == inBody:
			below.words = nil
		case top.place == inText && !below.value:
			below.words = append(below.words, string(text[top.start:t.Range.Start.Byte]))
		}
	case hclsyntax.TokenIdent:
		if !top.value {
			top.words = append(top.words, string(t.Bytes))
		}
	case hclsyntax.TokenEqual, hclsyntax.TokenColon:
		if !top.value && len(top.words) == 1 {
			top.arguments = append(top.arguments, top.words[0])
		}
		top.value = true
	case hclsyntax.TokenNewline, hclsyntax.TokenComment, hclsyntax.TokenComma:
		if (top.place == inBody || top.place == inKey) && t.Bytes[len(t.Bytes)-1] != '/' {
			top.words, top.value = nil, false
		}
	}
	return stack
}

// read returns the cursor at the end of a text, inside the frames.
func read(stack []*frame, text []byte) (c cursor) {
	top := stack[len(stack)-1]
	c.block = []string{""}
	for i, f := range stack {
		if i > 0 && f.place == inBody {
			c.parent, c.block = c.block[0], stack[i-1].words
		}
		if f.place == inBody && f.value && len(f.words) > 0 {
			c.argument = f.words[0]
		}
	}
	c.end = len(text)
	if top.place == inText {
		c.start = top.start
		below := stack[len(stack)-2]
		switch {
		case bytes.ContainsAny(text[top.start:], "$%\n"): // interpolation, or a heredoc
		case c.argument != "":
			c.place = inText
		case below.place == inBody && len(below.words) == 1: // the first label
			c.place, c.block = inLabel, below.words
		}
		return c
	}
	end := regexp.MustCompile(`((?:` + part + `)*)((?:` + name + `)?)$`)
	m := end.FindSubmatch(text[bytes.LastIndexByte(text, '\n')+1:])
	c.start = len(text) - len(m[2])
	switch isName := (top.place == inBody || top.place == inKey) && !top.value; {
	case isName && len(top.words) == 0:
		c.place = top.place
	case !isName || slices.Contains(top.words, "in"): // for x in
		c.place = inValue
		for _, p := range regexp.MustCompile(part).FindAll(m[1], -1) {
			c.parts = append(c.parts, string(p[:bytes.IndexAny(p, "[.")]))
		}
	}
	return c
}
