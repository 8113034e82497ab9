// Package vocab converts the tokenizer.json of a Hugging Face model to two files for mllm v1's programs. One file is
// the vocabulary as a .mllm file, and the other has the merge rules of byte pairs as lines.
//
// mllm ships both files for a few models. For others, it has tools/convertor/vocab.py, whose merge file is wrong for
// files of today's tokenizers library. Without merges, a tokenizer prints "merge file is broken" on the phone and
// exits with code 0.
//
// The package does not tokenize text and does not know models.
package vocab

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/tool"
)

// magic begins a vocabulary. mllm calls it VocabMagicNumber.
const magic = 23333

const (
	maxFile  = 64 << 20 // bytes of a tokenizer.json; those of large models have 11 MB
	maxToken = 1 << 20  // number of tokens, and bytes of one
)

// Token is one entry of a vocabulary.
type Token struct {
	ID   int
	Text string // as in the tokenizer; byte-level tokenizers use a letter for each byte
}

// Tokenizer holds the tokens and merges of a tokenizer.json.
type Tokenizer struct {
	Tokens []Token // sorted by id, from 0 without gaps
	Merges []string
}

// Parse reads a tokenizer.json.
func Parse(raw []byte) (*Tokenizer, error) {
	var f struct {
		Added []struct {
			ID      int    `json:"id"`
			Content string `json:"content"`
		} `json:"added_tokens"`
		Model struct {
			Type   string            `json:"type"`
			Vocab  json.RawMessage   `json:"vocab"`
			Merges []json.RawMessage `json:"merges"`
		} `json:"model"`
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, err
	}
	if f.Model.Type != "BPE" {
		return nil, fmt.Errorf("unsupported tokenizer type %q: mllm v1 reads vocabulary and merges only for BPE", f.Model.Type)
	}
	var ids map[string]int
	if err := json.Unmarshal(f.Model.Vocab, &ids); err != nil {
		return nil, fmt.Errorf("vocab: %w", err)
	}
	for _, a := range f.Added {
		if id, ok := ids[a.Content]; ok && id != a.ID {
			return nil, fmt.Errorf("token %q has two ids, %d and %d", a.Content, id, a.ID)
		}
		if ids == nil {
			ids = map[string]int{}
		}
		ids[a.Content] = a.ID
	}
	t := &Tokenizer{}
	for text, id := range ids {
		t.Tokens = append(t.Tokens, Token{id, text})
	}
	slices.SortFunc(t.Tokens, func(a, b Token) int { return a.ID - b.ID })
	if err := t.check(); err != nil {
		return nil, err
	}
	for i, m := range f.Model.Merges {
		var line string
		var pair [2]string
		if json.Unmarshal(m, &line) != nil {
			if err := json.Unmarshal(m, &pair); err != nil {
				return nil, fmt.Errorf("merge %d: expected a string or a pair of strings", i)
			}
			line = pair[0] + " " + pair[1]
		}
		if strings.Count(line, " ") != 1 || strings.ContainsAny(line, "\r\n\x00") {
			return nil, fmt.Errorf("merge %d: %q is not a pair of tokens", i, line)
		}
		t.Merges = append(t.Merges, line)
	}
	if len(t.Merges) == 0 {
		return nil, errors.New("missing merges")
	}
	return t, nil
}

// check rejects tokens that mllm's reader cannot load. The reader has one slot for each token and writes to the slot
// of its id without a check.
func (t *Tokenizer) check() error {
	if len(t.Tokens) == 0 || len(t.Tokens) > maxToken {
		return fmt.Errorf("the vocabulary has %d tokens, expected 1 to %d", len(t.Tokens), maxToken)
	}
	for i, x := range t.Tokens {
		switch {
		case x.ID != i && i > 0 && x.ID == t.Tokens[i-1].ID:
			return fmt.Errorf("tokens %q and %q have the same id %d", t.Tokens[i-1].Text, x.Text, x.ID)
		case x.ID != i:
			return fmt.Errorf("token %q has id %d, but id %d is missing: mllm's reader would write outside its table", x.Text, x.ID, i)
		case len(x.Text) > maxToken:
			return fmt.Errorf("token %d is too long: %d bytes", i, len(x.Text))
		}
	}
	return nil
}

// Vocabulary returns mllm's vocabulary file in little-endian order: magic number, count, and the tokens. Each token
// consists of its id, its length in bytes, the bytes, and a float. The float is a score for some tokenizers, but here
// it is the id.
func (t *Tokenizer) Vocabulary() []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, magic)
	b = le.AppendUint32(b, uint32(len(t.Tokens)))
	for _, x := range t.Tokens {
		b = le.AppendUint32(b, uint32(x.ID))
		b = le.AppendUint32(b, uint32(len(x.Text)))
		b = append(b, x.Text...)
		b, _ = binary.Append(b, le, float32(x.ID))
	}
	return b
}

// Lines returns mllm's merge file. The first line has the highest priority.
func (t *Tokenizer) Lines() []byte { return []byte(strings.Join(t.Merges, "\n") + "\n") }

// Passed returns the number of merges that begin with #. mllm skips such merges as comments, so it tokenizes several #
// in a row differently.
func (t *Tokenizer) Passed() (n int) {
	for _, m := range t.Merges {
		if strings.HasPrefix(m, "#") {
			n++
		}
	}
	return n
}

// Tool is this tool's name and version. Raise the version whenever the output changes.
const Tool tool.Name[Spec] = "vocab/1"

// Spec holds the arguments of the tool.
type Spec struct {
	Tokenizer string `json:"tokenizer"` // tokenizer.json
	Vocab     string `json:"vocab"`     // output files
	Merges    string `json:"merges"`
}

// Run writes the vocabulary and the merges.
func Run(_ context.Context, s Spec, env tool.Env) error {
	raw, err := boundedfile.Read(s.Tokenizer, maxFile)
	if err != nil {
		return err
	}
	t, err := Parse(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Tokenizer, err)
	}
	if err := errors.Join(os.WriteFile(s.Vocab, t.Vocabulary(), 0o644), os.WriteFile(s.Merges, t.Lines(), 0o644)); err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "wrote %s, %d tokens, and %s, %d merges\n", s.Vocab, len(t.Tokens), s.Merges, len(t.Merges))
	if n := t.Passed(); n > 0 {
		fmt.Fprintf(env.Stdout, "mllm's reader skips %d merges that begin with # as comments: text with several # in a row gets other tokens\n", n)
	}
	return nil
}
