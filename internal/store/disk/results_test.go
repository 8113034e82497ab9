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

func TestResultsLayout(t *testing.T) {
	root := t.TempDir()
	c := openResults(t, root)
	for fn, folder := range map[digest.Function]string{digest.BLAKE3: "blake3/ac", digest.SHA256: "ac"} {
		key := fn.Bytes([]byte("k"))
		if err := c.Put(t.Context(), key, storetest.Result(fn, 3), nil); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(root, folder, key.Hex()[:2], key.Hex()))
		if err != nil {
			t.Fatal(err)
		}
		if r, err := action.DecodeResult(b, fn); err != nil || r.ExitCode != 3 {
			t.Fatalf("the file is not an ActionResult: %v, %v", r, err)
		}
	}
}

func TestResultsDamaged(t *testing.T) {
	c := openResults(t, t.TempDir())
	key := digest.BLAKE3.Bytes([]byte("k"))
	want := storetest.Result(digest.BLAKE3, 1)
	put := func() []byte {
		t.Helper()
		if err := c.Put(t.Context(), key, want, nil); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(c.Path(key))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	good := put()
	bad := map[string][]byte{"empty": {}, "no checksum": want.Encode(), "zeros": make([]byte, len(good))}
	for i := range good {
		b := bytes.Clone(good)
		b[i] ^= 1
		bad["flipped "+string(rune('0'+i))] = b
		bad["cut "+string(rune('0'+i))] = good[:i]
	}
	for name, b := range bad {
		if err := os.WriteFile(c.Path(key), b, 0o644); err != nil {
			t.Fatal(err)
		}
		if r, err := c.Get(t.Context(), key); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("%s: got %v, %v; want ErrNotFound", name, r, err)
		}
		if _, err := os.Lstat(c.Path(key)); err == nil {
			t.Fatalf("%s: the damaged entry is still there", name)
		}
	}
	put()
	storetest.Want(t, c, key, want)

	other := digest.BLAKE3.Bytes([]byte("other"))
	if err := os.MkdirAll(filepath.Dir(c.Path(other)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.Path(other), good, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), other); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("a result under another key: %v, want ErrNotFound", err)
	}
}

func TestUseIsRecorded(t *testing.T) {
	c := openResults(t, t.TempDir())
	key := digest.BLAKE3.Bytes([]byte("k"))
	if err := c.Put(t.Context(), key, storetest.Result(digest.BLAKE3, 1), nil); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(c.Path(key), old, old); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(c.Path(key)); err != nil || time.Since(st.ModTime()) > time.Hour {
		t.Fatalf("time of last use is %v, %v", st.ModTime(), err)
	}
}

func FuzzEntry(f *testing.F) {
	key := digest.BLAKE3.Bytes([]byte("k"))
	root := f.TempDir()
	c := openResults(f, root)
	if err := c.Put(f.Context(), key, storetest.Result(digest.BLAKE3, 1), nil); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(c.Path(key))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(c.Path(key), b, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := c.Get(t.Context(), key)
		if bytes.Equal(b, good) != (err == nil) {
			t.Fatalf("entry %x: %v", b, err)
		}
	})
}

// A result's file tells its key by the Action in it.
func TestKeyOf(t *testing.T) {
	for _, fn := range []digest.Function{digest.BLAKE3, digest.SHA256} {
		c := openResults(t, t.TempDir())
		a := &action.Action{Command: action.Command{Args: []string{"cc"}, Outputs: []string{"a.o"}}, InputRoot: fn.Bytes([]byte("directory"))}
		e := a.Encode(fn)
		messages := map[digest.Digest][]byte{e.Key: e.Action, fn.Bytes(e.Command): e.Command, a.InputRoot: []byte("directory"), fn.Bytes(nil): {}}
		if err := c.Put(t.Context(), e.Key, storetest.Result(fn, 1), messages); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(c.Path(e.Key))
		if err != nil {
			t.Fatal(err)
		}
		if key, ok := disk.KeyOf(fn, e.Key.Hex(), b); !ok || key != e.Key {
			t.Errorf("the file is of %v, %v; want %v", key, ok, e.Key)
		}
		if key, ok := disk.KeyOf(fn, a.InputRoot.Hex(), b); ok {
			t.Errorf("the file under another name is of %v", key)
		}
		b[len(b)/2] ^= 1
		if err := os.WriteFile(c.Path(e.Key), b, 0o644); err != nil {
			t.Fatal(err)
		}
		if m, err := c.Messages(t.Context(), e.Key); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("messages of a damaged result: %v, %v", m, err)
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
