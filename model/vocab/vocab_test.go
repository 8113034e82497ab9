package vocab_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/tool/tooltest"
	"github.com/hexmage/hexmage/model/vocab"
)

// tokenizer is a tokenizer.json.
func tokenizer(t testing.TB, tokens map[string]int, added []vocab.Token, merges any) []byte {
	t.Helper()
	type entry struct {
		ID      int    `json:"id"`
		Content string `json:"content"`
	}
	more := []entry{}
	for _, a := range added {
		more = append(more, entry{a.ID, a.Text})
	}
	b, err := json.Marshal(map[string]any{"added_tokens": more, "model": map[string]any{"type": "BPE", "vocab": tokens, "merges": merges}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// read reads a vocabulary as mllm's reader does (mllm/tokenizers/Tokenizer.cpp of branch v1).
func read(raw []byte) ([]vocab.Token, error) {
	r := bytes.NewReader(raw)
	number := func() (v int32, err error) { err = binary.Read(r, binary.LittleEndian, &v); return v, err }
	if m, err := number(); err != nil || m != 23333 {
		return nil, fmt.Errorf("it begins with %d", m)
	}
	n, err := number()
	if err != nil || n <= 0 || n > 1<<20 {
		return nil, fmt.Errorf("it has %d tokens", n)
	}
	var all []vocab.Token
	for range n {
		id, err1 := number()
		size, err2 := number()
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		if size < 0 || int(size) > r.Len() || id < 0 || id >= n {
			return nil, fmt.Errorf("token %d of %d has the number %d and %d bytes", len(all), n, id, size)
		}
		text := make([]byte, size)
		_, _ = r.Read(text)
		if _, err := number(); err != nil {
			return nil, err
		}
		all = append(all, vocab.Token{ID: int(id), Text: string(text)})
	}
	return all, nil
}

// What mllm's tools/convertor/vocab.py of branch v1 (013e4cec) writes for the tokenizer of our small models.
func TestMllms(t *testing.T) {
	dir := t.TempDir()
	s := vocab.Spec{Tokenizer: "../../simulated/mllm/toymodel/files/tokenizer.json", Vocab: filepath.Join(dir, "vocab.mllm"), Merges: filepath.Join(dir, "merges.txt")}
	if _, msg, code := tooltest.Run(t, vocab.Tool, vocab.Run, s); code != 0 {
		t.Fatal(msg)
	}
	for file, want := range map[string]string{s.Vocab: "f5bc27f5491fe230f4b75f2f60a7a74704f05bd79f6dd79dc7fb5558a2759d90", s.Merges: "18aa69c8b358c8ae76f759ce5c39a710a482725cf6b0f534233375b9209bfe4c"} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if is := fmt.Sprintf("%x", sha256.Sum256(b)); is != want {
			t.Errorf("%s is another than upstream's", file)
		}
	}
}

// The files that mllm ships come out again of a tokenizer.json that is made of what is in them: so layout and order are mllm's. That a hub's tokenizer.json has
// the same tokens is not shown here.
func TestShipped(t *testing.T) {
	clone := os.Getenv("HEXMAGE_TEST_MLLM")
	if clone == "" {
		t.Skip("HEXMAGE_TEST_MLLM names no clone of mllm")
	}
	for _, name := range []string{"qwen", "qwen2.5", "qwen2vl", "ds_qwen2"} {
		show := func(file string) []byte {
			b, err := exec.Command("git", "-C", clone, "show", "origin/v1:vocab/"+name+file).Output()
			if err != nil {
				t.Fatal(name, file, err)
			}
			return b
		}
		file, lines := show("_vocab.mllm"), show("_merges.txt")
		all, err := read(file)
		if err != nil {
			t.Fatal(name, err)
		}
		tokens, merges := map[string]int{}, strings.Split(strings.TrimSuffix(string(lines), "\n"), "\n")
		for _, x := range all {
			tokens[x.Text] = x.ID
		}
		merges = slices.DeleteFunc(merges, func(l string) bool { return strings.HasPrefix(l, "#version") })
		got, err := vocab.Parse(tokenizer(t, tokens, nil, merges))
		if err != nil {
			t.Fatal(name, err)
		}
		if !bytes.Equal(got.Vocabulary(), file) {
			t.Errorf("%s: another vocabulary of %d tokens", name, len(all))
		}
		if want := strings.Join(merges, "\n") + "\n"; string(got.Lines()) != want {
			t.Errorf("%s: other merges", name)
		}
		t.Logf("%s: %d tokens, %d merges, %d of which upstream's reader takes for comments", name, len(all), len(merges), got.Passed())
	}
}

// Merges are written alike in both forms that the tokenizers library has had; added tokens are tokens.
func TestForms(t *testing.T) {
	tokens := map[string]int{"a": 0, "b": 1, "#": 2, "ab": 3, "##": 4}
	added := []vocab.Token{{ID: 5, Text: "<|end|>"}, {ID: 3, Text: "ab"}}
	var before *vocab.Tokenizer
	for _, merges := range []any{[]string{"a b", "# #"}, [][]string{{"a", "b"}, {"#", "#"}}} {
		got, err := vocab.Parse(tokenizer(t, tokens, added, merges))
		if err != nil {
			t.Fatal(err)
		}
		if string(got.Lines()) != "a b\n# #\n" || got.Passed() != 1 || len(got.Tokens) != 6 || got.Tokens[5].Text != "<|end|>" {
			t.Errorf("%+v", got)
		}
		if back, err := read(got.Vocabulary()); err != nil || !slices.Equal(back, got.Tokens) {
			t.Errorf("%v, %v", back, err)
		}
		if before != nil && !bytes.Equal(before.Vocabulary(), got.Vocabulary()) {
			t.Error("two vocabularies")
		}
		before = got
	}
}

func TestRefused(t *testing.T) {
	ab := []string{"a b"}
	two := map[string]int{"a": 0, "b": 1}
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"a gap":      {tokenizer(t, map[string]int{"a": 0, "b": 2}, nil, ab), "outside its table"},
		"negative":   {tokenizer(t, map[string]int{"a": -1, "b": 0}, nil, ab), "outside its table"},
		"twice":      {tokenizer(t, map[string]int{"a": 0, "b": 1, "c": 1}, nil, ab), "same id 1"},
		"two":        {tokenizer(t, two, []vocab.Token{{ID: 2, Text: "b"}}, ab), "two ids, 1 and 2"},
		"none":       {tokenizer(t, nil, nil, ab), "0 tokens"},
		"no merges":  {tokenizer(t, two, nil, []string{}), "missing merges"},
		"three":      {tokenizer(t, two, nil, []string{"a b c"}), "not a pair of tokens"},
		"a line":     {tokenizer(t, two, nil, []string{"a b\nc"}), "not a pair of tokens"},
		"numbers":    {tokenizer(t, two, nil, []int{1}), "expected a string or a pair of strings"},
		"a unigram":  {[]byte(`{"model": {"type": "Unigram", "vocab": [["a", 0]]}}`), "Unigram"},
		"no model":   {[]byte(`{}`), `type ""`},
		"not a JSON": {[]byte(`{`), "unexpected end"},
	} {
		if _, err := vocab.Parse(c.raw); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// What can be read is written, and read again.
func FuzzParse(f *testing.F) {
	f.Add(tokenizer(f, map[string]int{"a": 0, "b": 1, "ab": 2}, []vocab.Token{{ID: 3, Text: "<|end|>"}}, []string{"a b"}))
	f.Add(tokenizer(f, map[string]int{"a": 0, "b": 1, "ab": 2}, nil, [][]string{{"a", "b"}}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := vocab.Parse(raw)
		if err != nil {
			return
		}
		if back, err := read(got.Vocabulary()); err != nil || !slices.Equal(back, got.Tokens) {
			t.Errorf("%v, %v", back, err)
		}
		if n := bytes.Count(got.Lines(), []byte("\n")); n != len(got.Merges) {
			t.Errorf("%d lines of %d merges", n, len(got.Merges))
		}
	})
}
