package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

const (
	minLine = 8 // bytes of a line of a value that is looked for by itself: "{" is in every JSON
	minForm = 6 // bytes of a value that is spelt otherwise
)

// forms are the ways in which a value is looked for: itself, its lines, and as programs spell texts in URLs, JSON,
// shells, base64 and hex.
func forms(value string) []string {
	var all []string
	add := func(least int, form string) {
		if len(form) >= least && !slices.Contains(all, form) {
			all = append(all, form)
		}
	}
	add(MinLength, value)
	value = strings.TrimSpace(value) // as files are read
	if len(value) < MinLength {
		return all
	}
	add(MinLength, value)
	if lines := strings.Split(value, "\n"); len(lines) > 1 {
		for _, l := range lines {
			add(minLine, strings.TrimSpace(l))
		}
	}
	add(minForm, url.QueryEscape(value))
	add(minForm, url.PathEscape(value))
	add(minForm, strings.ReplaceAll(value, "'", `'\''`))
	if b, err := json.Marshal(value); err == nil {
		add(minForm, string(b[1:len(b)-1]))
	}
	var plain bytes.Buffer // without \u0026 for &
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	if enc.Encode(value) == nil {
		quoted := strings.TrimSuffix(plain.String(), "\n")
		add(minForm, quoted[1:len(quoted)-1])
	}
	add(minForm, hex.EncodeToString([]byte(value)))
	for before := range 3 { // bytes that are encoded with it, as in "user:password"
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := e.EncodeToString(append(make([]byte, before), value...))
			text = text[(8*before+5)/6:] // the rest does not overlap the text before
			if (before+len(value))*8%6 != 0 {
				text = text[:len(text)-1] // nor the text after
			}
			add(minForm, text)
		}
	}
	return all
}

// Hider removes secret values from a stream, including values that are split between two writes. A nil Hider removes
// nothing.
type Hider struct {
	set     *Set
	held    []byte // what a value may begin in that is not there in full
	covered int    // bytes of held that belong to a value for which Hidden stands already
}

// Hider returns a Hider for a new stream. It removes the values of s.
func (s *Set) Hider() *Hider {
	if s == nil || len(s.forms) == 0 {
		return nil
	}
	return &Hider{set: s}
}

// Next adds the bytes p to the stream. It returns the bytes that the caller can now show, and holds back bytes that may
// begin a secret value.
func (h *Hider) Next(p []byte) []byte {
	if h == nil {
		return p
	}
	h.held = append(h.held, p...)
	return h.take(len(h.held) - h.set.longest + 1)
}

// End returns the bytes that the Hider has held back.
func (h *Hider) End() []byte {
	if h == nil {
		return nil
	}
	return h.take(len(h.held))
}

// span is a part of the held text that belongs to a value.
type span struct{ from, to int }

// take returns the text before end. A value that begins there also ends there.
func (h *Hider) take(end int) []byte {
	if end <= 0 {
		return nil
	}
	var spans []span
	for _, f := range h.set.forms {
		for at := 0; ; at++ {
			i := bytes.Index(h.held[at:], f)
			if i < 0 {
				break
			}
			at += i
			spans = append(spans, span{at, at + len(f)})
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	var out []byte
	at := h.covered
	for _, s := range spans {
		if s.from >= end {
			break
		}
		if s.from >= at { // else it goes on from the one before
			out = append(append(out, h.held[at:s.from]...), Hidden...)
		}
		at = max(at, s.to)
	}
	if at < end {
		out, at = append(out, h.held[at:end]...), end
	}
	h.covered = at - end
	h.held = append(h.held[:0], h.held[end:]...)
	return out
}

// Redact replaces the secret values in the text.
func (s *Set) Redact(text string) string {
	h := s.Hider()
	if h == nil {
		return text
	}
	return string(h.Next([]byte(text))) + string(h.End())
}

// in returns the reference to a value that b contains, or "".
func (s *Set) in(b []byte) (ref string) {
	for _, f := range s.forms {
		if bytes.Contains(b, f) {
			return s.refs[string(f)]
		}
	}
	return ""
}
