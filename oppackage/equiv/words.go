package equiv

import (
	"path"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

var (
	shellWord = lazyregexp.New(`(?s)(?:[^\s'"\\]|\\.|'[^']*'|"(?:\\.|[^"\\])*")+`)
	quoted    = lazyregexp.New(`(?s)\\.|'[^']*'|"(?:\\.|[^"\\])*"`)
	escaped   = lazyregexp.New("\\\\([\"\\\\$`])")
)

// Words splits a command line at blanks, quotes and backslashes, as a shell does. It expands nothing. The result ok is
// false if a quote is not closed.
func Words(line string) (words []string, ok bool) {
	for _, w := range shellWord.Get().FindAllString(line, -1) {
		words = append(words, quoted.Get().ReplaceAllStringFunc(w, func(part string) string {
			switch part[0] {
			case '\\':
				return part[1:]
			case '\'':
				return part[1 : len(part)-1]
			}
			return escaped.ReplaceAllString(part[1:len(part)-1], "$1")
		}))
	}
	return words, strings.Trim(shellWord.ReplaceAllString(line, ""), " \t\r\n\\") == ""
}

// parse takes a compiler's command line apart. It returns the source or "link", and the words that can differ, each with
// its group in front; "" if the line is not a compiler's.
func parse(words []string) (line string, all map[string]bool) {
	if len(words) < 3 || !strings.Contains(path.Base(words[0]), "clang") {
		return "", nil
	}
	all = map[string]bool{"compiler " + words[0]: true}
	compiles, output := slices.Contains(words, "-c"), ""
	if !compiles {
		line = "link"
	}
	for i := 1; i < len(words); i++ {
		w := words[i]
		name, value := w, ""
		for _, option := range []string{"-o", "-MF", "-I", "-D", "-L", "-l", "-isystem", "-U"} { // the value may be the next word
			if strings.HasPrefix(w, option) && (option != "-l" || !compiles) && (option != "-o" || w == "-o") {
				name, value = option, w[len(option):]
				if value == "" && i+1 < len(words) {
					i++
					value = words[i]
				}
				break
			}
		}
		switch {
		case name == "-o":
			output = value
		case w == "-c":
		case name == "-MF":
			all["-MF"] = true
		case name == "-D":
			all["-D"+value] = true
		case name == "-I" || name == "-isystem":
			all["-I"+path.Clean(value)] = true
		case name == "-L":
			all["input -L"+path.Clean(value)] = true
		case name == "-l" || strings.HasSuffix(w, "whole-archive"):
			all["input "+strings.TrimSpace(name+value)] = true
		case strings.HasPrefix(w, "-"):
			all[w] = true
		case compiles:
			line = path.Clean(w)
		default:
			all["input "+path.Clean(w)] = true
		}
	}
	if output == "" {
		return "", nil
	}
	return line, all
}
