package toymodel_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

// tiny has all bytes, a few merges whose ranks matter, and added tokens of which one begins like the other.
func tiny(t testing.TB) *toymodel.Tokenizer {
	t.Helper()
	var vocab []string
	add := func(s string) { vocab = append(vocab, s) }
	other := rune(256)
	for b := range 256 {
		if b >= 33 && b <= 126 || b >= 161 && b <= 172 || b >= 174 {
			add(string(rune(b)))
		} else {
			add(string(other))
			other++
		}
	}
	for _, s := range []string{"ab", "bc", "abc", "Ġa", "Ġab", "aa"} {
		add(s)
	}
	var b strings.Builder
	b.WriteString(`{"added_tokens":[{"id":300,"content":"<|e|>","special":true},{"id":301,"content":"<|e|>x","special":false}],"model":{"type":"BPE","vocab":{`)
	for i, s := range vocab {
		if i > 0 {
			b.WriteString(",")
		}
		s = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)
		b.WriteString(`"` + s + `":` + itoa(i))
	}
	b.WriteString(`},"merges":["b c",["a","b"],"ab c","Ġ a","Ġa b","a a"]}}`)
	tok, err := toymodel.ParseTokenizer([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func itoa(i int) string {
	if i >= 10 {
		return itoa(i/10) + string(rune('0'+i%10))
	}
	return string(rune('0' + i))
}

func TestEncode(t *testing.T) {
	const ab, bc, abc, sa, sab, aa, e, ex = 256, 257, 258, 259, 260, 261, 300, 301
	cases := map[string][]int{
		"":        nil,
		"a":       {'a'},
		"ab":      {ab},
		"abc":     {'a', bc}, // "b c" has the lower rank, and then nothing joins a and bc
		"aaa":     {aa, 'a'}, // the leftmost pair first
		" ab":     {' ', ab}, // "a b" ranks before "Ġ a", so Ġ is left alone
		" a":      {sa},
		"  a":     {' ', sa}, // the last space goes with the word
		"a  ":     {'a', ' ', ' '},
		"a\n b":   {'a', '\n', ' ', 'b'},
		"a \nb":   {'a', ' ', '\n', 'b'},
		"a1ab":    {'a', '1', ab},
		"a,a":     {'a', ',', 'a'},
		"é":       {0xc3, 0xa9},
		"<|e|>a":  {e, 'a'},
		"<|e|>xa": {ex, 'a'}, // the longest
		"a<|e":    {'a', '<', '|', 'e'},
		"a<|e|>b": {'a', e, 'b'}, // no merge across
	}
	tok := tiny(t)
	_, _, _ = abc, sab, aa
	for text, want := range cases {
		got, err := tok.Encode(text)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
}

// TestByteWithoutToken: a text with a byte that has no token is refused, others are not.
func TestByteWithoutToken(t *testing.T) {
	tok, err := toymodel.ParseTokenizer([]byte(`{"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if ids, err := tok.Encode("aba"); err != nil || !slices.Equal(ids, []int{2, 0}) {
		t.Errorf("aba: %v, %v", ids, err)
	}
	if _, err := tok.Encode("abc"); err == nil || !strings.Contains(err.Error(), `"c", which is not in the vocabulary`) {
		t.Errorf("abc: %v", err)
	}
}

func TestParseTokenizerRejects(t *testing.T) {
	for text, want := range map[string]string{
		`{`:                                    "unexpected end",
		`{"model":{"type":"Unigram"}}`:         "only BPE",
		`{"model":{"type":"BPE","vocab":{}}}`:  "vocab is empty",
		`{"model":{"type":"BPE","vocab":{"a":`: "unexpected end",
	} {
		if _, err := toymodel.ParseTokenizer([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
