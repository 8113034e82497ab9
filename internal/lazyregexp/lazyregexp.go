// Package lazyregexp has regular expressions that are compiled when they are first used, so that a start of the
// program compiles none. It is what package regexp is otherwise: a pattern that does not compile panics, though not
// before its first use; a test of the architecture compiles them all. It does not know what any expression is for.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression. The zero value is not one: use New.
type Regexp struct{ get func() *regexp.Regexp }

// New returns the expression, not compiled yet.
func New(pattern string) *Regexp {
	return &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })}
}

// Get returns the compiled expression.
func (r *Regexp) Get() *regexp.Regexp { return r.get() }

// MatchString is regexp.MatchString.
func (r *Regexp) MatchString(s string) bool { return r.get().MatchString(s) }

// FindString is regexp.FindString.
func (r *Regexp) FindString(s string) string { return r.get().FindString(s) }

// FindStringSubmatch is regexp.FindStringSubmatch.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.get().FindStringSubmatch(s) }

// ReplaceAllString is regexp.ReplaceAllString.
func (r *Regexp) ReplaceAllString(s, to string) string { return r.get().ReplaceAllString(s, to) }
