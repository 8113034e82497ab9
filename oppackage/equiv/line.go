package equiv

import (
	"path"
	"slices"
	"strings"
)

// Line is a compiler's command line taken apart. Of a group the order is kept only where it matters: in Inputs.
type Line struct {
	Compiler string   // argv[0] and the words that choose a target
	Source   string   // "" of a link
	Output   string   // object or library
	Defines  []string // sorted, each once, as the other groups but Inputs
	Includes []string
	Flags    []string
	Inputs   []string // of a link: objects, -L and -l, in their order
}

// Link says whether the line links.
func (l Line) Link() bool { return l.Source == "" }

// spaced are options whose value may be the next word.
func spaced() []string { return []string{"-o", "-MF", "-I", "-D", "-L", "-l", "-isystem", "-U"} }

// parse takes a line apart; ok is false when it is no compiler's.
func parse(words []string) (l Line, ok bool) {
	if len(words) < 3 || !strings.Contains(path.Base(words[0]), "clang") {
		return l, false
	}
	l.Compiler = words[0]
	compiles := slices.Contains(words, "-c")
	for i := 1; i < len(words); i++ {
		w := words[i]
		name, value := w, ""
		for _, s := range spaced() {
			if strings.HasPrefix(w, s) && (s != "-l" || !compiles) && (s != "-o" || w == "-o") {
				name, value = s, w[len(s):]
				if value == "" && i+1 < len(words) {
					i++
					value = words[i]
				}
				break
			}
		}
		switch {
		case name == "-o":
			l.Output = path.Clean(value)
		case w == "-c":
		case name == "-MF":
			l.Flags = append(l.Flags, "-MF")
		case name == "-D":
			l.Defines = append(l.Defines, value)
		case name == "-I" || name == "-isystem":
			l.Includes = append(l.Includes, path.Clean(value))
		case name == "-L":
			l.Inputs = append(l.Inputs, "-L"+path.Clean(value))
		case name == "-l" || strings.HasSuffix(w, "whole-archive"):
			l.Inputs = append(l.Inputs, strings.TrimSpace(name+value))
		case strings.HasPrefix(w, "-"):
			l.Flags = append(l.Flags, w)
		case compiles:
			l.Source = path.Clean(w)
		default:
			l.Inputs = append(l.Inputs, path.Clean(w))
		}
	}
	for _, group := range []*[]string{&l.Defines, &l.Includes, &l.Flags} {
		slices.Sort(*group)
		*group = slices.Compact(*group)
	}
	return l, l.Output != ""
}

// words returns what of the line can differ, each with its group in front.
func (l Line) words() map[string]bool {
	all := map[string]bool{"compiler " + l.Compiler: true}
	for prefix, group := range map[string][]string{"-D": l.Defines, "-I": l.Includes, "": l.Flags, "input ": l.Inputs} {
		for _, w := range group {
			all[prefix+w] = true
		}
	}
	return all
}
