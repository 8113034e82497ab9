// Package literal finds what every match of a regular expression has in it, so that a plain search can come before the expression.
//
// One enters it with Of, and puts lines into lower case with Lower. It does not know what the expressions are for.
package literal

import (
	"regexp/syntax"
	"strings"
)

// Of returns texts, in lower case, of which every line that matches the pattern has at least one; nil if there are none.
// Searching for them first is what makes thousands of lines against a hundred patterns cheap.
func Of(pattern string) []string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	return of(re)
}

func of(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if r > 127 { // its case may fold to something that lower does not know
				return nil
			}
		}
		return []string{strings.ToLower(string(re.Rune))}
	case syntax.OpCapture, syntax.OpPlus:
		return of(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return of(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, s := range re.Sub {
			if l := of(s); shortest(l) > shortest(best) {
				best = l
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, s := range re.Sub {
			l := of(s)
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

// Lower appends the line to buf, with ASCII letters in lower case.
func Lower(buf, line []byte) []byte {
	for _, c := range line {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		buf = append(buf, c)
	}
	return buf
}
