package buildid_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/qnn/buildid"
)

const id = "v2.41.0.251128145156_191518"

func TestFind(t *testing.T) {
	cases := map[string]struct {
		text string
		want []string
	}{
		"none":         {"nothing v2.41.0 here", nil},
		"plain":        {"\x00" + id + "\x00 and " + id, []string{id}},
		"two":          {id + " v2.34.0.250424201103", []string{"v2.34.0.250424201103", id}},
		"in text":      {"Vr" + id + ".abc", []string{id}},
		"far":          {strings.Repeat("x", 3<<20) + id, []string{id}},
		"at a border":  {strings.Repeat("x", 1<<20-10) + id + strings.Repeat("y", 1<<20), []string{id}},
		"ends at edge": {strings.Repeat("x", 1<<20-len(id)) + id + "z" + strings.Repeat("y", 1<<20), []string{id}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := buildid.Find(strings.NewReader(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// An id must be found whole wherever a window ends.
func TestEveryOffset(t *testing.T) {
	for shift := range 60 {
		text := strings.Repeat("x", 1<<20-shift) + id + " " + strings.Repeat("x", 200)
		got, err := buildid.Only(strings.NewReader(text))
		if err != nil || got != id {
			t.Fatalf("shift %d: %q, %v", shift, got, err)
		}
	}
}

func TestOne(t *testing.T) {
	if _, err := buildid.Only(strings.NewReader("x")); !errors.Is(err, buildid.ErrNone) {
		t.Errorf("got %v", err)
	}
	if _, err := buildid.Only(strings.NewReader(id + " v2.34.0.250424201103")); err == nil || !strings.Contains(err.Error(), "several") {
		t.Errorf("got %v", err)
	}
}

func TestFirst(t *testing.T) {
	const later = "v2.34.0.250424201103"
	for text, want := range map[string]string{"": "", "none v2.41.0.2511281451": "", "x" + id + "\x00" + later: id, later + "_x " + id: later,
		"\x00AISW_VERSION: 2.45.0\x00v2.45.0.260326154327\x00": "v2.45.0.260326154327", strings.Repeat("v", 2<<20) + id: id, "v1.2.3.1234567890123": "v1.2.3.123456789012", "v1..3.123456789012": "", "v1.2.3.": ""} {
		if got, err := buildid.First(strings.NewReader(text)); err != nil || got != want {
			t.Errorf("%.60q: %q, %v, want %q", text, got, err, want)
		}
	}
	endless := io.MultiReader(strings.NewReader(id+" "), neverEnds{})
	if got, err := buildid.First(endless); err != nil || got != id {
		t.Errorf("%q, %v: more is read than is needed", got, err)
	}
}

type neverEnds struct{}

func (neverEnds) Read(b []byte) (int, error) { return len(b), nil }

func TestSame(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"v2.41.0.251128145156_191518", "v2.41.0.251128145156_191518", true},
		{"v2.41.0.251128145156_191518", "v2.41.0.251128145156", true}, // newer ones have no number
		{"v2.41.0.251128145156_191518", "v2.41.0.251128", true},       // as the archive is called
		{"2.41.0.251128", "v2.41.0.251128145156_1", true},
		{"v2.41.0.251128145156_191518", "v2.41.0.251128145157_191518", false},
		{"v2.41.0.251128", "v2.41.0.251129", false},
		{"v2.41.0.251128145156_191518", "v2.41.0.251128145156_191519", false},
		{"", "v2.41.0.251128", false},
	} {
		if buildid.Same(c.a, c.b) != c.same || buildid.Same(c.b, c.a) != c.same {
			t.Errorf("%q and %q: want %v", c.a, c.b, c.same)
		}
	}
	for id, want := range map[string]string{"v2.41.0.251128145156_191518": "2.41.0", "2.41.0.251128": "2.41.0", "v2.41": "", "": "", "x": ""} {
		if got := buildid.Version(id); got != want {
			t.Errorf("%q: %q, want %q", id, got, want)
		}
	}
}
