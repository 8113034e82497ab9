package diagnose

import (
	"bytes"
	"regexp"
)

// Matches tells whether the pattern matches the line, found without any short cut.
func Matches(pattern, line string) bool {
	return line != "" && regexp.MustCompile(pattern).MatchString(line)
}

// TextWithin is Text with less work allowed, in bytes.
func (c *Catalogue) TextWithin(b []byte, work int) *Report {
	r, _ := c.read(bytes.NewReader(b), work)
	return r
}
