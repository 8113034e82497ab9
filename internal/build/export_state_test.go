package build

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"testing"

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
		if got, ok := decodeExports((&exports{known: want}).encode()); !ok || !reflect.DeepEqual(got.known, want) {
			t.Errorf("%d: got %v, %v, want %v", n, got, ok, want)
		}
	}
}

// Damage leads to nothing being known, never to something else being known.
func FuzzExports(f *testing.F) {
	good := (&exports{known: someExports(4)}).encode()
	f.Add(good, 0, byte(0))
	f.Add(good, 30, byte(1))
	f.Add(good[:40], 0, byte(0))
	f.Add([]byte(exportsMagic), 0, byte(0))
	f.Fuzz(func(t *testing.T, b []byte, at int, flip byte) {
		c := bytes.Clone(good)
		c[uint(at)%uint(len(c))] ^= flip
		if got, ok := decodeExports(c); flip != 0 && (ok || len(got.known) != 0) {
			t.Errorf("byte %d flipped by %x: %d outputs known, %v", uint(at)%uint(len(c)), flip, len(got.known), ok)
		}
		decodeExports(b)
		// Even what has the right checksum is only read as far as it makes sense.
		block := append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)
		sum := chained([32]byte{}, block)
		x, _ := decodeExports(append(append([]byte(exportsMagic), block...), sum[:]...))
		if again, ok := decodeExports(x.encode()); !ok || !maps.EqualFunc(x.known, again.known, func(a, b exported) bool { return reflect.DeepEqual(a, b) }) {
			t.Errorf("%v becomes %v", x.known, again.known)
		}
	})
}

// Of a damaged file whose checksum is that of the memo, nobody learns that no output has to stand.
func TestDamagedExportsDoNotStand(t *testing.T) {
	o := Options{Fn: digest.BLAKE3, Out: t.TempDir(), State: t.TempDir()}
	good := (&exports{known: map[string]exported{"out": {id: "x", files: []fileStamp{{"", stat.Stamp{Inode: 7}}}}}}).encode()
	write := func(b []byte) {
		t.Helper()
		if err := os.WriteFile(o.exportsFile(), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(newExports().encode())
	if !o.standAsLeft(o.exportsSum()) {
		t.Error("no outputs do not stand")
	}
	write(good)
	sum := o.exportsSum()
	for i := range len(good) - sumSize {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		write(bad)
		if o.standAsLeft(sum) {
			t.Fatalf("with byte %d damaged, an output that is gone stands", i)
		}
	}
}

// What is added to the file, again and again, is what is known in the end; the file stays about as large as it was.
func TestExportsAreAdded(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "exports")
	x := newExports()
	for name, e := range someExports(200) {
		x.set(name, e)
	}
	want := maps.Clone(x.known)
	if err := x.write(dir, file); err != nil {
		t.Fatal(err)
	}
	first, _ := os.Stat(file)
	added := 0
	for i := range 40 {
		x := readExports(file)
		name, e := fmt.Sprintf("out-%d", i), exported{id: fmt.Sprint("again ", i), files: []fileStamp{{"x", stat.Stamp{Inode: uint64(i)}}}}
		x.set(name, e)
		want[name] = e
		gone := fmt.Sprintf("out-%d", 100+i)
		x.remove(gone)
		delete(want, gone)
		before, _ := os.Stat(file)
		if err := x.write(dir, file); err != nil {
			t.Fatal(err)
		}
		after, _ := os.Stat(file)
		if os.SameFile(before, after) {
			added++
		}
		if got := readExports(file).known; !reflect.DeepEqual(got, want) {
			t.Fatalf("round %d: known is\n%v\nwant\n%v", i, got, want)
		}
		if after.Size() > first.Size()*5/4 {
			t.Fatalf("round %d: %d bytes, %d at first", i, after.Size(), first.Size())
		}
	}
	if added < 20 || added == 40 {
		t.Errorf("added to %d times of 40", added)
	}
	b, _ := os.ReadFile(file)
	whole := 0
	for n := range b {
		if _, ok := decodeExports(b[:n]); ok {
			whole++ // it ends where a block ends
		}
	}
	if whole > 40 {
		t.Errorf("%d of the %d beginnings of the file are not noticed", whole, len(b))
	}
}
