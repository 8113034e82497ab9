// Package lazyregexp compiles each regular expression when it is first used, so that the program starts faster. The
// first use of an invalid pattern panics; a test in package archtest compiles all patterns. The package does not know
// the purpose of a pattern.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression from New. The zero value is invalid.
type Regexp struct{ get func() *regexp.Regexp }

// New returns a Regexp for a pattern. The first use compiles the pattern.
func New(pattern string) *Regexp {
	return &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })}
}

// Get returns the compiled regular expression.
func (r *Regexp) Get() *regexp.Regexp { return r.get() }

// MatchString is like regexp.Regexp.MatchString.
func (r *Regexp) MatchString(s string) bool { return r.get().MatchString(s) }

// FindString is like regexp.Regexp.FindString.
func (r *Regexp) FindString(s string) string { return r.get().FindString(s) }

// FindStringSubmatch is like regexp.Regexp.FindStringSubmatch.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.get().FindStringSubmatch(s) }

// ReplaceAllString is like regexp.Regexp.ReplaceAllString.
func (r *Regexp) ReplaceAllString(s, to string) string { return r.get().ReplaceAllString(s, to) }
