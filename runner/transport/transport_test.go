package transport

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

func TestParseFiles(t *testing.T) {
	got, err := parseFiles("41ed 4096 .\n81a4 12 ./a b\n41ed 4096 ./d\na1ff 3 ./d/l\n1180 0 ./pipe\n")
	want := []File{
		{".", fs.ModeDir | 0o755, 4096}, {"a b", 0o644, 12}, {"d", fs.ModeDir | 0o755, 4096},
		{"d/l", fs.ModeSymlink | 0o777, 3}, {"pipe", fs.ModeIrregular | 0o600, 0},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Fatal(got, err)
	}
	for _, bad := range []string{
		"81a4 12 ./a\nb\n",               // a line end in a name
		"81a4 1 ./a\n81a4 12 ./../b\n",   // looks like the next file
		"81a4 12 ./..\n",                 // outside of the folder
		"81a4 12 /etc/passwd\n",          // outside of the folder
		"81a4 -1 ./a\n",                  // invalid size
		"81a4 9999999999999999999 ./a\n", // invalid size
		"xyz 1 ./a\n", "81a4 ./a\n", "\n",
	} {
		if got, err := parseFiles(bad); !errors.Is(err, ErrProtocol) {
			t.Errorf("%q: %v, %v", bad, got, err)
		}
	}
}

// failing is a device on which each command fails.
type failing struct {
	Device
	code int
	said string
}

func (f failing) Place() Place { return Place{} }

func (f failing) Shell(_ context.Context, _ string, s Streams) (int, error) {
	_, err := io.WriteString(s.Stderr, f.said)
	return f.code, err
}

// TestFindThatFails: a folder still exists if a file disappears while the device lists it.
func TestFindThatFails(t *testing.T) {
	_, err := Find(t.Context(), failing{code: 1, said: "stat: './out/x.tmp': No such file or directory"}, "/run", "out")
	if err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "x.tmp") {
		t.Error(err)
	}
	if _, err = Find(t.Context(), failing{code: notThere}, "/run", "out"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func FuzzParseFiles(f *testing.F) {
	f.Add("81a4 12 ./a b\n41ed 4096 ./d\n")
	f.Add("81a4 12 ./a\nb\n")
	f.Add("a1ff 3 ./../l\n")
	f.Fuzz(func(t *testing.T, out string) {
		all, err := parseFiles(out)
		if err != nil {
			return
		}
		for _, e := range all {
			if !fs.ValidPath(e.Name) || strings.Contains(e.Name, "\n") || e.Size < 0 {
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
		{&ExitError{Code: 1}, false}, {passing(true), true}, {passing(false), false},
	} {
		if got := Retryable(c.err); got != c.want {
			t.Errorf("%v: %v", c.err, got)
		}
	}
}

// passing is an error that reports whether a retry may help.
type passing bool

func (passing) Error() string   { return "x" }
func (p passing) Passing() bool { return bool(p) }

// TestWords: output of a device is short and printable in errors.
func TestWords(t *testing.T) {
	if got := Sanitize(" said\x1b[2J\xff\n\ttwice \n"); got != "said.[2J.\n\ttwice" {
		t.Errorf("%q", got)
	}
	if got := Sanitize(strings.Repeat("x", 1<<20) + "the end"); len(got) > maxWords+8 || !strings.HasSuffix(got, "the end") {
		t.Errorf("%d bytes", len(got))
	}
}
