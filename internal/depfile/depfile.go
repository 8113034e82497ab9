// Package depfile parses depfiles, which are lists of the files that a compiler read. A depfile consists of makefile
// rules, as gcc and clang write them with -MD.
//
// The package accepts only the part of make's syntax that compilers use, without variables, patterns and recipes. It
// does not know whether the listed files exist.
package depfile

import (
	"errors"
	"fmt"
	"slices"
)

// Limits of Parse.
const (
	maxNames = 1 << 20
	maxName  = 1 << 16 // bytes
)

// Parse returns the sorted dependencies of all rules, without duplicates. Dependencies are the names after the colon.
// Parse ignores targets. It also ignores rules without dependencies, which compilers add for the option -MP. It
// understands continued lines, comments, rules with several targets, and the escapes \<space>, \#, \:, $$ and \\ before
// \<space>, \# or \:.
func Parse(text []byte) ([]string, error) {
	p := parser{text: text, line: 1}
	for p.at < len(p.text) {
		line := p.line
		if err := p.rule(); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
	slices.Sort(p.names)
	return slices.Compact(p.names), nil
}

type parser struct {
	text  []byte
	at    int
	line  int
	names []string
}

// rule reads a logical line, which is a rule or empty.
func (p *parser) rule() error {
	targets, colon := 0, false
	for {
		name, end, err := p.word(!colon)
		if err != nil {
			return err
		}
		switch {
		case name == "" || colon && name == "|": // separates order-only dependencies
		case colon:
			if len(p.names) == maxNames {
				return fmt.Errorf("the depfile has more than %d names", maxNames)
			}
			p.names = append(p.names, name)
		default:
			targets++
		}
		switch end {
		case ':':
			if targets == 0 {
				return errors.New("missing target in the rule")
			}
			colon = true
		case '\n':
			if targets > 0 && !colon {
				return errors.New("missing colon in the rule; write TARGET: NAME… as gcc -MD does")
			}
			return nil
		}
	}
}

// word reads a name and the byte after it: a space, a line end (also at the end of the text), or ':' where a colon ends
// names.
func (p *parser) word(target bool) (string, byte, error) {
	var name []byte
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case c == '\\':
			if p.escape(&name) {
				return string(name), ' ', nil
			}
			continue
		case c == '$' && p.next(1) == '$':
			p.at++
		case c == '#':
			for p.at < len(p.text) && p.text[p.at] != '\n' {
				p.at++
			}
			continue
		case c == ' ' || c == '\t' || c == '\r':
			p.at++
			return string(name), ' ', nil
		case c == '\n':
			p.at++
			p.line++
			return string(name), '\n', nil
		case c == ':' && target && (isSpace(p.next(1)) || p.next(1) == ':' && isSpace(p.next(2))):
			p.at++
			if p.next(0) == ':' {
				p.at++
			}
			return string(name), ':', nil
		case c == 0:
			return "", 0, errors.New("unexpected zero byte")
		}
		if len(name) == maxName {
			return "", 0, fmt.Errorf("a name has more than %d bytes", maxName)
		}
		name = append(name, c)
		p.at++
	}
	return string(name), '\n', nil
}

// escape reads a run of backslashes and the escaped byte, and tells whether they end the name. Before a space, # or :,
// two backslashes are one, and an odd one escapes the next byte. Before other bytes, backslashes are literal.
func (p *parser) escape(name *[]byte) (ends bool) {
	n := 0
	for p.next(n) == '\\' {
		n++
	}
	p.at += n
	switch c := p.next(0); {
	case n%2 == 1 && (c == '\n' && p.at < len(p.text) || c == '\r' && p.next(1) == '\n' && p.at+1 < len(p.text)):
		for range n - 1 {
			*name = append(*name, '\\')
		}
		p.line++
		if p.at++; c == '\r' {
			p.at++
		}
		return true
	case c == ' ' || c == '\t' || c == '#' || c == ':' && !isSpace(p.next(1)):
		for range n / 2 {
			*name = append(*name, '\\')
		}
		if n%2 == 1 {
			*name = append(*name, c)
			p.at++
		}
	default:
		for range n {
			*name = append(*name, '\\')
		}
	}
	return false
}

// next returns the byte n after the current one, a line end where the text ends.
func (p *parser) next(n int) byte {
	if p.at+n >= len(p.text) {
		return '\n'
	}
	return p.text[p.at+n]
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
