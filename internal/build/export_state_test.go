package build

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"testing"

	"github.com/zeebo/blake3"

	"github.com/hexmage/hexmage/internal/stat"
)

func someExports(n int) map[string]exported {
	known := map[string]exported{}
	for i := range n {
		e := exported{id: fmt.Sprintf("blake3:%064x/4096 false", i), files: []fileStamp{}}
		for j := range i%3 + i%2 {
			e.files = append(e.files, fileStamp{fmt.Sprintf("sub/%d", j), stat.Stamp{Dev: 1, Inode: uint64(i), Size: -1, MTime: 1 << 60, CTime: -5, Mode: 0o100644}})
		}
		e.dir = i%5 == 0
		known[fmt.Sprintf("out-%d", i)] = e
	}
	return known
}

func TestExportsRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 50} {
		want := someExports(n)
		if got := decodeExports(encodeExports(want)); !reflect.DeepEqual(got, want) {
			t.Errorf("%d: got %v, want %v", n, got, want)
		}
	}
}

// Damage leads to nothing being known, never to something else being known.
func FuzzExports(f *testing.F) {
	good := encodeExports(someExports(4))
	f.Add(good, 0, byte(0))
	f.Add(good, 30, byte(1))
	f.Add(good[:40], 0, byte(0))
	f.Add([]byte(exportsMagic), 0, byte(0))
	f.Fuzz(func(t *testing.T, b []byte, at int, flip byte) {
		c := bytes.Clone(good)
		c[uint(at)%uint(len(c))] ^= flip
		if got := decodeExports(c); flip != 0 && len(got) != 0 {
			t.Errorf("byte %d flipped by %x: %d outputs known", uint(at)%uint(len(c)), flip, len(got))
		}
		decodeExports(b)
		// Even what has the right checksum is only read as far as it makes sense.
		b = append([]byte(exportsMagic), b...)
		sum := blake3.Sum256(b)
		known := decodeExports(append(b, sum[:]...))
		if again := decodeExports(encodeExports(known)); !maps.EqualFunc(known, again, func(a, b exported) bool { return reflect.DeepEqual(a, b) }) {
			t.Errorf("%v becomes %v", known, again)
		}
	})
}
