package storetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/memory"
)

// Reads checks a store that gets content in another way than by Put. open returns a store that has just this content.
// Put stores, or does nothing and returns errors.ErrUnsupported.
func Reads(t *testing.T, name string, open func(t *testing.T, fn digest.Function, content [][]byte) store.Blobs) {
	for _, fn := range []digest.Function{digest.BLAKE3, digest.SHA256} {
		t.Run(fn.String(), func(t *testing.T) {
			content := [][]byte{{}, Bytes(1, 1), Bytes(2, 100_000), Bytes(3, 2<<20)}
			s := open(t, fn, content)
			is(t, name, s)
			other := fn.Bytes([]byte("other"))
			longer, err := digest.New(fn, fn.Bytes(content[1]).Hex(), 2)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range []digest.Digest{other, longer} {
				if got, err := read(t.Context(), s, d); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("a missing blob has %d bytes, %v; want ErrNotFound", len(got), err)
				}
			}
			ask := []digest.Digest{other}
			for _, b := range content {
				d := fn.Bytes(b)
				ask = append(ask, d, other)
				layOut(t, s, d, b)
			}
			want := slices.Repeat([]digest.Digest{other}, len(content)+1)
			if m, err := s.Missing(t.Context(), ask); err != nil || !slices.Equal(m, want) {
				t.Errorf("Missing: %v, %v; want %v", m, err, want)
			}
			err = s.Put(t.Context(), other, bytes.NewReader([]byte("other")))
			if err != nil && !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("Put: %v", err)
			}
			if m, merr := s.Missing(t.Context(), ask[:1]); merr != nil || (len(m) == 0) != (err == nil) {
				t.Errorf("Put returned %v, then Missing returned %v, %v", err, m, merr)
			}
		})
	}
}

// Decorator checks that the store which wrap makes passes calls for unknown blobs on to the next store, with their
// context, returns its errors, and is a store.Local over a store.Local.
func Decorator(t *testing.T, name string, wrap func(next store.Blobs) store.Blobs) {
	until := time.Now().Add(time.Hour)
	ctx, cancel := context.WithDeadline(t.Context(), until)
	defer cancel()
	d := digest.BLAKE3.Bytes([]byte("blob"))
	for _, want := range []error{errors.New("the disk is gone"), store.ErrCorrupt} {
		next := &failing{err: want, called: func(got context.Context) {
			if end, _ := got.Deadline(); end != until {
				t.Error("the next store is called without the caller's context")
			}
		}}
		s := wrap(next)
		is(t, name, s)
		l, ok := s.(store.Local)
		if !ok {
			t.Fatal("over a store.Local it is none")
		}
		_, oerr := s.Open(ctx, d)
		_, merr := s.Missing(ctx, []digest.Digest{d})
		_, aerr := l.Adopt(ctx, digest.SHA256, "from")
		for method, got := range map[string]error{
			"Open": oerr, "Missing": merr, "Put": s.Put(ctx, d, nil),
			"Adopt": aerr, "Link": l.Link(ctx, d, "to", 0o555),
		} {
			if !errors.Is(got, want) {
				t.Errorf("%s: %v, want the next store's error: %v", method, got, want)
			}
		}
		if r, ok := l.Ref(d); !ok || r.Path != "ref" {
			t.Errorf("Ref: %v, %v; want that of the next store", r, ok)
		}
	}
	l := wrap(memory.NewBlobs()).(store.Local)
	path := filepath.Join(t.TempDir(), "f")
	if err := l.Link(ctx, d, path, 0o444); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Link over a store that is not Local: %v, want ErrUnsupported", err)
	}
	if err := os.WriteFile(path, []byte("blob"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Adopt(ctx, digest.BLAKE3, path); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Adopt over a store that is not Local: %v, want ErrUnsupported", err)
	}
	if r, ok := l.Ref(d); ok {
		t.Errorf("Ref over a store that is not Local: %v", r)
	}
}

// failing is a store whose calls fail.
type failing struct {
	err    error
	called func(context.Context)
}

func (f *failing) fail(ctx context.Context) error {
	f.called(ctx)
	return f.err
}

func (f *failing) Open(ctx context.Context, _ digest.Digest) (io.ReadCloser, error) {
	return nil, f.fail(ctx)
}

func (f *failing) Put(ctx context.Context, _ digest.Digest, _ io.Reader) error { return f.fail(ctx) }

func (f *failing) Missing(ctx context.Context, _ []digest.Digest) ([]digest.Digest, error) {
	return nil, f.fail(ctx)
}

func (f *failing) Link(ctx context.Context, _ digest.Digest, _ string, _ fs.FileMode) error {
	return f.fail(ctx)
}

func (f *failing) Adopt(ctx context.Context, _ digest.Function, _ string) (digest.Digest, error) {
	return digest.Digest{}, f.fail(ctx)
}

func (f *failing) Ref(digest.Digest) (store.Ref, bool) { return store.Ref{Path: "ref"}, true }
