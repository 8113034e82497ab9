// Package ansi takes the control sequences of terminals out of texts: colours, movements of the cursor, titles,
// links. One enters it with Strip, or with Visible, which shows them instead. It does not know which of them a
// terminal understands, and writes none.
package ansi

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

const esc = 0x1b

// Strip returns the text without sequences: ESC [ … letter, ESC ] … BEL or ESC \, and ESC with one character. None
// goes on in the next line; of one that does not end, only its beginning is taken out.
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

// Visible returns the text with what controls a terminal written out, \x1b for an escape character, so that no name,
// file or message can move the cursor, hide what is printed, or turn it around. Line ends and tabs stay, and with
// colours so do the sequences that only choose a colour or weight.
func Visible(s string, colours bool) string {
	if !strings.ContainsFunc(s, controls) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == esc && colours && colour(s[i:]) > 0:
			n = colour(s[i:])
			b.WriteString(s[i : i+n])
		case r == utf8.RuneError && n == 1 || controls(r) && r < 0x80:
			if r == '\r' && strings.HasPrefix(s[i+1:], "\n") {
				break // of a text with such line ends
			}
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case controls(r) && r != utf8.RuneError:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// controls says whether a character does something to a terminal other than to be shown: those below the space, those
// of the second set, and those that turn the direction of writing. Of bytes that are no text, a terminal may take
// some as such.
func controls(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError:
		return true
	}
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// colour is the length of the sequence that a text begins with, if it only chooses colours, weight or underlining,
// else 0.
func colour(s string) int {
	const most = 16 // bytes
	rest, ok := strings.CutPrefix(s, "\x1b[")
	end := strings.IndexByte(rest[:min(len(rest), most)], 'm')
	if !ok || end < 0 {
		return 0
	}
	for code := range strings.SplitSeq(rest[:end], ";") {
		switch {
		case len(code) == 0 || len(code) == 1 && strings.Contains("0124", code):
		case len(code) == 2 && (code[0] == '3' || code[0] == '9') && code[1] >= '0' && code[1] <= '9':
		default:
			return 0 // concealed, blinking, turned around
		}
	}
	return end + len("\x1b[m")
}
