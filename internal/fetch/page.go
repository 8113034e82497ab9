package fetch

import (
	"fmt"
	"html"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hexmage/hexmage/internal/archive"
	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// notArchive returns an error unless the first bytes of a file may be an archive's.
func notArchive(head []byte) error {
	if archive.Begins(head) {
		return nil
	}
	if kind := pageKind(head); kind != "" {
		return fmt.Errorf("%w: %s%s", ErrNotFile, kind, quoted(message(head)))
	}
	if len(head) == 0 {
		return fmt.Errorf("%w: the file is empty", ErrNotFile)
	}
	return fmt.Errorf("%w: the file is not an archive%s", ErrNotFile, quoted(message(head)))
}

// pageKind names the kind of page or message that a text is, "" if it looks like none.
func pageKind(head []byte) string {
	text := strings.ToLower(strings.TrimSpace(strings.TrimPrefix(string(head[:min(len(head), 1024)]), "\ufeff")))
	switch {
	case strings.HasPrefix(text, "<!doctype html"), strings.HasPrefix(text, "<html"),
		strings.Contains(text, "<head>"), strings.Contains(text, "<title>"):
		return "an HTML page"
	case strings.HasPrefix(text, "<?xml"), strings.HasPrefix(text, "<error"):
		return "an XML message"
	case strings.HasPrefix(text, "{") && strings.Contains(text, `"`), strings.HasPrefix(text, `[{"`):
		return "a JSON message"
	}
	return ""
}

const maxMessage = 200 // characters of a server's message in an error

// message returns the text of a page or a refusal on one line, without markup and control characters.
func message(b []byte) string { return clean(markupMessage(string(b))) }

// Regular expressions that approximate an HTML parser. A mistake only makes a hint harder to read.
var (
	silentRE = lazyregexp.New(`(?is)<(script|style|svg)\b.*?(</(script|style|svg)\s*>|$)|<!--.*?(-->|$)`)
	tagRE    = lazyregexp.New(`(?s)<[^<>]*(>|$)`)
)

func markupMessage(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	return html.UnescapeString(tagRE.ReplaceAllString(silentRE.ReplaceAllString(text, " "), " "))
}

// clean returns a server's text as one short line.
func clean(text string) string {
	var b strings.Builder
	n, space := 0, false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r) || r == 0 || unicode.IsControl(r):
			space = true
			continue
		case r == utf8.RuneError || !unicode.IsPrint(r):
			r = '.'
		}
		if n >= maxMessage {
			b.WriteRune('…')
			break
		}
		if space && n > 0 {
			b.WriteByte(' ')
			n++
		}
		space = false
		b.WriteRune(r)
		n++
	}
	return b.String()
}

func quoted(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf(" (text: %q)", text)
}

// snippet returns the message of a refusal, or "".
func snippet(r io.Reader) string {
	b, _ := io.ReadAll(io.LimitReader(r, 64<<10))
	if text := message(b); text != "" {
		return fmt.Sprintf(" (message: %q)", text)
	}
	return ""
}
