package statcache_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/statcache"
	"github.com/hexmage/hexmage/internal/statefile"
)

// A cache that has an entry for a file, with any change to its bytes, never gives the file a wrong digest: it is right,
// or the cache counts as empty and the file is read. With a checksum over the changed bytes, as only somebody who
// can write to the cache would make, nothing crashes.
func FuzzHit(f *testing.F) {
	dir := f.TempDir()
	file, state := filepath.Join(dir, "f"), filepath.Join(dir, "statcache")
	write(f, file, "content")
	want := fn.Bytes([]byte("content"))
	hash := func(t testing.TB, c *statcache.Cache) digest.Digest {
		info, err := os.Lstat(file)
		if err != nil {
			t.Fatal(err)
		}
		d, err := c.Hash(file, stat.Of(info))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	c := statcache.Open(state, fn, soon)
	hash(f, c)
	if err := c.Save(); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(state)
	if err != nil {
		f.Fatal(err)
	}
	if c := statcache.Open(state, fn, soon); hash(f, c) != want || c.Hashed() != 0 {
		f.Fatal("the cache that was saved does not know the file: nothing is tested here")
	}
	value := good[bytes.IndexByte(good, '\n')+1:]
	f.Add(len(good)-33, byte(1), 0, []byte(nil)) // in the digest
	f.Add(30, byte(0x80), 0, []byte(nil))
	f.Add(0, byte(0), 40, []byte("tail"))
	f.Fuzz(func(t *testing.T, at int, change byte, cut int, more []byte) {
		changed := func(b []byte) []byte {
			b = bytes.Clone(b)
			if at >= 0 {
				b[at%len(b)] ^= change
			}
			if cut > 0 {
				b = b[:len(b)-cut%len(b)]
			}
			return append(b, more...)
		}
		p := filepath.Join(t.TempDir(), "statcache")
		write(t, p, string(changed(good)))
		if d := hash(t, statcache.Open(p, fn, soon)); d != want {
			t.Fatalf("digest %v, want %v", d, want)
		}
		if b := changed(value); json.Valid(b) {
			if err := statefile.Write(p, statcache.Kind(), json.RawMessage(b)); err != nil {
				t.Fatal(err)
			}
			hash(t, statcache.Open(p, fn, soon))
		}
	})
}
