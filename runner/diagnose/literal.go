package diagnose

import (
	"regexp/syntax"
	"strings"
)

// required returns texts, in lower case, of which every line that matches the pattern has at least one; nil if there are none.
// Searching for them first is what makes thousands of lines against a hundred patterns cheap.
func required(pattern string) []string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	return literals(re)
}

func literals(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if r > 127 { // its case may fold to something that lower does not know
				return nil
			}
		}
		return []string{strings.ToLower(string(re.Rune))}
	case syntax.OpCapture, syntax.OpPlus:
		return literals(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return literals(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, s := range re.Sub {
			if l := literals(s); shortest(l) > shortest(best) {
				best = l
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, s := range re.Sub {
			l := literals(s)
			if len(l) == 0 {
				return nil
			}
			all = append(all, l...)
		}
		return all
	}
	return nil
}

// shortest is the length of the shortest text, 0 if there is none.
func shortest(list []string) int {
	n := 0
	for i, s := range list {
		if i == 0 || len(s) < n {
			n = len(s)
		}
	}
	return n
}

// lower appends the line to buf, with ASCII letters in lower case.
func lower(buf, line []byte) []byte {
	for _, c := range line {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		buf = append(buf, c)
	}
	return buf
}

// finder finds which of many words a line has, in one pass over it.
type finder struct {
	byHash [1 << 12][]word
}

// word is a text of at least minLiteral bytes, and whose it is.
type word struct {
	text  string
	owner int
}

func (f *finder) add(text string, owner int) {
	h := hash(text[0], text[1], text[2])
	f.byHash[h] = append(f.byHash[h], word{text, owner})
}

// owners appends those of the words in low, each as often as it is found.
func (f *finder) owners(to []int, low []byte) []int {
	for i := 0; i+minLiteral <= len(low); i++ {
		for _, w := range f.byHash[hash(low[i], low[i+1], low[i+2])] {
			if len(low)-i >= len(w.text) && string(low[i:i+len(w.text)]) == w.text {
				to = append(to, w.owner)
			}
		}
	}
	return to
}

func hash(a, b, c byte) uint32 {
	return (uint32(a)*0x9e37 ^ uint32(b)*0x85eb ^ uint32(c)*0xc2b1) >> 4 & (1<<12 - 1)
}
