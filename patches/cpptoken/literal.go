package cpptoken

import (
	"bytes"
	"strings"
)

// literal takes a string or character literal whose opening quote ends at p; the token may have begun with a prefix.
func (s *scanner) literal(quote byte, p int) {
	kind := String
	if quote == '\'' {
		kind = Char
	}
	for p < len(s.src) {
		c, q := s.at(p)
		switch {
		case c == '\n':
			s.emit(kind, q-1, "")
			return
		case c == quote:
			s.emit(kind, s.suffix(q), "")
			return
		case c == '\\':
			if d, r := s.at(q); d != '\n' {
				q = r
			}
		}
		p = q
	}
	s.emit(kind, len(s.src), "")
}

// suffix takes a literal's suffix, if there is one at p.
func (s *scanner) suffix(p int) int {
	c, q := s.at(p)
	if !s.nameByte(c, q, true) {
		return p
	}
	_, end := s.word(p)
	return end
}

// number takes a preprocessing number.
func (s *scanner) number(p int) {
	for p < len(s.src) {
		c, q := s.at(p)
		switch {
		case c == 'e' || c == 'E' || c == 'p' || c == 'P':
			if d, r := s.at(q); d == '+' || d == '-' {
				q = r
			}
		case digit(c), c == '.', letter(c):
		case c == '\'' && s.peek(q, func(d byte) bool { return digit(d) || letter(d) }):
		default:
			s.emit(Number, p, "")
			return
		}
		p = q
	}
	s.emit(Number, len(s.src), "")
}

// nameByte says whether c, read up to p, continues a name or (first) begins one; \u1234 counts as a letter.
func (s *scanner) nameByte(c byte, p int, first bool) bool {
	if letter(c) || !first && digit(c) {
		return true
	}
	return c == '\\' && s.ucn(p) > 0
}

// ucn returns the offset after a universal character name whose backslash ends at p, or 0.
func (s *scanner) ucn(p int) int {
	c, p := s.at(p)
	n := 0
	switch c {
	case 'u':
		n = 4
	case 'U':
		n = 8
	default:
		return 0
	}
	for range n {
		c, q := s.at(p)
		if !digit(c) && !('a' <= c|0x20 && c|0x20 <= 'f') {
			return 0
		}
		p = q
	}
	return p
}

// word returns the name at p without its splices, and the offset after it.
func (s *scanner) word(p int) (string, int) {
	var b strings.Builder
	for first := true; p < len(s.src); first = false {
		c, q := s.at(p)
		if !s.nameByte(c, q, first) {
			break
		}
		b.WriteByte(c)
		if c == '\\' {
			for end := s.ucn(q); q < end; {
				c, q = s.at(q)
				b.WriteByte(c)
			}
		}
		p = q
	}
	return b.String(), p
}

// identifier takes a name, or the literal whose prefix it turns out to be.
func (s *scanner) identifier() error {
	name, end := s.word(s.pos)
	c, p := s.at(end)
	switch name {
	case "R", "u8R", "uR", "UR", "LR":
		if c == '"' {
			if close, ok := s.rawEnd(p); ok {
				return s.raw(close, p)
			}
		}
	case "u8", "u", "U", "L":
		if c == '"' || c == '\'' {
			s.literal(c, p)
			return nil
		}
	}
	if s.directive {
		if s.name == "" {
			s.name = name
			s.header = name == "include" || name == "include_next" || name == "import"
		} else if name == "__has_include" || name == "__has_include_next" {
			s.name = name
		}
	}
	s.emit(Identifier, end, name)
	return nil
}

// rawEnd reads a raw string's delimiter after the quote at p and returns what closes it.
func (s *scanner) rawEnd(p int) (string, bool) {
	for i := p; i < len(s.src) && i <= p+16; i++ {
		switch c := s.src[i]; {
		case c == '(':
			return ")" + string(s.src[p:i]) + `"`, true
		case c == ')' || c == '\\' || c == '"' || c == '\n' || blank(c):
			return "", false
		}
	}
	return "", false
}

func (s *scanner) raw(close string, p int) error {
	i := bytes.Index(s.src[p:], []byte(close))
	if i < 0 {
		return s.errorf("raw string")
	}
	s.emit(RawString, s.suffix(p+i+len(close)), "")
	return nil
}
