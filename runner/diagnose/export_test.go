package diagnose

import "regexp"

// Matches tells whether the pattern matches the line, found without any short cut.
func Matches(pattern, line string) bool {
	return line != "" && regexp.MustCompile(pattern).MatchString(line)
}
