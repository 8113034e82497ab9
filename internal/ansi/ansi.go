// Package ansi takes the control sequences of terminals out of texts: colours, movements of the cursor, titles, links. One enters it with
// Strip. It does not know which of them a terminal understands, and writes none.
package ansi

import (
	"bytes"
	"strings"
)

const esc = 0x1b

// Strip returns the text without sequences: ESC [ … letter, ESC ] … BEL or ESC \, and ESC with one character. None goes on in the next line;
// of one that does not end, only its beginning is taken out.
func Strip(s string) string {
	if strings.IndexByte(s, esc) < 0 {
		return s
	}
	var b strings.Builder
	for {
		text, rest, found := strings.Cut(s, string(rune(esc)))
		b.WriteString(text)
		if !found {
			return b.String()
		}
		s = rest[sequence(rest):]
	}
}

// StripBytes is Strip of bytes, which are the same where there is nothing to take out.
func StripBytes(b []byte) []byte {
	if bytes.IndexByte(b, esc) < 0 {
		return b
	}
	return []byte(Strip(string(b)))
}

// sequence is the length of what follows an ESC and belongs to it.
func sequence(s string) int {
	if s == "" || s[0] == '\n' || s[0] == esc {
		return 0
	}
	switch s[0] {
	case '[':
		for i := 1; i < len(s); i++ {
			if s[i] >= '@' && s[i] <= '~' {
				return i + 1
			}
			if s[i] < ' ' || s[i] > '~' {
				break
			}
		}
	case ']':
		if i := strings.IndexAny(s, "\a\x1b\n"); i >= 0 && s[i] == '\a' {
			return i + 1
		} else if i >= 0 && s[i] == esc {
			return i // its other half goes next
		}
	}
	return 1
}
