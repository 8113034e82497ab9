package secret_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/secret"
)

func TestTextRoundTrip(t *testing.T) {
	for _, want := range []secret.Text{
		nil,
		{{Literal: "a $${b} ${c} $"}},
		{{Literal: "Bearer "}, {Ref: "var.token"}, {Literal: "}\n"}},
		{{Ref: `var.logins["a}\"b"].user`}, {Ref: "var.list[0]"}},
		{{Literal: "$"}, {Ref: "var.a"}, {Literal: "$$"}},
	} {
		got, err := secret.Parse(want.String())
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %#v, %v", want.String(), got, err)
		}
	}
	for _, bad := range []string{"${", "${}", `${a["}`} {
		if got, err := secret.Parse(bad); err == nil {
			t.Errorf("%q is %q", bad, got)
		}
	}
}

func set(t *testing.T, values ...string) *secret.Set {
	t.Helper()
	env, v := map[string]secret.Text{}, secret.Values{}
	for i, value := range values {
		ref := fmt.Sprint("var.v", i)
		env[fmt.Sprint("V", i)], v[ref] = secret.Text{{Literal: "Bearer "}, {Ref: ref}}, value
	}
	s, err := secret.NewSet(env, nil, v)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSetDoesNotPrint(t *testing.T) {
	s, v := set(t, "hunter2"), secret.Values{"var.a": "hunter2"}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		if got := fmt.Sprintf(verb+verb+verb, s, v, struct{ S *secret.Set }{s}); strings.Contains(got, "hunter") ||
			strings.Contains(got, "68756e746572") {
			t.Errorf("%s prints %s", verb, got)
		}
	}
	b, err := json.Marshal([]any{s, v})
	if err != nil || strings.Contains(string(b), "hunter") {
		t.Errorf("JSON %s, %v", b, err)
	}
	if got := s.Env()["V0"]; got != "Bearer hunter2" {
		t.Errorf("the variable is %q", got)
	}
}

// A value is hidden however it is spelt, and wherever the stream is cut.
func TestHide(t *testing.T) {
	const token, quoted = "hunter2-7f3a9c", "it's \"so\"\\<&> ü/+?"
	key := "-----BEGIN KEY-----\nQUJDREVGR0g\nSUpLTE1OT1A\n-----END KEY-----\n"
	s := set(t, token, quoted, key, "abc", "aaaa")
	js, _ := json.Marshal(quoted)
	for name, c := range map[string]struct{ text, want string }{
		"plain":         {"x " + token + " y", "x (sensitive) y"},
		"twice":         {token + "," + token, "(sensitive),(sensitive)"},
		"URL query":     {"?a=" + url.QueryEscape(quoted) + "&", "?a=(sensitive)&"},
		"URL path":      {"/" + url.PathEscape(quoted) + "?", "/(sensitive)?"},
		"JSON":          {string(js), `"(sensitive)"`},
		"Go":            {fmt.Sprintf("%q", quoted), `"(sensitive)"`},
		"shell":         {"'" + strings.ReplaceAll(quoted, "'", `'\''`) + "'", "'(sensitive)'"},
		"hex":           {fmt.Sprintf("%x.", token), "(sensitive)."},
		"lines":         {key, "(sensitive)"},
		"a line":        {"= SUpLTE1OT1A;", "= (sensitive);"},
		"trimmed":       {strings.TrimSpace(key) + ";", "(sensitive);"},
		"a short value": {"abc", "abc"},
		"overlapping":   {"xaaaaaaay", "x(sensitive)y"},
		"nothing":       {"hunter hunter2-7f3a9", "hunter hunter2-7f3a9"},
	} {
		if got := s.Redact(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		for size := 1; size < 7; size++ {
			h, got := s.Hider(), ""
			for rest := c.text; rest != ""; rest = rest[min(size, len(rest)):] {
				got += string(h.Next([]byte(rest[:min(size, len(rest))])))
			}
			if got += string(h.End()); got != c.want {
				t.Errorf("%s in pieces of %d: %q, want %q", name, size, got, c.want)
			}
		}
	}
	for before := range 5 {
		for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
			text := e.EncodeToString([]byte(strings.Repeat("u", before) + token + ":x"))
			got := s.Redact(text)
			left, err := base64.RawStdEncoding.DecodeString(
				strings.TrimRight(strings.ReplaceAll(got, secret.Hidden, ""), "="))
			if !strings.Contains(got, secret.Hidden) || err == nil && strings.Contains(string(left), "hunter") {
				t.Errorf("base64 after %d bytes: %q of %q", before, got, text)
			}
		}
	}
}

func TestFind(t *testing.T) {
	const token = "hunter2-7f3a9c"
	s := set(t, token)
	for name, c := range map[string]struct {
		make func(dir string) error
		want string
	}{
		"nothing": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "o"), []byte("hunter2-7f3a9"),
				0o644)
		}, ""},
		"a file": {func(dir string) error { return os.WriteFile(filepath.Join(dir, "o"), []byte(token), 0o644) },
			"o"},
		"unreadable": {func(dir string) error { return os.WriteFile(filepath.Join(dir, "o"), []byte(token), 0) }, "o"},
		"at the edge of what is read at once": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "o"),
				[]byte(strings.Repeat("x", 256<<10+15)+token+strings.Repeat("y", 300<<10)), 0o644)
		}, "o"},
		"a deep file": {func(dir string) error {
			at := filepath.Join(dir, "t", "a", "b")
			return errors.Join(os.MkdirAll(at, 0o755), os.WriteFile(filepath.Join(at, "f"), []byte("x"+token), 0o644))
		}, "t"},
		"a name": {func(dir string) error { return os.MkdirAll(filepath.Join(dir, "t", token), 0o755) }, "t"},
		"a target": {func(dir string) error {
			if err := os.Mkdir(filepath.Join(dir, "t"), 0o755); err != nil {
				return err
			}
			return os.Symlink("to-"+token, filepath.Join(dir, "t", "l"))
		}, "t"},
		"what an output leads to": {func(dir string) error {
			if err := os.WriteFile(filepath.Join(dir, "other"), []byte(token), 0o644); err != nil {
				return err
			}
			return os.Symlink("other", filepath.Join(dir, "o"))
		}, "o"},
	} {
		dir := t.TempDir()
		if err := c.make(dir); err != nil {
			t.Fatal(err)
		}
		if got, ref, err := s.Find(dir, []string{"none", "o", "t"}); err != nil || got != c.want ||
			(ref == "var.v0") != (got != "") {
			t.Errorf("%s: %q, %s, %v; want %q", name, got, ref, err, c.want)
		}
	}
}
