package cli

import (
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

// What controls a terminal is written out, wherever the text is cut into pieces; colors stay.
func TestOutput(t *testing.T) {
	const text = "ä\x1b[31mred\x1b[0m \x1b]0;title\a\x1b[2J\x9b2J\r\nover\rwritten \u202eback 語"
	const want = "ä\x1b[31mred\x1b[0m \\x1b]0;title\\x07\\x1b[2J\\x9b2J\nover\\x0dwritten \\u202eback 語"
	for at := range len(text) {
		for _, data := range []bool{false, true} {
			var got strings.Builder
			o := newOutput(&got)
			want := want
			if data {
				isData(o)
				want = text
			}
			for _, piece := range []string{text[:at], text[at:]} {
				if n, err := io.WriteString(o, piece); n != len(piece) || err != nil {
					t.Fatal(n, err)
				}
			}
			if err := o.end(); err != nil || got.String() != want {
				t.Errorf("cut at %d: %q, %v", at, got.String(), err)
			}
		}
	}
	for _, end := range []string{"\x1b", "\x1b[1", "\r", "語"[:2]} {
		var got strings.Builder
		o := newOutput(&got)
		if _, err := io.WriteString(o, "x"+end); err != nil || o.end() != nil ||
			!strings.HasPrefix(got.String(), `x\x`) || !utf8.ValidString(got.String()) {
			t.Errorf("ended by %q: %q, %v", end, got.String(), err)
		}
	}
	// On a terminal data are no exception.
	var got strings.Builder
	o := newOutput(&got)
	o.terminal = true
	isData(o)
	if _, err := io.WriteString(o, "\x1b[2J."); err != nil || got.String() != `\x1b[2J.` {
		t.Errorf("%q, %v", got.String(), err)
	}
}

type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }

// What could not be written is remembered, also when it is the last character.
func TestOutputFull(t *testing.T) {
	for _, text := range []string{"x", "\r"} {
		o := newOutput(full{})
		_, _ = io.WriteString(o, text)
		if err := o.end(); !errors.Is(err, errFull) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
