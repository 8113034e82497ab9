package diagnose

import (
	"bytes"
	"regexp"
)

// Matches reports whether the pattern matches the line, without the search for literals.
func Matches(pattern, line string) bool {
	return line != "" && regexp.MustCompile(pattern).MatchString(line)
}

// TextWithin is Text with another work limit, in bytes.
func (c *Catalog) TextWithin(b []byte, work int) *Report {
	r, _ := c.read(bytes.NewReader(b), work)
	return r
}
