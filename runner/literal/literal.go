// Package literal finds texts that every match of a regular expression contains. So a fast text search can skip lines
// before the expression is tried.
//
// Of returns the texts, and Lower prepares lines for the search. The package does not know the use of the expressions.
package literal

import (
	"regexp/syntax"
	"strings"
)

// Of returns lower-case substrings: every line that matches the pattern contains at least one of them. It returns nil
// if it finds none. The substrings are a cheap first test.
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
			if r > 127 { // its case may fold to a letter that Lower does not know
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

// shortest returns the length of the shortest text, or 0 for an empty list.
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
