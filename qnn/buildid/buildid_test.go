package buildid_test

import (
	"errors"
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
		"none":         {"nothing v2.41.0 here", []string{}},
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
		got, err := buildid.One(strings.NewReader(text))
		if err != nil || got != id {
			t.Fatalf("shift %d: %q, %v", shift, got, err)
		}
	}
}

func TestOne(t *testing.T) {
	if _, err := buildid.One(strings.NewReader("x")); !errors.Is(err, buildid.ErrNone) {
		t.Errorf("got %v", err)
	}
	if _, err := buildid.One(strings.NewReader(id + " v2.34.0.250424201103")); err == nil || !strings.Contains(err.Error(), "several") {
		t.Errorf("got %v", err)
	}
}
