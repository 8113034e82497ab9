package disk_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/actioncache"
	"github.com/hexmage/hexmage/internal/actioncache/actioncachetest"
	"github.com/hexmage/hexmage/internal/actioncache/disk"
	"github.com/hexmage/hexmage/internal/digest"
)

func open(t testing.TB, root string) *disk.Cache {
	t.Helper()
	c, err := disk.New(root)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCache(t *testing.T) {
	actioncachetest.Run(t, func(t *testing.T) actioncache.Cache { return open(t, t.TempDir()) })
}

func TestLayout(t *testing.T) {
	root := t.TempDir()
	c := open(t, root)
	for fn, folder := range map[digest.Function]string{digest.BLAKE3: "blake3/ac", digest.SHA256: "ac"} {
		key := fn.Bytes([]byte("k"))
		if err := c.Put(t.Context(), key, actioncachetest.Result(fn, 3)); err != nil {
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

func TestDamaged(t *testing.T) {
	c := open(t, t.TempDir())
	key := digest.BLAKE3.Bytes([]byte("k"))
	want := actioncachetest.Result(digest.BLAKE3, 1)
	put := func() []byte {
		t.Helper()
		if err := c.Put(t.Context(), key, want); err != nil {
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
		if r, err := c.Get(t.Context(), key); !errors.Is(err, actioncache.ErrNotFound) {
			t.Fatalf("%s: got %v, %v; want ErrNotFound", name, r, err)
		}
		if _, err := os.Lstat(c.Path(key)); err == nil {
			t.Fatalf("%s: the damaged entry is still there", name)
		}
	}
	put()
	actioncachetest.Want(t, c, key, want)

	other := digest.BLAKE3.Bytes([]byte("other"))
	if err := os.MkdirAll(filepath.Dir(c.Path(other)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.Path(other), good, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), other); !errors.Is(err, actioncache.ErrNotFound) {
		t.Fatalf("a result under another key: %v, want ErrNotFound", err)
	}
}

func TestUseIsRecorded(t *testing.T) {
	c := open(t, t.TempDir())
	key := digest.BLAKE3.Bytes([]byte("k"))
	if err := c.Put(t.Context(), key, actioncachetest.Result(digest.BLAKE3, 1)); err != nil {
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
	c := open(f, root)
	if err := c.Put(f.Context(), key, actioncachetest.Result(digest.BLAKE3, 1)); err != nil {
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
