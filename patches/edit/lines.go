package edit

import (
	"fmt"
	"strings"

	"github.com/hexmage/hexmage/patches/cpptoken"
	"github.com/hexmage/hexmage/patches/rename"
)

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
