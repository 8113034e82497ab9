// Package equiv compares what makefiles of op packages would run with the lines that hexmage's own actions run.
//
// It asks the real make, by a dry run, in front of SDK folders that are empty but for what makefiles look for; so it needs
// no SDK. It knows compilers' command lines, and a table of differences that are meant, each with its reason. It does not
// know whether what the lines make works.
package equiv

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Words cuts a line of a recipe into words as a shell does: blanks, quotes and backslashes. What a shell would compute
// (variables, commands, files) stays as it is written.
func Words(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	open := false // a word has begun, which may be an empty one
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ', '\t', '\n', '\r':
			if open {
				words = append(words, word.String())
			}
			word.Reset()
			open = false
		case '\'':
			end := strings.IndexByte(line[i+1:], '\'')
			if end < 0 {
				return nil, fmt.Errorf("no closing ' in %.200q", line)
			}
			word.WriteString(line[i+1 : i+1+end])
			i += end + 1
			open = true
		case '"':
			closed := false
			for i++; i < len(line) && !closed; i++ {
				switch {
				case line[i] == '"':
					closed = true
					i--
				case line[i] == '\\' && i+1 < len(line) && strings.IndexByte("\"\\$`", line[i+1]) >= 0:
					i++
					word.WriteByte(line[i])
				default:
					word.WriteByte(line[i])
				}
			}
			if !closed {
				return nil, fmt.Errorf("no closing \" in %.200q", line)
			}
			open = true
		case '\\':
			if i+1 < len(line) {
				i++
				word.WriteByte(line[i])
				open = true
			}
		default:
			word.WriteByte(c)
			open = true
		}
	}
	if open {
		words = append(words, word.String())
	}
	return words, nil
}

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
