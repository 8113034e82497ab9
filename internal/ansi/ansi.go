// Package ansi handles terminal control sequences in text, such as colors, cursor movements, titles and links. Strip
// removes the sequences, and Visible makes them readable. The package writes no sequences, and does not know which
// sequences a terminal supports.
package ansi

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

const esc = 0x1b

// Strip returns the text without control sequences: ESC [ … letter, ESC ] … BEL, ESC ] … ESC \, and ESC with one
// character. A sequence ends at the end of the line at the latest. If a sequence is incomplete, Strip removes only the
// beginning of the sequence.
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

// StripBytes is Strip for bytes. It returns b itself if b has no sequences.
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

// Visible returns the text with control characters escaped, such as \x1b, so that untrusted text cannot move the cursor
// or hide other text. It keeps newlines and tabs. If colors is true, it also keeps the sequences for color and weight.
func Visible(s string, colors bool) string {
	if !strings.ContainsFunc(s, controls) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == esc && colors && color(s[i:]) > 0:
			n = color(s[i:])
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

// controls reports whether a character controls a terminal: the characters below the space, the C1 set, and those that
// change the direction of writing. A terminal may take invalid bytes as control characters.
func controls(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError:
		return true
	}
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// color is the length of the sequence that a text begins with, if it only chooses colors, weight or underlining,
// else 0.
func color(s string) int {
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
