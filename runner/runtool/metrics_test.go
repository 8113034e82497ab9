package runtool_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/runner/runtool"
)

const printed = "Prefill tokens : 32\nDecode tokens : 7\n"

// files writes the files to a folder, which it makes the working folder.
func files(t *testing.T, content map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, c := range content {
		if err := os.WriteFile(name, []byte(c), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func metrics(args ...string) (int, string) {
	var stderr bytes.Buffer
	code := runtool.Metrics(context.Background(), args, nil, nil, &stderr)
	return code, stderr.String()
}

// What the tool writes belongs to its version: who changes one changes the other.
func TestMetricsGolden(t *testing.T) {
	const version, want = "4", `{
  "title": "t",
  "profile": "open",
  "note": "The runner printed no performance summary.",
  "rows": [
    {
      "name": "tokens_equal_reference",
      "label": "tokens as the reference",
      "value": "2 of 2"
    }
  ]
}
`
	files(t, map[string]string{"o": "hello\n", "got": `{"prompt_tokens":[7],"tokens":[1,2]}`, "want": `{"prompt_tokens":[7],"tokens":[1,2],"text":"x"}`})
	if code, said := metrics("--stdout", "o", "--tokens", "got", "--expect", "want", "--title", "t", "--profile", "open", "--out", "m"); code != 0 {
		t.Fatal(said)
	}
	b, err := os.ReadFile("m")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, string(b)); d != "" || runtool.MetricsVersion != version {
		t.Errorf("version %s writes\n%s", runtool.MetricsVersion, d)
	}
}

// Numbers of the open stand-in are never taken for a phone's, with and without a reference to compare with.
func TestNoteOfTheOpenProfile(t *testing.T) {
	files(t, map[string]string{"o": printed})
	for profile, want := range map[string]bool{"open": true, "device": false} {
		if code, said := metrics("--stdout", "o", "--profile", profile, "--out", "m"); code != 0 {
			t.Fatal(said)
		}
		b, err := os.ReadFile("m")
		if err != nil || strings.Contains(string(b), "not a phone's speed") != want {
			t.Errorf("%s: %s, %v", profile, b, err)
		}
	}
}

func TestMetricsMistakes(t *testing.T) {
	same := `{"prompt_tokens":[7],"tokens":[1,2]}`
	for name, c := range map[string]struct {
		got, want string
		code      int
		said      string
	}{
		"equal":            {same, same, 0, ""},
		"other tokens":     {`{"prompt_tokens":[7],"tokens":[1,3]}`, same, 1, "from token 1 on"},
		"fewer tokens":     {`{"prompt_tokens":[7],"tokens":[1]}`, same, 1, "from token 1 on"},
		"other prompt":     {`{"prompt_tokens":[8],"tokens":[1,2]}`, same, 1, "tokenizers disagree"},
		"no tokens at all": {`{"prompt_tokens":[7],"tokens":[]}`, `{"prompt_tokens":[7],"tokens":[]}`, 1, "has no tokens"},
		"not JSON":         {"tokens", same, 1, "got"},
	} {
		files(t, map[string]string{"o": printed, "got": c.got, "want": c.want})
		code, said := metrics("--stdout", "o", "--tokens", "got", "--expect", "want", "--out", "m")
		if code != c.code || !strings.Contains(said, c.said) {
			t.Errorf("%s: %d, %s", name, code, said)
		}
		if _, err := os.Stat("m"); (err == nil) != (c.code == 0) {
			t.Errorf("%s: a table: %v", name, err == nil)
		}
	}
	for _, args := range [][]string{{}, {"--stdout", "o"}, {"--stdout", "o", "--out", "m", "--tokens", "got"}, {"--nonsense"}} {
		if code, said := metrics(args...); code != 2 || said == "" {
			t.Errorf("%q: %d, %q", args, code, said)
		}
	}
	if code, said := metrics("--stdout", filepath.Join("no", "such"), "--out", "m"); code != 1 || said == "" {
		t.Errorf("no such file: %d, %q", code, said)
	}
}

func TestImageMistakes(t *testing.T) {
	for _, args := range [][]string{{}, {"--out", "x"}, {"--soc_model", "many"}} {
		var stderr bytes.Buffer
		if code := runtool.Image(t.Context(), args, nil, nil, &stderr); code != 2 || stderr.Len() == 0 {
			t.Errorf("%q: %d, %q", args, code, stderr.String())
		}
	}
}
