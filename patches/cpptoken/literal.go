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
	if c, _ := s.at(p); !letter(c) {
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

// word returns the name at p without its splices, and the offset after it.
func (s *scanner) word(p int) (string, int) {
	var b strings.Builder
	for p < len(s.src) {
		c, q := s.at(p)
		if !letter(c) && !(digit(c) && b.Len() > 0) {
			break
		}
		b.WriteByte(c)
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
			s.header = name == "include" || name == "include_next"
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
