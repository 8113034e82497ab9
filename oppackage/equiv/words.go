// Package equiv compares what makefiles of op packages would run with the lines that hexmage's own actions run.
//
// It asks the real make, by a dry run, in front of SDK folders that are empty but for what makefiles look for; so it needs
// no SDK. It knows compilers' command lines, and a table of differences that are meant, each with its reason. It does not
// know whether what the lines make works.
package equiv

import (
	"fmt"
	"strings"
)

// Words cuts a line of a recipe into words as a shell does: blanks, quotes and backslashes. What a shell would compute
// (variables, commands, files) stays as it is written.
func Words(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	open := false // a word has begun, which may be an empty one
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ', '\t', '\n', '\r':
			if open {
				words = append(words, word.String())
			}
			word.Reset()
			open = false
		case '\'':
			end := strings.IndexByte(line[i+1:], '\'')
			if end < 0 {
				return nil, fmt.Errorf("no closing ' in %.200q", line)
			}
			word.WriteString(line[i+1 : i+1+end])
			i += end + 1
			open = true
		case '"':
			closed := false
			for i++; i < len(line) && !closed; i++ {
				switch {
				case line[i] == '"':
					closed = true
					i--
				case line[i] == '\\' && i+1 < len(line) && strings.IndexByte("\"\\$`", line[i+1]) >= 0:
					i++
					word.WriteByte(line[i])
				default:
					word.WriteByte(line[i])
				}
			}
			if !closed {
				return nil, fmt.Errorf("no closing \" in %.200q", line)
			}
			open = true
		case '\\':
			if i+1 < len(line) {
				i++
				word.WriteByte(line[i])
				open = true
			}
		default:
			word.WriteByte(c)
			open = true
		}
	}
	if open {
		words = append(words, word.String())
	}
	return words, nil
}
