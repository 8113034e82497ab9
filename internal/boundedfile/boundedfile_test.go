package boundedfile_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"

	"github.com/hexmage/hexmage/internal/boundedfile"
)

func TestRead(t *testing.T) {
	const limit = 4096
	for name, size := range map[string]int{"empty": 0, "small": 3, "at the limit": limit, "over it": limit + 1,
		"far over it": 3 * limit} {
		t.Run(name, func(t *testing.T) {
			text := strings.Repeat("x", size)
			at := filepath.Join(t.TempDir(), "f")
			if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			for called, read := range map[string]func() ([]byte, error){
				at: func() ([]byte, error) { return boundedfile.Read(at, limit) },
				"a/f": func() ([]byte, error) {
					return boundedfile.ReadFS(fstest.MapFS{"a/f": {Data: []byte(text)}}, "a/f", limit)
				},
				"it": func() ([]byte, error) {
					return boundedfile.ReadAll(iotest.HalfReader(strings.NewReader(text)), "it", limit)
				},
			} {
				got, err := read()
				if size <= limit {
					if err != nil || string(got) != text {
						t.Errorf("%s: %d bytes, %v", called, len(got), err)
					}
					continue
				}
				var large *boundedfile.LargeError
				if !errors.As(err, &large) || got != nil || err.Error() != called+" is larger than 4096 bytes" {
					t.Errorf("%s: %d bytes, %v", called, len(got), err)
				}
			}
		})
	}
	if _, err := boundedfile.Read(filepath.Join(t.TempDir(), "none"), limit); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := boundedfile.ReadFS(fstest.MapFS{}, "none", limit); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if b, err := boundedfile.ReadAll(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("xyz"))), "it",
		limit); !errors.Is(err, iotest.ErrTimeout) || b != nil {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := boundedfile.ReadAll(endless{}, "it", limit); err == nil {
		t.Error("all of what has no end is read")
	}
}

// TestUntil: what has no end is read until the context ends, and the error is its cause.
func TestUntil(t *testing.T) {
	over := errors.New("nobody waits any more")
	ctx, cancel := context.WithCancelCause(t.Context())
	r := boundedfile.Until(ctx, endless{})
	if n, err := r.Read(make([]byte, 8)); n != 8 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	cancel(over)
	if n, err := r.Read(make([]byte, 8)); n != 0 || !errors.Is(err, over) {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// endless is a reader without an end.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

var _ io.Reader = endless{}
