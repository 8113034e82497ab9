package cas_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/cas"
	"github.com/hexmage/hexmage/internal/cas/castest"
	"github.com/hexmage/hexmage/internal/cas/disk"
	"github.com/hexmage/hexmage/internal/cas/memory"
	"github.com/hexmage/hexmage/internal/digest"
)

const fn = digest.BLAKE3

func stores(t *testing.T) map[string]cas.Store {
	t.Helper()
	d, err := disk.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return map[string]cas.Store{"memory": memory.New(), "disk": d}
}

func TestSourcesIsAStore(t *testing.T) {
	for name := range stores(t) {
		t.Run(name, func(t *testing.T) {
			castest.Run(t, func(t *testing.T) cas.Store { return cas.WithSources(stores(t)[name]) })
		})
	}
}

func readAll(ctx context.Context, s cas.Store, d digest.Digest) ([]byte, error) {
	r, err := s.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func TestSources(t *testing.T) {
	for _, size := range []int{0, 1000, 3 << 20} {
		for name, next := range stores(t) {
			dir := t.TempDir()
			path, b := filepath.Join(dir, "model.bin"), castest.Bytes(int64(size), size)
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
			s, d := cas.WithSources(next), fn.Bytes(b)
			s.Add(d, path)
			other := fn.Bytes([]byte("other"))
			if m, err := s.Missing(t.Context(), []digest.Digest{d, other}); err != nil || len(m) != 1 || m[0] != other {
				t.Errorf("%s: Missing %v, %v", name, m, err)
			}
			if m, err := next.Missing(t.Context(), []digest.Digest{d}); err != nil || len(m) != 1 {
				t.Errorf("%s: the file was copied into the store without need: %v", name, err)
			}
			if got, err := readAll(t.Context(), s, d); err != nil || !bytes.Equal(got, b) {
				t.Errorf("%s: read %d bytes, %v", name, len(got), err)
			}
			for i, executable := range []bool{false, true} {
				to := filepath.Join(dir, "link"+string(rune('0'+i)))
				err := s.Link(t.Context(), d, to, executable)
				if name == "memory" && errors.Is(err, errors.ErrUnsupported) {
					continue
				}
				got, rerr := os.ReadFile(to)
				st, serr := os.Stat(to)
				if err := errors.Join(err, rerr, serr); err != nil || !bytes.Equal(got, b) || st.Mode()&0o111 != 0 != executable || st.Mode()&0o222 != 0 {
					t.Errorf("%s: linked %d bytes, %v, mode %v", name, len(got), err, st.Mode())
				}
				orig, err := os.Stat(path)
				if err != nil || os.SameFile(orig, st) {
					t.Errorf("%s: the workspace's file itself is in the exec root, %v", name, err)
				}
			}
		}
	}
}

func TestSourceChanged(t *testing.T) {
	for name, next := range stores(t) {
		for _, size := range []int{1000, 3 << 20} {
			for what, change := range map[string]func(string) error{
				"content": func(p string) error { return os.WriteFile(p, castest.Bytes(99, size), 0o644) },
				"shorter": func(p string) error { return os.Truncate(p, int64(size-1)) },
				"removed": os.Remove,
			} {
				dir := t.TempDir()
				path, b := filepath.Join(dir, "ops.cpp"), castest.Bytes(int64(size), size)
				if err := os.WriteFile(path, b, 0o644); err != nil {
					t.Fatal(err)
				}
				s, d := cas.WithSources(next), fn.Bytes(b)
				s.Add(d, path)
				if err := change(path); err != nil {
					t.Fatal(err)
				}
				check := func(op string, err error) {
					t.Helper()
					var changed *cas.ChangedError
					if !errors.As(err, &changed) || changed.Path != path || !errors.Is(err, cas.ErrCorrupt) || !strings.Contains(err.Error(), "ops.cpp changed during the build") {
						t.Errorf("%s, %s, %s: error %v, want a ChangedError that names the file", name, what, op, err)
					}
				}
				_, err := readAll(t.Context(), s, d)
				check("Open", err)
				to := filepath.Join(dir, "link")
				if err := s.Link(t.Context(), d, to, false); !errors.Is(err, errors.ErrUnsupported) {
					check("Link", err)
				}
				if _, err := os.Lstat(to); err == nil {
					t.Errorf("%s, %s: a file was made", name, what)
				}
			}
		}
	}
}

// What is held is there for readers, by its digest, as long as somebody holds it; and still is missing.
func TestSourcesHold(t *testing.T) {
	s := cas.WithSources(memory.New())
	b := []byte("message")
	d := fn.Bytes(b)
	held := map[digest.Digest][]byte{d: b}
	first := s.Hold(held)
	second := s.Hold(held)
	first()
	first()
	if got, err := readAll(t.Context(), s, d); err != nil || !bytes.Equal(got, b) {
		t.Errorf("held: %q, %v", got, err)
	}
	if m, err := s.Missing(t.Context(), []digest.Digest{d}); err != nil || len(m) != 1 {
		t.Errorf("what is only held counts as stored: %v, %v", m, err)
	}
	second()
	if _, err := readAll(t.Context(), s, d); !errors.Is(err, cas.ErrNotFound) {
		t.Errorf("no longer held: %v, want ErrNotFound", err)
	}
}

// What is kept beside a result is found by the action's key, and then by its own digest.
func TestSourcesFind(t *testing.T) {
	s := cas.WithSources(memory.New())
	key, other := fn.Bytes([]byte("action")), fn.Bytes([]byte("command"))
	s.FindWith(func(_ context.Context, d digest.Digest) (map[digest.Digest][]byte, error) {
		if d != key {
			return nil, cas.ErrNotFound
		}
		return map[digest.Digest][]byte{key: []byte("action"), other: []byte("command")}, nil
	})
	if _, err := readAll(t.Context(), s, other); !errors.Is(err, cas.ErrNotFound) {
		t.Errorf("before the key was asked for: %v, want ErrNotFound", err)
	}
	for d, want := range map[digest.Digest]string{key: "action"} {
		if got, err := readAll(t.Context(), s, d); err != nil || string(got) != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	if got, err := readAll(t.Context(), s, other); err != nil || string(got) != "command" {
		t.Errorf("%q, %v", got, err)
	}
}
