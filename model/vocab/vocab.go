// Package vocab writes what the programs of mllm v1 read of a tokenizer, from the tokenizer.json of a Hugging Face model: the vocabulary as a .mllm file, and the
// rules by which byte pairs are merged as lines. mllm ships both for a few models, and has tools/convertor/vocab.py for others, of which the second file is
// wrong for what the tokenizers library writes today.
//
// Without merges a tokenizer says "merge file is broken" on the phone and ends with exit code 0. The package does not know how text is cut into tokens, nor what a model is.
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

// magic begins a vocabulary: what mllm calls VocabMagicNumber.
const magic = 23333

const (
	maxFile  = 64 << 20 // bytes of a tokenizer.json; those of large models have 11 MB
	maxToken = 1 << 20  // tokens, and bytes of one
)

// Token is an entry of a vocabulary.
type Token struct {
	ID   int
	Text string // as the tokenizer spells it: of byte-level ones each byte is a letter
}

// Tokenizer is what of a tokenizer.json is written.
type Tokenizer struct {
	Tokens []Token // by id: 0, 1, 2 and so on
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
		return nil, fmt.Errorf("its model is of type %q; the tokenizers of mllm v1 that read a vocabulary and merges are for BPE", f.Model.Type)
	}
	var ids map[string]int
	if err := json.Unmarshal(f.Model.Vocab, &ids); err != nil {
		return nil, fmt.Errorf("vocab: %w", err)
	}
	for _, a := range f.Added {
		if id, ok := ids[a.Content]; ok && id != a.ID {
			return nil, fmt.Errorf("token %q has the numbers %d and %d", a.Content, id, a.ID)
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
				return nil, fmt.Errorf("merge %d is neither a text nor a pair of texts", i)
			}
			line = pair[0] + " " + pair[1]
		}
		if strings.Count(line, " ") != 1 || strings.ContainsAny(line, "\r\n\x00") {
			return nil, fmt.Errorf("merge %d is %q, and not two tokens", i, line)
		}
		t.Merges = append(t.Merges, line)
	}
	if len(t.Merges) == 0 {
		return nil, errors.New("it has no merges")
	}
	return t, nil
}

// check finds that mllm's reader can read the tokens: it has room for as many as there are and puts each where its number says, without looking.
func (t *Tokenizer) check() error {
	if len(t.Tokens) == 0 || len(t.Tokens) > maxToken {
		return fmt.Errorf("it has %d tokens (limit %d)", len(t.Tokens), maxToken)
	}
	for i, x := range t.Tokens {
		switch {
		case x.ID != i && i > 0 && x.ID == t.Tokens[i-1].ID:
			return fmt.Errorf("tokens %q and %q have the number %d", t.Tokens[i-1].Text, x.Text, x.ID)
		case x.ID != i:
			return fmt.Errorf("token %q has the number %d, and there is none with %d: mllm's reader would write beyond its table", x.Text, x.ID, i)
		case len(x.Text) > maxToken:
			return fmt.Errorf("token %d has %d bytes", i, len(x.Text))
		}
	}
	return nil
}

// Vocabulary is the .mllm file: little-endian, a magic number, the count, and of each token its number, its length in bytes, the bytes, and its number once more as a float, where
// tokenizers of other sorts have a score.
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

// Lines is the file of merges, the first to be applied first.
func (t *Tokenizer) Lines() []byte { return []byte(strings.Join(t.Merges, "\n") + "\n") }

// Passed is how many merges mllm's reader takes for comments, as they begin with #. Text with several of these gets other tokens on the phone.
func (t *Tokenizer) Passed() (n int) {
	for _, m := range t.Merges {
		if strings.HasPrefix(m, "#") {
			n++
		}
	}
	return n
}

// Tool is the tool's name, and its behaviour version: raise it whenever an output changes.
const Tool tool.Name[Spec] = "vocab/1"

// Spec says what to write.
type Spec struct {
	Tokenizer string `json:"tokenizer"` // tokenizer.json
	Vocab     string `json:"vocab"`     // files to write
	Merges    string `json:"merges"`
}

// Run is the tool.
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
		fmt.Fprintf(env.Stdout, "mllm's reader takes %d merges that begin with # for comments: text with several # in a row gets other tokens\n", n)
	}
	return nil
}
