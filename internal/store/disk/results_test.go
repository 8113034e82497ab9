package disk_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/store/layout"
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

func resultFile(root string, key digest.Digest) string {
	return layout.Root(root).File(layout.Results, key)
}

// A result is a read-only file that holds an ActionResult message, where Bazel's disk cache has it.
func TestResultsLayout(t *testing.T) {
	root := t.TempDir()
	c := openResults(t, root)
	for _, fn := range []digest.Function{digest.BLAKE3, digest.SHA256} {
		key := fn.Bytes([]byte("k"))
		if err := c.Put(t.Context(), key, storetest.Result(fn, 3), nil); err != nil {
			t.Fatal(err)
		}
		p := resultFile(root, key)
		st, err := os.Stat(p)
		if err != nil || st.Mode() != 0o444 {
			t.Fatal(st, err)
		}
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := action.DecodeResult(b, fn); err != nil || r.ExitCode != 3 {
			t.Errorf("the file is not an ActionResult: %v, %v", r, err)
		}
		if e, err := disk.ReadResult(p, key.Unsized()); err != nil || e.Key != key {
			t.Errorf("the file does not have the key's size: %+v, %v", e, err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(root, "new")); err != nil || len(left) > 0 {
		t.Errorf("left in new: %v, %v", left, err)
	}
}

func rewrite(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o444); err != nil {
		t.Fatal(err)
	}
}

// A result whose file is damaged or truncated anywhere is missing and quarantined. The next Put replaces it.
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
	p, quarantined := resultFile(root, key), filepath.Join(root, "damaged", "ac-blake3-"+key.Hex())
	good, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	for i := range good {
		flipped := bytes.Clone(good)
		flipped[i] ^= 1
		for name, b := range map[string][]byte{"flipped": flipped, "truncated": good[:i]} {
			rewrite(t, p, b)
			if m, err := c.Messages(t.Context(), key); !errors.Is(err, store.ErrNotFound) {
				t.Fatalf("%s at byte %d: messages %v, %v; want ErrNotFound", name, i, m, err)
			}
			if r, err := c.Get(t.Context(), key); !errors.Is(err, store.ErrNotFound) {
				t.Fatalf("%s at byte %d: got %v, %v; want ErrNotFound", name, i, r, err)
			}
			if moved, err := os.ReadFile(quarantined); err != nil || !bytes.Equal(moved, b) {
				t.Fatalf("%s at byte %d: not quarantined: %v", name, i, err)
			}
		}
	}
	if err := c.Put(t.Context(), key, want, nil); err != nil {
		t.Fatal(err)
	}
	storetest.Want(t, c, key, want)
	storetest.Want(t, c, other, want)
}

// The file of one key under the name of another key is corrupt.
func TestResultsMoved(t *testing.T) {
	root := t.TempDir()
	c := openResults(t, root)
	one, two := digest.BLAKE3.Bytes([]byte("k")), digest.BLAKE3.Bytes([]byte("j"))
	for _, k := range []digest.Digest{one, two} {
		if err := c.Put(t.Context(), k, storetest.Result(digest.BLAKE3, 1), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(resultFile(root, one), resultFile(root, two)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), two); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the result of another key: %v", err)
	}
}

func TestUseIsRecorded(t *testing.T) {
	root := t.TempDir()
	c := openResults(t, root)
	key := digest.BLAKE3.Bytes([]byte("k"))
	if err := c.Put(t.Context(), key, storetest.Result(digest.BLAKE3, 1), nil); err != nil {
		t.Fatal(err)
	}
	used := func() time.Time {
		st, err := os.Stat(resultFile(root, key))
		if err != nil {
			t.Fatal(err)
		}
		return st.ModTime()
	}
	for _, ago := range []time.Duration{48 * time.Hour, 30 * time.Minute} {
		then := time.Now().Add(-ago)
		if err := os.Chtimes(resultFile(root, key), then, then); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Get(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		if recorded := !used().Equal(then); recorded != (ago > time.Hour) {
			t.Errorf("used %v ago: recorded %v", ago, recorded)
		}
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
		if err := c.Put(b.Context(), digest.BLAKE3.Bytes([]byte{byte(i), byte(i >> 8), byte(i >> 16)}), r,
			m); err != nil {
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
