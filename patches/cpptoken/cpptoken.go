// Package cpptoken cuts C++ source text into tokens, so that an edit can tell a name in code from the same letters in a
// comment or a string.
//
// The tokens tile the source: every byte belongs to exactly one token, and the tokens' texts in order are the source again.
// Line splices (a backslash before a line end) are followed everywhere except in raw strings, as a compiler does.
//
// It does not know the grammar, types, macros' expansions or conditional compilation: code under #if 0 is code. It does not
// know digraphs, trigraphs and universal character names (\u00e9), which op sources do not have.
package cpptoken

import (
	"bytes"
	"fmt"
)

// Kind says what a token is.
type Kind uint8

// The kinds of tokens. A Directive's own tokens have their usual kinds, with Token.Directive set.
const (
	Space      Kind = iota // blanks and line splices between tokens
	Newline                // one line end that is not spliced away
	Comment                // a // or /* */ comment, without the line end that ends it
	Identifier             // a name or keyword
	Number                 // a preprocessing number, with digit separators and suffixes
	String                 // a string literal with its prefix and suffix
	RawString              // a raw string literal with its prefix and suffix
	Char                   // a character literal with its prefix and suffix
	HeaderName             // <...> or "..." after #include
	Punct                  // one punctuation mark; -> and :: and ## are one mark each
)

// Token is a part of a source.
type Token struct {
	Kind       Kind
	Directive  bool   // inside a preprocessor line
	Start, End int    // byte offsets into the source
	Line, Col  int    // where Start is; both count from 1, columns in bytes
	Name       string // of an Identifier or Punct: the spelling without line splices
}

// Error says that a source cannot be cut into tokens, because something is left open at its end.
type Error struct {
	Line, Col int    // where what is open begins
	What      string // such as "comment"
}

func (e *Error) Error() string {
	return fmt.Sprintf("%d:%d: %s is never closed", e.Line, e.Col, e.What)
}

// Scan cuts src into tokens. A comment or raw string left open is an *Error; the tokens before it are returned with it.
// A string or character literal left open ends at its line's end, as in text under #error.
func Scan(src []byte) ([]Token, error) {
	s := scanner{src: src, line: 1, tokens: make([]Token, 0, min(len(src)/3+8, 1<<16))}
	if bytes.HasPrefix(src, []byte(byteOrderMark)) { // else it would be the first letter of the first name
		s.emit(Space, len(byteOrderMark), "")
	}
	for s.pos < len(src) {
		if err := s.next(); err != nil {
			return s.tokens, err
		}
	}
	return s.tokens, nil
}

const byteOrderMark = "\xef\xbb\xbf"

type scanner struct {
	src       []byte
	pos       int
	line      int
	lineStart int
	tokens    []Token

	directive bool   // in a preprocessor line
	text      bool   // something other than blanks and comments was seen in this line
	name      string // the directive's name, once seen
	header    bool   // a header name may come next
}

// splice returns the length of the line splice at p: a backslash, blanks (which compilers forgive) and a line end.
func (s *scanner) splice(p int) int {
	if p >= len(s.src) || s.src[p] != '\\' {
		return 0
	}
	q := p + 1
	for q < len(s.src) && (s.src[q] == ' ' || s.src[q] == '\t' || s.src[q] == '\v' || s.src[q] == '\f') {
		q++
	}
	switch {
	case q < len(s.src) && s.src[q] == '\n':
		return q + 1 - p
	case q+1 < len(s.src) && s.src[q] == '\r' && s.src[q+1] == '\n':
		return q + 2 - p
	}
	return 0
}

// at returns the byte at p after any splices there, and the offset after it; 0 at the end of the source.
func (s *scanner) at(p int) (byte, int) {
	for n := s.splice(p); n > 0; n = s.splice(p) {
		p += n
	}
	if p >= len(s.src) {
		return 0, p
	}
	return s.src[p], p + 1
}

// emit appends the token from s.pos to end and moves on.
func (s *scanner) emit(kind Kind, end int, name string) {
	s.tokens = append(s.tokens, Token{
		Kind: kind, Directive: s.directive, Start: s.pos, End: end,
		Line: s.line, Col: s.pos - s.lineStart + 1, Name: name,
	})
	for i := s.pos; i < end; i++ {
		if s.src[i] == '\n' {
			s.line++
			s.lineStart = i + 1
		}
	}
	s.pos = end
}

func (s *scanner) errorf(what string) error {
	return &Error{Line: s.line, Col: s.pos - s.lineStart + 1, What: what}
}

func (s *scanner) next() error {
	if s.splice(s.pos) > 0 || blank(s.src[s.pos]) {
		s.space()
		return nil
	}
	c, p := s.at(s.pos)
	switch {
	case c == '\n':
		s.directive, s.text, s.name, s.header = false, false, "", false
		s.emit(Newline, p, "")
		return nil
	case c == '/':
		if d, q := s.at(p); d == '/' {
			s.emit(Comment, s.lineEnd(q), "")
			return nil
		} else if d == '*' {
			return s.blockComment(q)
		}
	}
	if !s.text {
		s.text = true
		s.directive = c == '#'
	}
	header := s.header
	s.header = false
	switch {
	case header && c == '<':
		if end, ok := s.until(p, '>'); ok {
			s.emit(HeaderName, end, "")
			return nil
		}
	case header && c == '"':
		if end, ok := s.until(p, '"'); ok {
			s.emit(HeaderName, end, "")
			return nil
		}
	}
	switch {
	case c == '"' || c == '\'':
		s.literal(c, p)
		return nil
	case digit(c) || c == '.' && s.peek(p, digit):
		s.number(p)
		return nil
	case letter(c):
		return s.identifier()
	}
	s.punct(c, p)
	return nil
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' }
func digit(c byte) bool { return '0' <= c && c <= '9' }
func letter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$' || c >= 0x80
}

func (s *scanner) peek(p int, want func(byte) bool) bool {
	c, q := s.at(p)
	return q > p && q <= len(s.src) && want(c)
}

func (s *scanner) peekIs(p int, want byte) bool {
	return s.peek(p, func(c byte) bool { return c == want })
}

// space takes blanks and splices.
func (s *scanner) space() {
	end := s.pos
	for end < len(s.src) {
		if n := s.splice(end); n > 0 {
			end += n
		} else if blank(s.src[end]) {
			end++
		} else {
			break
		}
	}
	s.emit(Space, end, "")
}

// lineEnd returns the offset of the line end after p that no splice removes.
func (s *scanner) lineEnd(p int) int {
	for p < len(s.src) {
		if n := s.splice(p); n > 0 {
			p += n
			continue
		}
		if s.src[p] == '\n' {
			if s.src[p-1] == '\r' {
				return p - 1
			}
			return p
		}
		p++
	}
	return p
}

func (s *scanner) blockComment(p int) error {
	for p < len(s.src) {
		c, q := s.at(p)
		if c == '*' && s.peekIs(q, '/') {
			_, end := s.at(q)
			s.emit(Comment, end, "")
			return nil
		}
		p = q
	}
	return s.errorf("comment")
}

// until returns the offset after the next close in this line.
func (s *scanner) until(p int, close byte) (int, bool) {
	for p < len(s.src) {
		c, q := s.at(p)
		if c == '\n' {
			return 0, false
		}
		if c == close {
			return q, true
		}
		p = q
	}
	return 0, false
}

// punct takes a punctuation mark. Only the marks that a reader of tokens asks for are put together.
func (s *scanner) punct(c byte, p int) {
	if d, q := s.at(p); q > p && q <= len(s.src) {
		switch pair := string([]byte{c, d}); pair {
		case "->", "::", "##":
			s.emit(Punct, q, pair)
			return
		}
	}
	s.emit(Punct, p, string([]byte{c}))
}
