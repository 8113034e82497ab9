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

// Rewrite implements Editor: the line comes behind the last #include of those that the fewest #if are around.
func (r Include) Rewrite(file string, src []byte) (rename.Rewritten, error) {
	res := rename.Rewritten{Out: src}
	if !rename.MayHave(src, append([]string{r.path()}, r.Uses...)...) {
		return res, nil
	}
	s, err := open(file, src)
	if err != nil {
		return res, err
	}
	includes := s.includes()
	for _, d := range includes {
		if len(d.rest) > 0 && d.rest[0].Kind == cpptoken.HeaderName && strings.Trim(string(src[d.rest[0].Start:d.rest[0].End]), `"<>`) == r.path() {
			res.Already = append(res.Already, s.place(d.line))
			return res, nil
		}
	}
	if _, used := s.uses(r.Uses); !used {
		return res, nil
	}
	at := s.top()
	for i, d := range includes {
		if i == 0 || d.depth <= includes[0].depth {
			includes[0].depth = d.depth
			at = d.end
		}
	}
	res.Changed = append(res.Changed, s.place(s.lineNumber(at)))
	res.Out = s.with([]change{s.insert(at, "#include "+r.line())})
	return res, nil
}

// Rewrite implements Editor.
func (r Define) Rewrite(file string, src []byte) (rename.Rewritten, error) {
	res := rename.Rewritten{Out: src}
	if !rename.MayHave(src, append([]string{r.Macro}, r.Uses...)...) {
		return res, nil
	}
	s, err := open(file, src)
	if err != nil {
		return res, err
	}
	for _, d := range s.lines {
		if d.name == "define" && len(d.rest) > 0 && d.rest[0].Name == r.Macro {
			res.Already = append(res.Already, s.place(d.line))
			return res, nil
		}
	}
	if _, used := s.uses(r.Uses); !used {
		return res, nil
	}
	at := s.top()
	if includes := s.includes(); len(includes) > 0 {
		at = s.lineStart(includes[0].start)
	}
	define := strings.TrimRight("#define "+r.Macro+" "+r.Value, " ")
	res.Changed = append(res.Changed, s.place(s.lineNumber(at)))
	res.Out = s.with([]change{s.insert(at, "#ifndef "+r.Macro, define, "#endif")})
	return res, nil
}

// Rewrite implements Editor.
func (r Insert) Rewrite(file string, src []byte) (rename.Rewritten, error) {
	res := rename.Rewritten{Out: src}
	own := firstName(r.Text)
	if !rename.MayHave(src, append([]string{own}, r.Uses...)...) {
		return res, nil
	}
	s, err := open(file, src)
	if err != nil {
		return res, err
	}
	if k, used := s.uses([]string{own}); used {
		res.Already = append(res.Already, rename.Place{File: file, Line: k.Line, Col: k.Col})
		return res, nil
	}
	use, used := s.uses(r.Uses)
	if !used {
		return res, nil
	}
	for _, after := range r.After {
		shape, err := parseShape(after)
		if err != nil {
			return res, err
		}
		m := matcher{code: s.code, src: src, shape: shape, steps: new(int)}
		for i, k := range s.code {
			if k.Directive {
				continue
			}
			end, ok := m.at(i)
			if !ok {
				continue
			}
			at := s.lineAfter(s.code[end-1].End - 1)
			if at > 0 && end < len(s.code) && s.code[end].Start < at {
				return res, fmt.Errorf("%s:%d: something stands behind %s in its line; %q would have to come between", file, k.Line, after, r.Text)
			}
			res.Changed = append(res.Changed, s.place(s.lineNumber(at)))
			res.Out = s.with([]change{s.insert(at, r.Text)})
			return res, nil
		}
	}
	return res, fmt.Errorf("%s:%d:%d: %s is used, so %q is needed, but there is no %s after which it could stand", file, use.Line, use.Col, use.Name, r.Text, strings.Join(r.After, " or "))
}

// firstName returns the first name in a text's code.
func firstName(text string) string {
	tokens, err := cpptoken.Scan([]byte(text))
	if err != nil {
		return ""
	}
	for _, k := range tokens {
		if k.Kind == cpptoken.Identifier {
			return k.Name
		}
	}
	return ""
}
