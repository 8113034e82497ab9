package toymodel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"testing"
)

// files/tokenizer.json is what byte-pair training learns from the sample text; -update trains again.
func TestTokenizerIsTrained(t *testing.T) {
	want, err := trainTokenizer(DefaultConfig().VocabSize)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("files/tokenizer.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(want) != madeTokenizer {
		t.Error("files/tokenizer.json is not what training gives; go test -update writes it, and every generated model changes with it")
	}
}

// trainTokenizer learns merges from the corpus until the vocabulary, with three added tokens at its end, has size entries. The most
// frequent pair is merged first; of equals the one that sorts first. It returns the tokenizer.json.
func trainTokenizer(size int) ([]byte, error) {
	alphabet := byteAlphabet()
	var order []rune
	for _, r := range alphabet {
		order = append(order, r)
	}
	sort.Slice(order, func(i, j int) bool { return order[i] < order[j] })
	var vocab []string
	for _, r := range order {
		vocab = append(vocab, string(r))
	}
	words := corpusWords(alphabet)
	var merges [][2]string
	known := map[string]bool{}
	for len(vocab) < size-len(addedNames()) {
		pair, ok := bestPair(words, known)
		if !ok {
			return nil, fmt.Errorf("the sample text has too few pairs for a vocabulary of %d; %d is the most", size, len(vocab)+len(addedNames()))
		}
		merges = append(merges, pair)
		known[pair[0]+pair[1]] = true
		vocab = append(vocab, pair[0]+pair[1])
		for i := range words {
			words[i].join(pair)
		}
	}
	return encodeTokenizer(vocab, merges)
}

func addedNames() []string { return []string{"<|endoftext|>", "<|im_start|>", "<|im_end|>"} }

type word struct {
	symbols []string
	count   int
}

func (w *word) join(pair [2]string) {
	out := w.symbols[:0]
	for i := 0; i < len(w.symbols); i++ {
		if i+1 < len(w.symbols) && w.symbols[i] == pair[0] && w.symbols[i+1] == pair[1] {
			out = append(out, pair[0]+pair[1])
			i++
			continue
		}
		out = append(out, w.symbols[i])
	}
	w.symbols = out
}

func corpusWords(alphabet [256]rune) []word {
	counts := map[string]int{}
	for _, p := range split(corpus) {
		counts[p]++
	}
	pieces := make([]string, 0, len(counts))
	for p := range counts {
		pieces = append(pieces, p)
	}
	sort.Strings(pieces)
	words := make([]word, len(pieces))
	for i, p := range pieces {
		words[i].count = counts[p]
		for k := range len(p) {
			words[i].symbols = append(words[i].symbols, string(alphabet[p[k]]))
		}
	}
	return words
}

// bestPair skips pairs whose joined string exists already: two ways to one token would leave ids unused.
func bestPair(words []word, known map[string]bool) (best [2]string, ok bool) {
	counts := map[[2]string]int{}
	for _, w := range words {
		for i := 0; i+1 < len(w.symbols); i++ {
			counts[[2]string{w.symbols[i], w.symbols[i+1]}] += w.count
		}
	}
	n := 0
	for p, c := range counts {
		if known[p[0]+p[1]] {
			continue
		}
		if c > n || c == n && (p[0] < best[0] || p[0] == best[0] && p[1] < best[1]) {
			best, n, ok = p, c, true
		}
	}
	return best, ok
}

// encodeTokenizer writes one entry per line, in the order of ids, with no escapes but \" and \\.
func encodeTokenizer(vocab []string, merges [][2]string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("{\n  \"version\": \"1.0\",\n  \"added_tokens\": [")
	for i, name := range addedNames() {
		fmt.Fprintf(&b, "%s\n    {\"id\": %d, \"content\": %q, \"single_word\": false, \"lstrip\": false, \"rstrip\": false, \"normalized\": false, \"special\": true}", comma(i), len(vocab)+i, name)
	}
	b.WriteString("\n  ],\n" +
		`  "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},` + "\n" +
		`  "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},` + "\n" +
		"  \"model\": {\n    \"type\": \"BPE\",\n    \"vocab\": {")
	for i, v := range vocab {
		s, err := jsonString(v)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s\n      %s: %d", comma(i), s, i)
	}
	b.WriteString("\n    },\n    \"merges\": [")
	for i, m := range merges {
		s, err := jsonString(m[0] + " " + m[1])
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s\n      %s", comma(i), s)
	}
	b.WriteString("\n    ]\n  }\n}\n")
	return b.Bytes(), nil
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

func jsonString(s string) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(s)
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), err
}
