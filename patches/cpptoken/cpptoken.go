// Package cpptoken splits C++ source text into tokens. So an edit can tell a name in code from the same letters in a
// comment or a string. Only blanks, line ends and comments separate two tokens.
//
// It does not know the grammar, types, macro expansion or conditional compilation: code under #if 0 is code. It does
// not support digraphs, trigraphs and universal character names (\u00e9), which op sources do not use.
package cpptoken

import (
	"bytes"
	"fmt"
	"github.com/hexmage/hexmage/internal/lazyregexp"
	"strings"
)

// Kind is the kind of a token.
type Kind uint8

// Kinds of tokens.
const (
	Name    Kind = iota // identifier or keyword
	Mark                // punctuation mark, including -> and ::
	Literal             // number, string, character or <header>, with prefix and suffix
)

// Token is a part of a source's code.
type Token struct {
	Kind       Kind
	Text       string // without line splices
	Start, End int    // byte offsets into the source
	Directive  int    // number of the token's preprocessor line, from 1; 0 in other code
}

// Position returns the line and column of an offset, both counted from 1. Columns are in bytes.
func Position(src []byte, offset int) (line, col int) {
	before := src[:offset]
	return bytes.Count(before, []byte("\n")) + 1, offset - bytes.LastIndexByte(before, '\n')
}

// splice matches a line splice. Compilers allow blanks after the backslash.
var splice = lazyregexp.New(`\\[ \t\v\f]*\r?\n`)

const byteOrderMark = "\xef\xbb\xbf"

// scanner reads the text of a source without its line splices.
type scanner struct {
	text      string
	pos       int
	splices   [][]int // [start, end] of the splices after pos, in the source
	removed   int     // bytes of the splices before pos
	tokens    []Token
	lines     int // preprocessor lines so far
	directive int // number of the preprocessor line at pos, or 0
}

// Scan returns the tokens of src. An unclosed comment or raw string is an error. An unclosed string or character
// literal ends with its line, because #error lines may contain a quote.
func Scan(src []byte) ([]Token, error) {
	s := scanner{text: string(src), splices: splice.Get().FindAllIndex(src, -1)}
	if len(s.splices) > 0 {
		s.text = string(splice.Get().ReplaceAll(src, nil))
	}
	if strings.HasPrefix(s.text, byteOrderMark) { // otherwise it would belong to the first name
		s.pos = len(byteOrderMark)
	}
	lineBegins := true
	for s.pos < len(s.text) {
		rest := s.text[s.pos:]
		switch c := rest[0]; {
		case c == '\n':
			lineBegins, s.directive = true, 0
			s.pos++
		case strings.IndexByte(" \t\r\v\f", c) >= 0:
			s.pos++
		case strings.HasPrefix(rest, "//"):
			s.pos += lineLength(rest)
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				return nil, s.leftOpen(src, "comment")
			}
			s.pos += n + 4
		default:
			if lineBegins && c == '#' {
				s.lines++
				s.directive = s.lines
			}
			lineBegins = false
			kind, n := s.next(rest)
			if n < 0 {
				return nil, s.leftOpen(src, "raw string")
			}
			start := s.offset()
			s.pos += n
			s.tokens = append(s.tokens, Token{kind, rest[:n], start, s.end(), s.directive})
		}
	}
	return s.tokens, nil
}

// offset returns the offset of pos in the source, after any splices at pos.
func (s *scanner) offset() int {
	for len(s.splices) > 0 && s.splices[0][0] <= s.pos+s.removed {
		s.removed += s.splices[0][1] - s.splices[0][0]
		s.splices = s.splices[1:]
	}
	return s.pos + s.removed
}

// end returns the end of the token before pos in the source, before any splices there.
func (s *scanner) end() int {
	s.pos--
	end := s.offset() + 1
	s.pos++
	return end
}

func (s *scanner) leftOpen(src []byte, what string) error {
	line, col := Position(src, s.offset())
	return fmt.Errorf("%d:%d: %s is never closed", line, col, what)
}

// next returns the kind and length of the first token in rest. The length is -1 for an unclosed token.
func (s *scanner) next(rest string) (Kind, int) {
	c := rest[0]
	switch {
	case digit(c) || c == '.' && len(rest) > 1 && digit(rest[1]):
		return Literal, numberLength(rest)
	case c == '"' || c == '\'':
		return Literal, literalLength(rest, 0)
	case c == '<' && s.afterInclude():
		if n := strings.IndexByte(rest[:lineLength(rest)], '>'); n > 0 {
			return Literal, n + 1
		}
	case letter(c):
		n := wordLength(rest)
		if n == len(rest) || rest[n] != '"' && rest[n] != '\'' {
			return Name, n
		}
		switch prefix := rest[:n]; prefix {
		case "R", "u8R", "uR", "UR", "LR":
			if m := rawString.FindStringSubmatch(rest[n:]); m != nil {
				closing := ")" + m[1] + `"`
				end := strings.Index(rest[n:], closing)
				if end < 0 {
					return Literal, -1
				}
				end += n + len(closing)
				return Literal, end + wordLength(rest[end:])
			}
		case "u8", "u", "U", "L":
			return Literal, literalLength(rest, n)
		}
		return Name, n
	}
	if strings.HasPrefix(rest, "->") || strings.HasPrefix(rest, "::") {
		return Mark, 2
	}
	return Mark, 1
}

var rawString = lazyregexp.New(`^"([^()\\" \t\r\n\v\f]{0,16})\(`)

// afterInclude reports whether a header's name comes next.
func (s *scanner) afterInclude() bool {
	n := len(s.tokens)
	return s.directive > 0 && n > 1 && s.tokens[n-1].Directive == s.directive && s.tokens[n-2].Text == "#" &&
		strings.HasPrefix(s.tokens[n-1].Text, "include")
}

func digit(c byte) bool { return '0' <= c && c <= '9' }
func letter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$' || c >= 0x80
}

// lineLength returns the length of the text's first line.
func lineLength(text string) int {
	if n := strings.IndexByte(text, '\n'); n >= 0 {
		return n
	}
	return len(text)
}

// wordLength returns the length of the name at the start of a text, or 0.
func wordLength(text string) int {
	n := 0
	for n < len(text) && (letter(text[n]) || n > 0 && digit(text[n])) {
		n++
	}
	return n
}

// numberLength returns the length of a preprocessing number, with digit separators and suffixes.
func numberLength(text string) int {
	part := func(i int) bool { return i < len(text) && (digit(text[i]) || letter(text[i])) }
	n := 1
	for n < len(text) {
		switch c := text[n]; {
		case part(n), c == '.', c == '\'' && part(n+1):
		case (c == '+' || c == '-') && strings.IndexByte("eEpP", text[n-1]) >= 0:
		default:
			return n
		}
		n++
	}
	return n
}

// literalLength returns the length of a string or character literal with its opening quote at index quote.
func literalLength(text string, quote int) int {
	for n := quote + 1; n < len(text); n++ {
		switch text[n] {
		case '\n':
			return n
		case '\\':
			if n+1 < len(text) && text[n+1] != '\n' {
				n++
			}
		case text[quote]:
			return n + 1 + wordLength(text[n+1:])
		}
	}
	return len(text)
}
