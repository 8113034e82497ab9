package rename

import (
	"slices"

	"github.com/hexmage/hexmage/patches/cpptoken"
)

// classFinder finds out of which class an object is, as far as one file's tokens show it.
type classFinder struct {
	code     []cpptoken.Token // without blanks and comments
	receiver string
	except   []string

	others map[string]bool // classes that this file defines and that are not the receiver nor derived from it; nil: not yet looked
	steps  int             // how many tokens were looked at
}

// maxSteps bounds the work for one file, in tokens: beyond it nothing is decided. An op's source has some 20,000 tokens.
const maxSteps = 50_000_000

// classOf returns the class of the object before the member at i, where the file shows it, and whether that is another class
// than the receiver.
//
// Decided: Receiver::name; x.name, x->name and x[…].name for a variable or parameter x whose declaration is in scope above and
// begins with a class's name; this->name in a class's body or in the definition of its member. It is another class when that
// class is one of except, or is defined in this file and derives from nothing but classes like it.
//
// Not decided, and so taken by the name: objects of a template parameter's type, auto, an alias or a class that another file
// defines (it may derive from the receiver), members of members, results of calls, objects that macros name.
func (f *classFinder) classOf(i int) (class string, other bool) {
	before := f.code[:i-1] // without the mark
	var v string
	array := false
	switch {
	case mark(f.code[:i], 1) == "::":
		return f.receiver, false
	case mark(before, 1) == "]":
		open := f.opening(len(before) - 1)
		if open < 1 {
			return "", false
		}
		before, array = before[:open], true
		v = ident(before, 1)
	default:
		v = ident(before, 1)
	}
	if v == "" || f.steps > maxSteps {
		return "", false
	}
	switch mark(before, 2) {
	case ".", "->", "::":
		return "", false // a member's member
	}
	at := len(before) - 1
	if v == "this" {
		class = f.enclosing(at)
	} else {
		class = f.declared(v, at, array)
	}
	switch {
	case class == "":
		return "", false
	case class == f.receiver:
		return class, false
	case f.isOther(class):
		return class, true
	}
	return "", false
}

// opening returns the index of the bracket that the one at i closes, -1 if there is none.
func (f *classFinder) opening(i int) int {
	depth := 0
	for ; i >= 0; i-- {
		f.steps++
		switch mark(f.code[:i+1], 1) {
		case ")", "]", "}":
			depth++
		case "(", "[", "{":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// declared looks upwards from at for the declaration of v and returns the name its type begins with. Blocks and parentheses
// that are closed above are stepped over, but for the parameters of a function whose body at is in.
func (f *classFinder) declared(v string, at int, array bool) string {
	inHead := false // between a { that encloses at and the end of the statement before it
	for i := at - 1; i >= 0 && f.steps <= maxSteps; i-- {
		f.steps++
		k := f.code[i]
		if k.Kind == cpptoken.Punct {
			switch k.Name {
			case "{":
				inHead = true
			case ";":
				inHead = false
			case "}":
				if i = f.opening(i); i < 0 {
					return ""
				}
				inHead = false
				if mark(f.code[:i], 1) == ")" { // a function's body, or a loop's: its parameters are gone too
					if i = f.opening(i - 1); i < 0 {
						return ""
					}
				}
			case ")":
				if !inHead {
					if i = f.opening(i); i < 0 {
						return ""
					}
				}
			}
			continue
		}
		if k.Kind != cpptoken.Identifier {
			continue
		}
		next := mark(f.code[:min(i+2, len(f.code))], 1)
		if k.Name == "auto" && f.binds(i, v) {
			return ""
		}
		if k.Name != v {
			continue
		}
		if class, declares := f.typeBefore(i, next); declares {
			if array != (next == "[") {
				return "" // an element of a class with [], or a pointer's arithmetic
			}
			return class
		}
	}
	return ""
}

// binds says whether the auto at i begins a structured binding of v.
func (f *classFinder) binds(i int, v string) bool {
	for i++; i < len(f.code) && mark(f.code[:i+1], 1) == "&"; i++ {
	}
	if i >= len(f.code) || mark(f.code[:i+1], 1) != "[" {
		return false
	}
	for ; i < len(f.code) && mark(f.code[:i+1], 1) != "]"; i++ {
		if f.code[i].Name == v {
			return true
		}
	}
	return false
}

// typeBefore says whether the name at i, before the mark next, is being declared, and returns the class that the declaration
// begins with; "" if its form is another. What may be a declaration counts as one, so that no outer one is taken for it.
func (f *classFinder) typeBefore(i int, next string) (class string, declares bool) {
	switch next {
	case ",", ")", ";", "=", "{", "(", ":", "[":
	default:
		return "", false
	}
	switch mark(f.code[:i], 1) {
	case ",":
		return "", next != ")" && next != "("
	case "[":
		return "", next == "="
	case ">", "]":
		return "", true
	}
	for i--; i >= 0; i-- {
		k := f.code[i]
		switch {
		case k.Kind == cpptoken.Punct && (k.Name == "&" || k.Name == "*"):
		case k.Kind == cpptoken.Punct && k.Name == ">":
			return "", true
		case k.Kind != cpptoken.Identifier:
			return "", false
		case k.Name == "const" || k.Name == "volatile" || k.Name == "restrict" || k.Name == "__restrict":
		case k.Name == "auto":
			return "", true
		case notATypesName(k.Name):
			return "", false
		default:
			switch mark(f.code[:i], 1) {
			case ".", "->", "=", "+", "-", "/", "?", "|", "!", "&", "*", "[":
				return "", false // an operand: a = b * name
			}
			return k.Name, true
		}
	}
	return "", false
}

func notATypesName(s string) bool {
	switch s {
	case "return", "else", "case", "goto", "throw", "new", "delete", "do", "operator", "typename", "sizeof", "co_return",
		"co_yield", "co_await", "and", "or", "not", "using", "namespace", "template":
		return true
	}
	return false
}

// enclosing returns the class in whose body, or in whose member's definition, at is.
func (f *classFinder) enclosing(at int) string {
	for i := at - 1; i >= 0 && f.steps <= maxSteps; i-- {
		f.steps++
		switch mark(f.code[:i+1], 1) {
		case "}", ")", "]":
			if i = f.opening(i); i < 0 {
				return ""
			}
		case "{":
			start := i
			for start > 0 {
				if m := mark(f.code[:start], 1); m == ";" || m == "{" || m == "}" {
					break
				}
				start--
			}
			if class := headOf(f.code[start:i]); class != "" {
				return class
			}
		}
	}
	return ""
}

// headOf returns the class that what stands before a { defines, or whose member it defines.
func headOf(head []cpptoken.Token) string {
	for j, k := range head {
		if k.Kind != cpptoken.Identifier {
			continue
		}
		if (k.Name == "class" || k.Name == "struct" || k.Name == "union") && mark(head[:j], 1) != "<" && mark(head[:j], 1) != "," {
			if j+1 < len(head) && head[j+1].Kind == cpptoken.Identifier {
				return head[j+1].Name
			}
			return ""
		}
		if mark(head[:min(j+2, len(head))], 1) == "::" && j+3 < len(head) && head[j+2].Kind == cpptoken.Identifier && mark(head[:j+4], 1) == "(" {
			return k.Name
		}
	}
	return ""
}

// isOther says whether a class has nothing to do with the receiver.
func (f *classFinder) isOther(class string) bool {
	if slices.Contains(f.except, class) {
		return true
	}
	if f.others == nil {
		f.others = f.defined()
	}
	return f.others[class]
}

// defined returns the classes that the file defines and that derive from nothing but each other.
func (f *classFinder) defined() map[string]bool {
	bases := map[string][]string{}
	for i := 0; i+2 < len(f.code); i++ {
		switch f.code[i].Name {
		case "class", "struct", "union":
		default:
			continue
		}
		name := f.code[i+1]
		if f.code[i].Kind != cpptoken.Identifier || name.Kind != cpptoken.Identifier || name.Name == f.receiver {
			continue
		}
		j := i + 2
		if ident(f.code[:j+1], 1) == "final" {
			j++
		}
		if j >= len(f.code) || f.code[j].Kind != cpptoken.Punct || f.code[j].Name != "{" && f.code[j].Name != ":" {
			continue
		}
		own := []string{}
		for ; j < len(f.code) && mark(f.code[:j+1], 1) != "{" && mark(f.code[:j+1], 1) != ";"; j++ {
			switch n := f.code[j].Name; {
			case f.code[j].Kind != cpptoken.Identifier, n == "public", n == "protected", n == "private", n == "virtual":
			default:
				own = append(own, n)
			}
		}
		bases[name.Name] = append(bases[name.Name], own...)
	}
	for again := true; again; {
		again = false
		for class, from := range bases {
			if slices.ContainsFunc(from, func(b string) bool { _, known := bases[b]; return !known }) {
				delete(bases, class)
				again = true
			}
		}
	}
	others := map[string]bool{}
	for class := range bases {
		others[class] = true
	}
	return others
}
