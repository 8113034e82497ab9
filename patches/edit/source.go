package edit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/patches/cpptoken"
	"github.com/hexmage/hexmage/patches/rename"
)

// source is a file cut into tokens.
type source struct {
	file   string
	src    []byte
	tokens []cpptoken.Token
	code   []cpptoken.Token // without blanks and comments
	lines  []directive
}

// directive is one preprocessor line.
type directive struct {
	name  string           // such as "include"; "" of a line with # alone
	rest  []cpptoken.Token // its code behind the name
	start int              // offset of its #
	end   int              // offset behind its line end
	depth int              // how many #if it is in; #if and #endif count as outside of themselves
	line  int
}

func open(file string, src []byte) (*source, error) {
	tokens, err := cpptoken.Scan(src)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", file, err)
	}
	s := &source{file: file, src: src, tokens: tokens, code: rename.Significant(tokens)}
	depth := 0
	for i := 0; i < len(tokens); i++ {
		if !tokens[i].Directive {
			continue
		}
		from := i
		for i < len(tokens) && tokens[i].Kind != cpptoken.Newline {
			i++
		}
		d := directive{start: tokens[from].Start, end: len(src), line: tokens[from].Line, rest: rename.Significant(tokens[from+1 : i])}
		if i < len(tokens) {
			d.end = tokens[i].End
		}
		if len(d.rest) > 0 && d.rest[0].Kind == cpptoken.Identifier {
			d.name, d.rest = d.rest[0].Name, d.rest[1:]
		}
		if d.name == "endif" {
			depth = max(0, depth-1)
		}
		d.depth = depth
		if strings.HasPrefix(d.name, "if") {
			depth++
		}
		s.lines = append(s.lines, d)
	}
	return s, nil
}

// uses says where one of the names is in code.
func (s *source) uses(names []string) (cpptoken.Token, bool) {
	for _, k := range s.code {
		if k.Kind == cpptoken.Identifier && slices.Contains(names, k.Name) {
			return k, true
		}
	}
	return cpptoken.Token{}, false
}

func (s *source) place(line int) rename.Place { return rename.Place{File: s.file, Line: line, Col: 1} }

// eol returns the line end that the file uses.
func (s *source) eol() string {
	if i := bytes.IndexByte(s.src, '\n'); i > 0 && s.src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineStart returns the offset of the beginning of the line that at is in.
func (s *source) lineStart(at int) int { return bytes.LastIndexByte(s.src[:at], '\n') + 1 }

// lineAfter returns the offset of the line after the one that at is in.
func (s *source) lineAfter(at int) int {
	if i := bytes.IndexByte(s.src[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(s.src)
}

// lineNumber returns the number of the line that at is in.
func (s *source) lineNumber(at int) int { return bytes.Count(s.src[:at], []byte("\n")) + 1 }

// change is text that takes the place of src[start:end].
type change struct {
	start, end int
	text       string
}

// insert returns lines as a change before the line that begins at.
func (s *source) insert(at int, lines ...string) change {
	text := strings.Join(lines, s.eol()) + s.eol()
	if at > 0 && s.src[at-1] != '\n' { // the last line has no end
		text = s.eol() + text
	}
	return change{at, at, text}
}

// with returns the source with changes, which are in order and apart.
func (s *source) with(changes []change) []byte {
	if len(changes) == 0 {
		return s.src
	}
	var out []byte
	at := 0
	for _, c := range changes {
		out = append(out, s.src[at:c.start]...)
		out = append(out, c.text...)
		at = c.end
	}
	return append(out, s.src[at:]...)
}

// includes are the #include lines.
func (s *source) includes() (out []directive) {
	for _, d := range s.lines {
		if d.name == "include" {
			out = append(out, d)
		}
	}
	return out
}

// top returns the offset of the line at which declarations may begin: behind the comment at the top, #pragma once and an
// include guard's two lines.
func (s *source) top() int {
	if len(s.code) == 0 {
		return len(s.src)
	}
	at := s.lineStart(s.code[0].Start)
	lines := s.lines
	if len(lines) == 0 || lines[0].start != s.code[0].Start {
		return at
	}
	if lines[0].name == "pragma" && len(lines[0].rest) > 0 && lines[0].rest[0].Name == "once" {
		return lines[0].end
	}
	if len(lines) > 1 && lines[0].name == "ifndef" && lines[1].name == "define" && len(lines[0].rest) == 1 && len(lines[1].rest) == 1 &&
		lines[0].rest[0].Name == lines[1].rest[0].Name {
		return lines[1].end
	}
	return at
}
