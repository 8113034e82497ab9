package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

// Reads checks a store in which content got in another way than by Put: open returns one that has just this. Put
// either stores, or says errors.ErrUnsupported and does nothing.
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
					t.Errorf("what is not there gives %d bytes, %v; want ErrNotFound", len(got), err)
				}
			}
			ask := []digest.Digest{other}
			for _, b := range content {
				d := fn.Bytes(b)
				ask = append(ask, d, other)
				if got, err := read(t.Context(), s, d); err != nil || !bytes.Equal(got, b) {
					t.Errorf("%d bytes came back as %d bytes, %v", len(b), len(got), err)
				}
			}
			for i, b := range content {
				laysOut(t, s, fn.Bytes(b), b, filepath.Join(t.TempDir(), fmt.Sprint(i)))
			}
			want := slices.Repeat([]digest.Digest{other}, len(content)+1)
			if m, err := s.Missing(t.Context(), ask); err != nil || !slices.Equal(m, want) {
				t.Errorf("Missing: %v, %v; want %v", m, err, want)
			}
			err = s.Put(t.Context(), other, bytes.NewReader([]byte("other")))
			if err != nil && !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("Put: %v", err)
			}
			if m, merr := s.Missing(t.Context(), []digest.Digest{other}); merr != nil || (len(m) == 0) != (err == nil) {
				t.Errorf("after Put said %v, %v is missing, %v", err, m, merr)
			}
		})
	}
}

// laysOut makes files of the blob, as an exec root has them, several times, and writes to those that are to be
// written to: the blob stays what it is.
func laysOut(t *testing.T, s store.Blobs, d digest.Digest, b []byte, path string) {
	t.Helper()
	for i, perm := range []fs.FileMode{0o444, 0o555, 0o444, 0o555, 0o644, 0o755} {
		to := fmt.Sprint(path, i)
		make := func() error { return store.Link(t.Context(), s, d, to, perm&0o111 != 0) }
		if perm&0o222 != 0 {
			make = func() error { return store.CopyFile(t.Context(), s, d, to, perm) }
		}
		if err := make(); err != nil {
			t.Fatal(err)
		}
		linked(t, to, b, perm)
		if err := make(); !errors.Is(err, fs.ErrExist) {
			t.Errorf("over a file: %v, want ErrExist", err)
		}
		if perm&0o222 != 0 {
			if err := os.WriteFile(to, []byte("other"), 0); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := read(t.Context(), s, d); err != nil || !bytes.Equal(got, b) {
			t.Fatalf("after a file with permissions %v was made of it: %d bytes, %v", perm, len(got), err)
		}
	}
}

// Passes says what a decorator keeps to itself on purpose.
type Passes struct {
	NoPut   bool // what is put stays in it
	NoLocal bool // it is no store.Local, whatever is below
}

// Decorator checks what wrap's Blobs pass on to the next store, which are empty of their own: every call that they
// cannot answer, with its context, and what came of it; and, unless they hide it on purpose, what the next one can do
// as a store.Local.
func Decorator(t *testing.T, name string, wrap func(next store.Blobs) store.Blobs, passes Passes) {
	until := time.Now().Add(time.Hour)
	ctx, cancel := context.WithDeadline(t.Context(), until)
	defer cancel()
	d, ref := digest.BLAKE3.Bytes([]byte("blob")), store.Ref{Path: filepath.Join(t.TempDir(), "file")}
	ref.Digest = d
	next := &recorder{Blobs: memory.NewBlobs(), ref: ref, until: until}
	s := wrap(next)
	is(t, name, s)
	for _, err := range []error{nil, errors.New("the disk is gone"), store.ErrCorrupt} {
		next.err = err
		check := func(method string, got error, want ...any) {
			t.Helper()
			if !errors.Is(got, err) || err == nil && got != nil {
				t.Errorf("%s: %v, want what the next store says: %v", method, got, err)
			}
			if call := fmt.Sprint(append([]any{method}, want...)...); len(next.calls) != 1 || next.calls[0] != call {
				t.Errorf("the next store was called with %q, want %q", next.calls, call)
			}
			next.calls = nil
		}
		_, oerr := s.Open(ctx, d)
		check("Open", oerr, d)
		m, merr := s.Missing(ctx, []digest.Digest{d})
		check("Missing", merr, []digest.Digest{d})
		if err == nil && len(m) != 1 {
			t.Errorf("Missing: %v, and the next store misses %v", m, d)
		}
		if !passes.NoPut {
			check("Put", s.Put(ctx, d, nil), d)
		}
		l, ok := s.(store.Local)
		if ok == passes.NoLocal {
			t.Fatalf("over a store.Local it is one: %v; that it hides it on purpose: %v", ok, passes.NoLocal)
		}
		if !ok {
			continue
		}
		check("Link", l.Link(ctx, d, "to", 0o555), d, "to", fs.FileMode(0o555))
		got, aerr := l.Adopt(ctx, digest.SHA256, "from")
		if check("Adopt", aerr, digest.SHA256, "from"); err == nil && got != d {
			t.Errorf("Adopt: %v, want %v", got, d)
		}
		if r, ok := l.Ref(d); !ok || r != ref {
			t.Errorf("Ref: %v, %v; want that of the next store", r, ok)
		}
	}
	l, ok := wrap(memory.NewBlobs()).(store.Local)
	if !ok {
		return
	}
	path := filepath.Join(t.TempDir(), "f")
	if err := l.Link(ctx, d, path, 0o444); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Link over a store that is no Local: %v, want ErrUnsupported", err)
	}
	if err := os.WriteFile(path, []byte("blob"), 0o600); err != nil { // it was not made
		t.Fatal(err)
	}
	if _, err := l.Adopt(ctx, digest.BLAKE3, path); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Adopt over a store that is no Local: %v, want ErrUnsupported", err)
	}
	if r, ok := l.Ref(d); ok {
		t.Errorf("Ref over a store that is no Local: %v", r)
	}
}

// recorder is a store that notes how it is called.
type recorder struct {
	store.Blobs
	until time.Time // when the context of calls ends
	ref   store.Ref
	err   error
	calls []string
}

func (r *recorder) called(ctx context.Context, args ...any) error {
	if until, _ := ctx.Deadline(); until != r.until {
		args = append(args, "without its context")
	}
	r.calls = append(r.calls, fmt.Sprint(args...))
	return r.err
}

func (r *recorder) Open(ctx context.Context, d digest.Digest) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(nil)), r.called(ctx, "Open", d)
}

func (r *recorder) Put(ctx context.Context, d digest.Digest, _ io.Reader) error {
	return r.called(ctx, "Put", d)
}

func (r *recorder) Missing(ctx context.Context, ds []digest.Digest) ([]digest.Digest, error) {
	return ds, r.called(ctx, "Missing", ds)
}

func (r *recorder) Link(ctx context.Context, d digest.Digest, path string, perm fs.FileMode) error {
	return r.called(ctx, "Link", d, path, perm)
}

func (r *recorder) Adopt(ctx context.Context, fn digest.Function, path string) (digest.Digest, error) {
	return r.ref.Digest, r.called(ctx, "Adopt", fn, path)
}

func (r *recorder) Ref(digest.Digest) (store.Ref, bool) { return r.ref, true }
