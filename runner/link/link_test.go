package link

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"
)

func TestParseList(t *testing.T) {
	got, err := parseList("81a4 12 1000000000 ./a b\n41ed 4096 5 ./d\na1ff 3 6 ./l\n1180 0 7 ./pipe\n")
	want := []Entry{
		{"a b", Stat{0o644, 12, time.Unix(1e9, 0)}}, {"d", Stat{fs.ModeDir | 0o755, 4096, time.Unix(5, 0)}},
		{"l", Stat{fs.ModeSymlink | 0o777, 3, time.Unix(6, 0)}}, {"pipe", Stat{fs.ModeIrregular | 0o600, 0, time.Unix(7, 0)}},
	}
	if err != nil || len(got) != len(want) {
		t.Fatal(got, err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
	for _, bad := range []string{
		"81a4 12 5 ./a\nb\n",           // a line end in a name
		"81a4 1 5 ./a\n81a4 12 5 b\n",  // one that looks as the next file
		"81a4 12 5 ./..\n",             // which leads out
		"81a4 12 5 ./a/b\n",            // likewise
		"81a4 12 5 ./\n",               // no name
		"81a4 -1 5 ./a\n",              // no size
		"81a4 9999999999999999999 5 a", // likewise
		"xyz 1 5 ./a\n", "81a4 1 ./a\n", "\n",
	} {
		if got, err := parseList(bad); !errors.Is(err, ErrProtocol) {
			t.Errorf("%q: %v, %v", bad, got, err)
		}
	}
}

func FuzzParseList(f *testing.F) {
	f.Add("81a4 12 1000000000 ./a b\n41ed 4096 5 ./d\n")
	f.Add("81a4 12 5 ./a\nb\n")
	f.Add("a1ff 3 6 ./../l\n")
	f.Fuzz(func(t *testing.T, out string) {
		all, err := parseList(out)
		if err != nil {
			return
		}
		for _, e := range all {
			if !IsElement(e.Name) || strings.Contains(e.Name, "\n") || e.Size < 0 {
				t.Errorf("%+v of %q", e, out)
			}
		}
	})
}

func TestRetryable(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false}, {errors.New("x"), false}, {ErrDropped, true}, {errors.Join(errors.New("x"), ErrDropped), true},
		{&ExitError{Code: 1}, false}, {&FileError{Op: "push"}, false}, {passing(true), true}, {passing(false), false},
	} {
		if got := Retryable(c.err); got != c.want {
			t.Errorf("%v: %v", c.err, got)
		}
	}
}

// passing is an error that says whether it goes away.
type passing bool

func (passing) Error() string   { return "x" }
func (p passing) Passing() bool { return bool(p) }

// TestWords: what a device says is in errors short, and does nothing to a terminal.
func TestWords(t *testing.T) {
	if got := Words(" said\x1b[2J\xff\n\ttwice \n"); got != "said.[2J.\n\ttwice" {
		t.Errorf("%q", got)
	}
	if got := Words(strings.Repeat("x", 1<<20) + "the end"); len(got) > maxWords+8 || !strings.HasSuffix(got, "the end") {
		t.Errorf("%d bytes", len(got))
	}
}
