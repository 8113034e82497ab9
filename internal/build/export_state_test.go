package build

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"reflect"
	"testing"

	"github.com/zeebo/blake3"

	"github.com/hexmage/hexmage/internal/digest"
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
		if got, ok := decodeExports(encodeExports(want)); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%d: got %v, %v, want %v", n, got, ok, want)
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
		if got, ok := decodeExports(c); flip != 0 && (ok || len(got) != 0) {
			t.Errorf("byte %d flipped by %x: %d outputs known, %v", uint(at)%uint(len(c)), flip, len(got), ok)
		}
		decodeExports(b)
		// Even what has the right checksum is only read as far as it makes sense.
		b = append([]byte(exportsMagic), b...)
		sum := blake3.Sum256(b)
		known, _ := decodeExports(append(b, sum[:]...))
		if again, ok := decodeExports(encodeExports(known)); !ok || !maps.EqualFunc(known, again, func(a, b exported) bool { return reflect.DeepEqual(a, b) }) {
			t.Errorf("%v becomes %v", known, again)
		}
	})
}

// Of a damaged file whose checksum is that of the memo, nobody learns that no output has to stand.
func TestDamagedExportsDoNotStand(t *testing.T) {
	o := Options{Fn: digest.BLAKE3, Out: t.TempDir(), State: t.TempDir()}
	good := encodeExports(map[string]exported{"out": {id: "x", files: []fileStamp{{"", stat.Stamp{Inode: 7}}}}})
	write := func(b []byte) {
		t.Helper()
		if err := os.WriteFile(o.exportsFile(), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(encodeExports(nil))
	if !o.standAsLeft(o.exportsSum()) {
		t.Error("no outputs do not stand")
	}
	write(good)
	sum := o.exportsSum()
	for i := range len(good) - 32 {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		write(bad)
		if o.standAsLeft(sum) {
			t.Fatalf("with byte %d damaged, an output that is gone stands", i)
		}
	}
}
