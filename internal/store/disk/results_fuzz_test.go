package disk_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/zeebo/blake3"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/internal/store/storetest"
)

// No bytes crash the cache, and none are taken for a result but those whose checksum, computed here a second time, is that
// of the key and of all that stands before it. A result whose file has other bytes is not found, and its file is gone.
func FuzzGet(f *testing.F) {
	key, other := digest.BLAKE3.Bytes([]byte("k")), digest.BLAKE3.Bytes([]byte("another"))
	c := openResults(f, f.TempDir())
	if err := c.Put(f.Context(), key, storetest.Result(digest.BLAKE3, 1), nil); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(c.Path(key))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good, 0, byte(0))
	f.Add(good, 5, byte(1))
	f.Add(good[:len(good)-1], 0, byte(0))
	f.Add(append(bytes.Clone(good), good...), 0, byte(0))
	f.Add(good[len(good)-34:], 0, byte(0))
	f.Fuzz(func(t *testing.T, b []byte, at int, change byte) {
		b = bytes.Clone(b)
		if len(b) > 0 && at >= 0 {
			b[at%len(b)] ^= change
		}
		right := false
		if n := len(b) - 32; n > 0 {
			h := blake3.New()
			// The field's tag and length are before the checksum: at most 5 bytes and 1.
			for head := 2; head <= 6 && head <= n && !right; head++ {
				h.Reset()
				io.WriteString(h, key.String())
				h.Write(b[:n-head])
				right = bytes.Equal(h.Sum(nil), b[n:])
			}
		}
		if _, err := disk.Decode(key, b); err == nil && !right {
			t.Fatal("bytes with a wrong checksum are taken for a result")
		}
		if _, err := disk.Decode(other, b); err == nil && right {
			t.Fatal("the result of one key is taken for that of another")
		}
		p := c.Path(key)
		if err := os.WriteFile(p, b, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := c.Get(t.Context(), key)
		if err == nil && !right || err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("Get: %v; the checksum is right: %v", err, right)
		}
		if _, serr := os.Stat(p); err != nil && serr == nil {
			t.Error("a damaged file stays")
		}
	})
}
