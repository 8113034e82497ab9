package toymodel

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// maxText bounds a text to encode, in bytes.
const maxText = 1 << 16

// Tokenizer is a byte-level BPE, of which only the encoder is here. It is safe for concurrent use.
type Tokenizer struct {
	vocab map[string]int // keys spelt in the byte alphabet
	ranks map[[2]string]int
	added []addedToken
	bytes [256]string
}

type addedToken struct {
	ID      int    `json:"id"`
	Content string `json:"content"`
	Special bool   `json:"special"`
}

// tokenizerFile is what is read of a tokenizer.json.
type tokenizerFile struct {
	Added []addedToken `json:"added_tokens"`
	Model struct {
		Type   string            `json:"type"`
		Vocab  map[string]int    `json:"vocab"`
		Merges []json.RawMessage `json:"merges"`
	} `json:"model"`
}

// ParseTokenizer decodes a tokenizer.json. A byte may lack a token; Encode rejects a text with such a byte.
func ParseTokenizer(raw []byte) (*Tokenizer, error) {
	var f tokenizerFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, err
	}
	if f.Model.Type != "BPE" {
		return nil, fmt.Errorf("model.type is %q; only BPE is known", f.Model.Type)
	}
	if len(f.Model.Vocab) == 0 {
		return nil, errors.New("model.vocab is empty")
	}
	t := &Tokenizer{vocab: f.Model.Vocab, ranks: map[[2]string]int{}, added: f.Added}
	for b, r := range byteAlphabet() {
		t.bytes[b] = string(r)
	}
	for _, a := range t.added {
		if a.Content == "" || a.ID < 0 {
			return nil, fmt.Errorf("added token %d has no content, or its id is negative", a.ID)
		}
	}
	for i, m := range f.Model.Merges {
		pair, err := parseMerge(m)
		if err != nil {
			return nil, fmt.Errorf("model.merges[%d]: %w", i, err)
		}
		if _, dup := t.ranks[pair]; !dup {
			t.ranks[pair] = i
		}
	}
	return t, nil
}

func parseMerge(m json.RawMessage) ([2]string, error) {
	var pair []string
	if err := json.Unmarshal(m, &pair); err == nil {
		if len(pair) != 2 {
			return [2]string{}, fmt.Errorf("%d strings, not 2", len(pair))
		}
		return [2]string(pair), nil
	}
	var s string
	if err := json.Unmarshal(m, &s); err != nil {
		return [2]string{}, errors.New("neither a string nor a pair of strings")
	}
	a, b, ok := strings.Cut(s, " ")
	if !ok || strings.Contains(b, " ") {
		return [2]string{}, fmt.Errorf("%q is not two symbols and a space", s)
	}
	return [2]string{a, b}, nil
}

// byteAlphabet gives each byte its code point: printable ones themselves, the rest from U+0100 on.
func byteAlphabet() [256]rune {
	var a [256]rune
	next := rune(256)
	for b := range a {
		switch {
		case b >= 33 && b <= 126, b >= 161 && b <= 172, b >= 174:
			a[b] = rune(b)
		default:
			a[b] = next
			next++
		}
	}
	return a
}

// Encode gives the token ids of text.
func (t *Tokenizer) Encode(text string) ([]int, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("a text of %d bytes (limit %d)", len(text), maxText)
	}
	var ids []int
	start := 0
	flush := func(end int) error {
		for _, piece := range split(text[start:end]) {
			for _, s := range t.merge(piece) {
				id, ok := t.vocab[s]
				if !ok {
					return fmt.Errorf("the merges make %q, which is not in the vocabulary", s)
				}
				ids = append(ids, id)
			}
		}
		return nil
	}
	for i := 0; i < len(text); {
		a, ok := t.addedAt(text[i:])
		if !ok {
			i++
			continue
		}
		if err := flush(i); err != nil {
			return nil, err
		}
		ids = append(ids, a.ID)
		i += len(a.Content)
		start = i
	}
	return ids, flush(len(text))
}

func (t *Tokenizer) addedAt(text string) (best addedToken, ok bool) {
	for _, a := range t.added {
		if len(a.Content) > len(best.Content) && strings.HasPrefix(text, a.Content) {
			best, ok = a, true
		}
	}
	return best, ok
}

// The classes of a byte.
const (
	classSpace = iota
	classDigit
	classLetter
	classOther
)

func classOf(b byte) int {
	switch {
	case b >= 9 && b <= 13, b == ' ':
		return classSpace
	case b >= '0' && b <= '9':
		return classDigit
	case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= 0x80:
		return classLetter
	}
	return classOther
}

// runEnd is the end of the run of bytes of one class that begins at i.
func runEnd(s string, i int) int {
	c := classOf(s[i])
	for i < len(s) && classOf(s[i]) == c {
		i++
	}
	return i
}

// split cuts a segment into pieces, which merges never cross.
func split(s string) []string {
	var pieces []string
	for i := 0; i < len(s); {
		j := runEnd(s, i)
		if classOf(s[i]) == classSpace && j < len(s) && s[j-1] == ' ' {
			if j-1 > i {
				j--
			} else {
				j = runEnd(s, j)
			}
		}
		pieces = append(pieces, s[i:j])
		i = j
	}
	return pieces
}

func (t *Tokenizer) merge(piece string) []string {
	symbols := make([]string, len(piece))
	for i := range len(piece) {
		symbols[i] = t.bytes[piece[i]]
	}
	for {
		best, at := -1, 0
		for i := 0; i+1 < len(symbols); i++ {
			if r, ok := t.ranks[[2]string{symbols[i], symbols[i+1]}]; ok && (best < 0 || r < best) {
				best, at = r, i
			}
		}
		if best < 0 {
			return symbols
		}
		symbols[at] += symbols[at+1]
		symbols = append(symbols[:at+1], symbols[at+2:]...)
	}
}
