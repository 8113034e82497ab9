package rename

import (
	"bytes"
	"fmt"

	"github.com/hexmage/hexmage/patches/cpptoken"
)

// Source is a file's text, which is scanned into tokens at most once for all rules.
type Source struct {
	File string // slash path
	Text []byte

	code    []cpptoken.Token
	err     error
	scanned bool
	spliced *bool
}

// Code returns the tokens without blanks, line ends and comments.
func (s *Source) Code() ([]cpptoken.Token, error) {
	if !s.scanned {
		tokens, err := cpptoken.Scan(s.Text)
		if err != nil {
			s.err = fmt.Errorf("%s:%w", s.File, err)
		}
		s.code, s.scanned = Significant(tokens), true
	}
	return s.code, s.err
}

// MayHave tells whether one of the names can be among the tokens, without scanning.
func (s *Source) MayHave(names ...string) bool {
	for _, n := range names {
		if bytes.Contains(s.Text, []byte(n)) {
			return true
		}
	}
	if s.spliced == nil { // a line splice may be inside a name
		found := splice.Get().Match(s.Text)
		s.spliced = &found
	}
	return *s.spliced
}
