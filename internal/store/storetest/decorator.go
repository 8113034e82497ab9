package storetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/memory"
)

// Reads tests a store that also has content from sources other than Put. The function open returns a store with exactly
// the given content. Put of that store must store the blob, or return errors.ErrUnsupported and store nothing.
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
					t.Errorf("Open of a missing blob returns %d bytes and error %v, want ErrNotFound", len(got), err)
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
				t.Errorf("Missing returns %v and error %v, want %v", m, err, want)
			}
			err = s.Put(t.Context(), other, bytes.NewReader([]byte("other")))
			if err != nil && !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("Put: %v", err)
			}
			if m, merr := s.Missing(t.Context(), ask[:1]); merr != nil || (len(m) == 0) != (err == nil) {
				t.Errorf("Put returns %v, then Missing returns %v and error %v", err, m, merr)
			}
		})
	}
}

// Decorator tests a store that wraps another store. The function wrap returns a store that wraps next. For unknown
// blobs, the wrapping store must call next with the same context, and return next's errors. If next is a store.Local,
// the wrapping store must be a store.Local.
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
			t.Fatal("over a store.Local, the decorator is not Local")
		}
		_, oerr := s.Open(ctx, d)
		_, merr := s.Missing(ctx, []digest.Digest{d})
		_, aerr := l.Adopt(ctx, digest.SHA256, "from")
		for method, got := range map[string]error{
			"Open": oerr, "Missing": merr, "Put": s.Put(ctx, d, nil),
			"Adopt": aerr, "Link": l.Link(ctx, d, "to", true),
		} {
			if !errors.Is(got, want) {
				t.Errorf("%s returns %v, want the error of the next store: %v", method, got, want)
			}
		}
		if r, ok := l.Ref(d); !ok || r.Path != "ref" {
			t.Errorf("Ref returns %v and %v, want the result of the next store", r, ok)
		}
	}
	l := wrap(memory.NewBlobs()).(store.Local)
	path := filepath.Join(t.TempDir(), "f")
	if err := l.Link(ctx, d, path, false); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Link over a store that is not Local returns %v, want ErrUnsupported", err)
	}
	if err := os.WriteFile(path, []byte("blob"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Adopt(ctx, digest.BLAKE3, path); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Adopt over a store that is not Local returns %v, want ErrUnsupported", err)
	}
	if r, ok := l.Ref(d); ok {
		t.Errorf("Ref over a store that is not Local returns %v, want no result", r)
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

func (f *failing) Link(ctx context.Context, _ digest.Digest, _ string, _ bool) error {
	return f.fail(ctx)
}

func (f *failing) Adopt(ctx context.Context, _ digest.Function, _ string) (digest.Digest, error) {
	return digest.Digest{}, f.fail(ctx)
}

func (f *failing) Ref(digest.Digest) (store.Ref, bool) { return store.Ref{Path: "ref"}, true }
