package disk_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/store/pack"
	"github.com/hexmage/hexmage/internal/store/storetest"
)

func openResults(t testing.TB, root string) *disk.Results {
	t.Helper()
	c, err := disk.NewResults(root)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestResults(t *testing.T) {
	storetest.Results(t, "*disk.Results", func(t *testing.T) store.Results { return openResults(t, t.TempDir()) })
}

// All results are in one file, whatever function their keys are of.
func TestResultsLayout(t *testing.T) {
	root := t.TempDir()
	c := openResults(t, root)
	keys := map[digest.Digest]bool{}
	for _, fn := range []digest.Function{digest.BLAKE3, digest.SHA256} {
		key := fn.Bytes([]byte("k"))
		keys[key] = true
		if err := c.Put(t.Context(), key, storetest.Result(fn, 3), nil); err != nil {
			t.Fatal(err)
		}
	}
	p := filepath.Join(root, "results", "pack")
	l, err := pack.Open(p, t.TempDir()).List(t.Context())
	if st, serr := os.Stat(p); err != nil || serr != nil || len(l.Records) != 2 || st.Size() != l.Records[0].Size+l.Records[1].Size+l.Waste {
		t.Fatalf("%+v, %v, %v", l, err, serr)
	}
	for _, r := range l.Records {
		b, err := r.Read()
		if err != nil || !keys[r.Key] {
			t.Fatal(r.Key, err)
		}
		if r, err := action.DecodeResult(b, r.Key.Function()); err != nil || r.ExitCode != 3 {
			t.Fatalf("the record is not an ActionResult: %v, %v", r, err)
		}
	}
}

// Wherever its record is damaged, a result is not found, and the next one that is put is.
func TestResultsDamaged(t *testing.T) {
	root := t.TempDir()
	c := openResults(t, root)
	key, other := digest.BLAKE3.Bytes([]byte("k")), digest.BLAKE3.Bytes([]byte("other"))
	want := storetest.Result(digest.BLAKE3, 1)
	messages := map[digest.Digest][]byte{digest.BLAKE3.Bytes([]byte("m")): []byte("m")}
	for _, k := range []digest.Digest{key, other} {
		if err := c.Put(t.Context(), k, want, messages); err != nil {
			t.Fatal(err)
		}
	}
	l, err := disk.OpenPack(root).List(t.Context())
	p := filepath.Join(root, "results", "pack")
	good, rerr := os.ReadFile(p)
	if err := errors.Join(err, rerr); err != nil {
		t.Fatal(err)
	}
	for i := range l.Records[0].Size {
		if i >= 20 && i < 28 { // when it was used
			continue
		}
		b := bytes.Clone(good)
		b[l.Records[0].At+i] ^= 1
		if err := os.WriteFile(p, b, 0o644); err != nil {
			t.Fatal(err)
		}
		c := openResults(t, root)
		if r, err := c.Get(t.Context(), key); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("byte %d: got %v, %v; want ErrNotFound", i, r, err)
		}
		if m, err := c.Messages(t.Context(), key); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("byte %d: messages %v, %v; want ErrNotFound", i, m, err)
		}
		storetest.Want(t, c, other, want)
		if i%16 == 0 {
			if err := c.Put(t.Context(), key, want, nil); err != nil {
				t.Fatal(err)
			}
			storetest.Want(t, c, key, want)
		}
	}
}

// The result of one key, moved to where that of another is, is not taken for it.
func TestResultsMoved(t *testing.T) {
	root := t.TempDir()
	c := openResults(t, root)
	keys := []digest.Digest{digest.BLAKE3.Bytes([]byte("k")), digest.BLAKE3.Bytes([]byte("j"))}
	for _, k := range keys {
		if err := c.Put(t.Context(), k, storetest.Result(digest.BLAKE3, 1), nil); err != nil {
			t.Fatal(err)
		}
	}
	l, err := disk.OpenPack(root).List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := filepath.Join(root, "results", "pack")
	b, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	one, two := l.Records[0], l.Records[1]
	if one.Size != two.Size {
		t.Fatal("they differ in more than their keys")
	}
	copy(b[two.At+two.Size-100:], b[one.At+one.Size-100:one.At+one.Size]) // the end of their content, which is the same
	copy(b[two.At+76:two.At+108], b[one.At+76:one.At+108])                // their checksums, which are not
	if err := os.WriteFile(p, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), keys[1]); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the checksum of another's: %v", err)
	}
}

func TestUseIsRecorded(t *testing.T) {
	root := t.TempDir()
	c := openResults(t, root)
	key := digest.BLAKE3.Bytes([]byte("k"))
	if err := c.Put(t.Context(), key, storetest.Result(digest.BLAKE3, 1), nil); err != nil {
		t.Fatal(err)
	}
	used := func() pack.Record {
		l, err := disk.OpenPack(root).List(t.Context())
		if err != nil || len(l.Records) != 1 {
			t.Fatal(l, err)
		}
		return l.Records[0]
	}
	if err := used().Use(time.Now().Add(-48 * time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if got := used().Used; time.Since(got) > time.Hour {
		t.Fatalf("time of last use is %v", got)
	}
}

func BenchmarkResultsPut(b *testing.B) {
	c := openResults(b, b.TempDir())
	r := storetest.Result(digest.BLAKE3, 1)
	m := map[digest.Digest][]byte{}
	for i := range 4 {
		content := bytes.Repeat([]byte{byte(i)}, 200)
		m[digest.BLAKE3.Bytes(content)] = content
	}
	for i := 0; b.Loop(); i++ {
		if err := c.Put(b.Context(), digest.BLAKE3.Bytes([]byte{byte(i), byte(i >> 8), byte(i >> 16)}), r, m); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkResultsGet(b *testing.B) {
	c := openResults(b, b.TempDir())
	key := digest.BLAKE3.Bytes([]byte("k"))
	if err := c.Put(b.Context(), key, storetest.Result(digest.BLAKE3, 1), nil); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := c.Get(b.Context(), key); err != nil {
			b.Fatal(err)
		}
	}
}
