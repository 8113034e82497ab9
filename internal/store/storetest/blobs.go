// Package storetest contains the conformance suites for implementations of store.Blobs, store.Local and store.Results.
// The suites Blobs and Results are for all stores. The suite Reads is for a store that has content other than from Put.
// The suite Decorator is for a store that wraps another store.
//
// Each suite takes the type name of the implementation, as %T prints it. TestSeams in package archtest collects these
// names, and reports types that no suite tests.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
)

// Blobs tests the store that the function open returns. Each call of open must return a new, empty store.
func Blobs(t *testing.T, name string, open func(t *testing.T) store.Blobs) {
	is(t, name, open(t))
	for _, fn := range []digest.Function{digest.BLAKE3, digest.SHA256} {
		t.Run(fn.String(), func(t *testing.T) {
			for _, c := range []struct {
				name string
				run  func(*testing.T, store.Blobs, digest.Function)
			}{
				{"round trip", roundTrip},
				{"not found", notFound},
				{"missing", missing},
				{"readers at once", readersAtOnce},
				{"wrong digest", wrongDigest},
				{"broken reader", brokenReader},
				{"same blob at once", sameBlobAtOnce},
				{"canceled", canceled},
				{"files", files},
			} {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					c.run(t, open(t), fn)
				})
			}
		})
	}
}

// is reports an error if the type of v is not the named one.
func is(t *testing.T, name string, v any) {
	t.Helper()
	if got := fmt.Sprintf("%T", v); got != name {
		t.Fatalf("the suite checks a %s, but got a %s", got, name)
	}
}

// BlobsDamage tests how a store handles corrupt blobs. The function open returns the store, and a function that
// replaces the stored content of the blob d.
func BlobsDamage(t *testing.T, open func(t *testing.T) (store.Blobs, func(d digest.Digest, b []byte))) {
	content := Bytes(1, 3<<20)
	flipped := bytes.Clone(content)
	flipped[2<<20] ^= 1
	for name, b := range map[string][]byte{
		"flipped bit": flipped,
		"truncated":   content[:len(content)-1],
		"longer":      append(bytes.Clone(content), 0),
		"emptied":     {},
	} {
		for _, fn := range []digest.Function{digest.BLAKE3, digest.SHA256} {
			t.Run(name+"/"+fn.String(), func(t *testing.T) {
				ctx := t.Context()
				s, damage := open(t)
				d := fn.Bytes(content)
				put(t, s, fn, content)
				damage(d, b)
				if got, err := read(ctx, s, d); err == nil {
					t.Fatalf("read %d damaged bytes without an error", len(got))
				} else if !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrNotFound) {
					t.Fatalf("error %v, want ErrCorrupt or ErrNotFound", err)
				}
				if m, err := s.Missing(ctx, []digest.Digest{d}); err != nil || len(m) != 1 {
					t.Fatalf("Missing returns %v and error %v after damage, want the blob", m, err)
				}
				put(t, s, fn, content)
				if got, err := read(ctx, s, d); err != nil || !bytes.Equal(got, content) {
					t.Fatalf("after it was put again: %d bytes, %v", len(got), err)
				}
			})
		}
	}
}

// Bytes returns n pseudorandom bytes, which depend only on the seed.
func Bytes(seed int64, n int) []byte {
	b := make([]byte, n)
	rand.New(rand.NewSource(seed)).Read(b)
	return b
}

func put(t *testing.T, s store.Blobs, fn digest.Function, b []byte) digest.Digest {
	t.Helper()
	d := fn.Bytes(b)
	if err := s.Put(t.Context(), d, bytes.NewReader(b)); err != nil {
		t.Fatalf("Put %d bytes: %v", len(b), err)
	}
	return d
}

func read(ctx context.Context, s store.Blobs, d digest.Digest) ([]byte, error) {
	r, err := s.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(r)
	return b, errors.Join(err, r.Close())
}

func roundTrip(t *testing.T, s store.Blobs, fn digest.Function) {
	for _, size := range []int{0, 1, 511, 512, 1<<20 - 1, 1 << 20, 1<<20 + 1, store.MinRef + 1} {
		b := Bytes(int64(size), size)
		d := put(t, s, fn, b)
		put(t, s, fn, b) // again
		if got, err := read(t.Context(), s, d); err != nil || !bytes.Equal(got, b) {
			t.Fatalf("%d bytes came back as %d bytes, %v", size, len(got), err)
		}
	}
}

func notFound(t *testing.T, s store.Blobs, fn digest.Function) {
	if _, err := read(t.Context(), s, fn.Bytes([]byte("never put"))); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("error %v, want ErrNotFound", err)
	}
	b := []byte("same hash, other size")
	d := put(t, s, fn, b)
	other, err := digest.New(fn, d.Hex(), d.Size()+1)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := read(t.Context(), s, other); err == nil {
		t.Fatalf("a digest with another size gave %q", got)
	}
	if m, err := s.Missing(t.Context(), []digest.Digest{other}); err != nil || len(m) != 1 {
		t.Fatalf("the store reports a digest with another size as present: %v", err)
	}
	if got, err := read(t.Context(), s, d); err != nil || !bytes.Equal(got, b) {
		t.Fatalf("a wrong digest removed a good blob from the store: %v", err)
	}
}

func missing(t *testing.T, s store.Blobs, fn digest.Function) {
	var all, want []digest.Digest
	for i := range 50 {
		b := Bytes(int64(i), 100)
		if i%3 == 0 {
			put(t, s, fn, b)
		} else {
			want = append(want, fn.Bytes(b))
		}
		all = append(all, fn.Bytes(b))
	}
	all, want = append(all, all[:3]...), append(want, want[:2]...) // some digests twice
	asked := slices.Clone(all)
	got, err := s.Missing(t.Context(), asked)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("Missing returns %v and error %v, want %v", got, err, want)
	}
	clear(got)
	if !slices.Equal(asked, all) {
		t.Fatal("arguments or results of Missing share memory with the store")
	}
	if got, err := s.Missing(t.Context(), nil); err != nil || len(got) != 0 {
		t.Fatalf("Missing of nothing: %v, %v", got, err)
	}
}

func wrongDigest(t *testing.T, s store.Blobs, fn digest.Function) {
	b := Bytes(7, 2<<20)
	for name, said := range map[string][]byte{
		"other content": append([]byte{^b[0]}, b[1:]...),
		"shorter":       b[:len(b)-1],
		"longer":        append(bytes.Clone(b), 1),
		"empty":         {},
	} {
		d := fn.Bytes(said)
		if err := s.Put(t.Context(), d, bytes.NewReader(b)); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%s: Put returns %v, want ErrCorrupt", name, err)
		}
		if m, err := s.Missing(t.Context(), []digest.Digest{d}); err != nil || len(m) != 1 {
			t.Errorf("%s: the store has a blob under the wrong digest: %v", name, err)
		}
	}
}

func brokenReader(t *testing.T, s store.Blobs, fn digest.Function) {
	b := Bytes(8, 1<<20)
	broken := errors.New("the line dropped")
	d := fn.Bytes(b)
	err := s.Put(t.Context(), d, io.MultiReader(bytes.NewReader(b[:len(b)/2]), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("Put returns %v, want the error of the reader", err)
	}
	if _, err := read(t.Context(), s, d); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the store has half a blob: %v", err)
	}
}

func sameBlobAtOnce(t *testing.T, s store.Blobs, fn digest.Function) {
	b := Bytes(9, 1<<20)
	d := fn.Bytes(b)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if err := s.Put(t.Context(), d, bytes.NewReader(b)); err != nil {
				t.Errorf("Put: %v", err)
			}
			if got, err := read(t.Context(), s, d); err != nil || !bytes.Equal(got, b) {
				t.Errorf("Open returns %d bytes and error %v, want the whole blob", len(got), err)
			}
		})
	}
	wg.Wait()
}

// readersAtOnce reads a blob alternately through two readers.
func readersAtOnce(t *testing.T, s store.Blobs, fn digest.Function) {
	b := Bytes(12, 300_000)
	d := put(t, s, fn, b)
	var readers [2]io.ReadCloser
	for i := range readers {
		var err error
		if readers[i], err = s.Open(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	var got [2]bytes.Buffer
	for range len(b)/70_000 + 1 {
		for i, r := range readers {
			if _, err := io.CopyN(&got[i], r, 70_000); err != nil && err != io.EOF {
				t.Fatal(err)
			}
		}
	}
	for i, r := range readers {
		if err := r.Close(); err != nil || !bytes.Equal(got[i].Bytes(), b) {
			t.Errorf("reader %d: got %d bytes and error %v, want the whole blob", i, got[i].Len(), err)
		}
	}
}

func canceled(t *testing.T, s store.Blobs, fn digest.Function) {
	over := errors.New("the build is over")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(over)
	b := Bytes(10, 1<<20)
	d := fn.Bytes(b)
	if err := s.Put(ctx, d, bytes.NewReader(b)); !errors.Is(err, over) {
		t.Errorf("Put returns %v, want the cause of the context", err)
	}
	if m, err := s.Missing(t.Context(), []digest.Digest{d}); err != nil || len(m) != 1 {
		t.Errorf("the store has the blob after a canceled Put: %v", err)
	}
	if m, err := s.Missing(ctx, []digest.Digest{d}); !errors.Is(err, over) && (err != nil || len(m) != 1) {
		t.Errorf("Missing returns %v and error %v, want the missing blobs or the cause of the context", m, err)
	}
	if _, err := s.Open(ctx, d); !errors.Is(err, over) && !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Open returns %v, want ErrNotFound or the cause of the context", err)
	}
}

// files brings files into the store and creates files from blobs, with the functions of package store. If the store is
// Local, they call its methods.
func files(t *testing.T, s store.Blobs, fn digest.Function) {
	ctx, dir := t.Context(), t.TempDir()
	for i, size := range []int{0, 1000, store.MinRef + 1, 1000} { // the last one already exists
		b := Bytes(int64(size)+14, size)
		from := filepath.Join(dir, fmt.Sprint("file", i))
		if err := os.WriteFile(from, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			if d, err := store.PutFile(ctx, s, fn, from); err != nil || d != fn.Bytes(b) {
				t.Fatalf("PutFile: %v, %v; want %v", d, err, fn.Bytes(b))
			}
		}
		if d, err := store.Adopt(ctx, s, fn, from); err != nil || d != fn.Bytes(b) {
			t.Fatalf("Adopt: %v, %v; want %v", d, err, fn.Bytes(b))
		}
		layOut(t, s, fn.Bytes(b), b)
	}
	for _, path := range []string{dir, filepath.Join(dir, "none")} {
		if d, err := store.Adopt(ctx, s, fn, path); err == nil {
			t.Errorf("Adopt of %s returns %v, want an error", path, d)
		}
	}
	for name, create := range map[string]func(d digest.Digest, path string) error{
		"Link":     func(d digest.Digest, path string) error { return store.Link(ctx, s, d, path, false) },
		"CopyFile": func(d digest.Digest, path string) error { return store.CopyFile(ctx, s, d, path, 0o644) },
	} {
		path := filepath.Join(dir, name)
		if err := create(fn.Bytes([]byte("never put")), path); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s of a missing blob returns %v, want ErrNotFound", name, err)
		}
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s created a file for a missing blob", name)
		}
	}
}

// layOut creates files from the blob as in an exec root, writes to the writable ones and removes all. The blob must not
// change.
func layOut(t *testing.T, s store.Blobs, d digest.Digest, b []byte) {
	t.Helper()
	dir := t.TempDir()
	for i, perm := range []fs.FileMode{0o444, 0o555, 0o444, 0o555, 0o644, 0o755} {
		path := filepath.Join(dir, fmt.Sprint(i))
		create := func() error { return store.Link(t.Context(), s, d, path, perm&0o111 != 0) }
		if perm&0o222 != 0 {
			create = func() error { return store.CopyFile(t.Context(), s, d, path, perm) }
		}
		if err := create(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, b) {
			t.Fatalf("the file has %d bytes, %v; want %d", len(got), err, len(b))
		}
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != perm {
			t.Fatalf("mode %v, %v; want %v", st.Mode(), err, perm)
		}
		if err := create(); !errors.Is(err, fs.ErrExist) {
			t.Errorf("a link over an existing file returns %v, want ErrExist", err)
		}
		if perm&0o222 != 0 {
			if err := os.WriteFile(path, []byte("other"), 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if got, err := read(t.Context(), s, d); err != nil || !bytes.Equal(got, b) {
			t.Fatalf("after a link with mode %v, the blob has %d bytes, error %v", perm, len(got), err)
		}
	}
}
