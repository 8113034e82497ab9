package edit

import (
	"slices"
	"strings"

	"github.com/hexmage/hexmage/patches/cpptoken"
	"github.com/hexmage/hexmage/patches/rename"
)

// function is a definition or declaration at a file's outermost level, or in a namespace.
type function struct {
	name       string
	start, end int // its tokens, with return type and template
}

// Rewrite implements Editor.
func (r Guard) Rewrite(file string, src []byte) (rename.Rewritten, error) {
	res := rename.Rewritten{Out: src}
	if !rename.MayHave(src, r.UsedBy...) {
		return res, nil
	}
	s, err := open(file, src)
	if err != nil {
		return res, err
	}
	var changes []change
	for _, f := range r.needed(s) {
		first, last := s.code[f.start], s.code[f.end-1]
		place := rename.Place{File: file, Line: first.Line, Col: first.Col}
		switch {
		case s.guarded(first.Start, r.Macro):
			res.Already = append(res.Already, place)
		case s.depthAt(first.Start) != s.depthAt(last.End):
			// An #if begins inside and ends outside: there is no place for another around it.
		default:
			res.Changed = append(res.Changed, place)
			begin, end := s.lineStart(first.Start), s.lineAfter(last.End-1)
			if f.start > 0 && s.code[f.start-1].End > begin || f.end < len(s.code) && s.code[f.end].Start < end {
				nl := s.eol()
				changes = append(changes, change{first.Start, first.Start, nl + "#ifndef " + r.Macro + nl},
					change{last.End, last.End, nl + "#endif // " + r.Macro + nl})
				continue
			}
			changes = append(changes, s.insert(begin, "#ifndef "+r.Macro), s.insert(end, "#endif // "+r.Macro))
		}
	}
	res.Out = s.with(changes)
	return res, nil
}

// guarded says whether an #ifndef of the macro is around an offset.
func (s *source) guarded(at int, macro string) bool {
	var around []bool
	for _, d := range s.lines {
		if d.start > at {
			break
		}
		switch n := len(around); {
		case strings.HasPrefix(d.name, "if"):
			own := d.name == "ifndef" && len(d.rest) > 0 && d.rest[0].Name == macro ||
				d.name == "if" && len(d.rest) > 2 && d.rest[0].Name == "!" && d.rest[1].Name == "defined" && slices.ContainsFunc(d.rest, func(k cpptoken.Token) bool { return k.Name == macro })
			around = append(around, own)
		case strings.HasPrefix(d.name, "el") && n > 0:
			around[n-1] = false
		case d.name == "endif" && n > 0:
			around = around[:n-1]
		}
	}
	return slices.Contains(around, true)
}

// depthAt returns how many #if are around an offset.
func (s *source) depthAt(at int) (depth int) {
	for _, d := range s.lines {
		if d.start > at {
			break
		}
		switch {
		case strings.HasPrefix(d.name, "if"):
			depth++
		case d.name == "endif":
			depth--
		}
	}
	return depth
}

// needed returns the functions that are used in arguments of the macros, or by such functions, and nowhere else.
func (r Guard) needed(s *source) []function {
	all := s.functions()
	macro := make([]bool, len(s.code)) // tokens in arguments of the macros
	for i, k := range s.code {
		if k.Kind == cpptoken.Identifier && slices.Contains(r.UsedBy, k.Name) && i+1 < len(s.code) && s.code[i+1].Name == "(" {
			end := closing(s.code, i+1)
			for j := i + 1; j < end; j++ {
				macro[j] = true
			}
		}
	}
	at := make([]int, len(s.code)) // the function that a token is in, counted from 1
	uses := map[string][]int{}
	names := map[string]bool{}
	for n, f := range all {
		names[f.name] = true
		for i := f.start; i < f.end; i++ {
			at[i] = n + 1
		}
	}
	for i, k := range s.code {
		if k.Kind == cpptoken.Identifier && names[k.Name] {
			uses[k.Name] = append(uses[k.Name], i)
		}
	}
	in := func(name string, i int, kept map[string]bool) bool { // whether token i is in another function of these
		return at[i] > 0 && all[at[i]-1].name != name && kept[all[at[i]-1].name]
	}
	keep := names
	for n := -1; n != len(keep); {
		n = len(keep)
		for again := true; again; { // those stay whose uses are all in the macros, in themselves, or in what stays
			again = false
			for name := range keep {
				if slices.ContainsFunc(uses[name], func(i int) bool {
					return !macro[i] && !in(name, i, keep) && (at[i] == 0 || all[at[i]-1].name != name)
				}) {
					delete(keep, name)
					again = true
				}
			}
		}
		reached := map[string]bool{} // of these only what a macro leads to: others are just unused
		for again := true; again; {
			again = false
			for name := range keep {
				if !reached[name] && slices.ContainsFunc(uses[name], func(i int) bool { return macro[i] || in(name, i, reached) }) {
					reached[name] = true
					again = true
				}
			}
		}
		keep = reached
	}
	return slices.DeleteFunc(all, func(f function) bool { return !keep[f.name] })
}

// closing returns the index behind the bracket that closes the one at i.
func closing(code []cpptoken.Token, i int) int {
	depth := 0
	for ; i < len(code); i++ {
		if code[i].Kind != cpptoken.Punct {
			continue
		}
		switch code[i].Name {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(code)
}

// functions finds the functions of the outermost level and of namespaces.
func (s *source) functions() []function {
	var out []function
	start := 0
	for i := 0; i < len(s.code); {
		k := s.code[i]
		switch {
		case k.Directive:
			i++
			start = i
		case k.Kind == cpptoken.Punct && k.Name == "(":
			i = closing(s.code, i)
		case k.Kind == cpptoken.Punct && (k.Name == ";" || k.Name == "}"):
			if f, ok := s.function(start, i, k.Name == "}"); ok && k.Name == ";" {
				f.end = i + 1
				out = append(out, f)
			}
			i++
			start = i
		case k.Kind == cpptoken.Punct && k.Name == "{":
			if namespace(s.code[start:i]) {
				i++
				start = i
				continue
			}
			f, ok := s.function(start, i, true)
			i = closing(s.code, i)
			if ok {
				f.end = i
				out = append(out, f)
				start = i
			}
		default:
			i++
		}
	}
	return out
}

func namespace(head []cpptoken.Token) bool {
	for i, k := range head {
		if k.Name == "namespace" || k.Name == "extern" && i+2 == len(head) && head[i+1].Kind == cpptoken.String {
			return true
		}
	}
	return false
}

// function reads the head code[start:end] of a function, before its { or ;.
func (s *source) function(start, end int, body bool) (function, bool) {
	// Behind the parameters there may be const, noexcept or -> type.
	open, shut := -1, end
	for shut > start && open < 0 {
		if k := s.code[shut-1]; k.Kind == cpptoken.Punct && k.Name == ")" {
			open = opening(s.code, shut-1, start)
			if open < start { // it closes what was never opened
				return function{}, false
			}
			if open > start && s.code[open-1].Name == "noexcept" {
				shut, open = open-1, -1
			}
			continue
		} else if k.Kind == cpptoken.Punct && (k.Name == "=" || k.Name == ";" || k.Name == "}") {
			return function{}, false
		}
		shut--
	}
	if open <= start || s.code[open-1].Kind != cpptoken.Identifier {
		return function{}, false
	}
	f := function{name: s.code[open-1].Name, start: open - 1}
	// The return type and template reach back to the statement before, which may be a macro's call without semicolon.
	for f.start > start {
		k := s.code[f.start-1]
		if k.Kind == cpptoken.Punct && k.Name == ")" {
			from := opening(s.code, f.start-1, start)
			if from > start {
				switch s.code[from-1].Name {
				case "__attribute__", "decltype", "alignas", "explicit", "requires", "__declspec":
					f.start = from - 1
					continue
				}
			}
			break
		}
		if k.Kind == cpptoken.Punct && (k.Name == "{" || k.Name == "=" || k.Name == "," || k.Name == "}") && !body {
			return function{}, false
		}
		f.start--
	}
	return f, f.start < open-1 // without a type it is a macro's call
}

// opening returns the index of the bracket that the one at i closes, or least-1.
func opening(code []cpptoken.Token, i, least int) int {
	depth := 0
	for ; i >= least; i-- {
		if code[i].Kind != cpptoken.Punct {
			continue
		}
		switch code[i].Name {
		case ")", "]", "}":
			depth++
		case "(", "[", "{":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return least - 1
}
