package build

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/statefile"
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

// whole is what a file with all of it holds.
func (x *exports) whole() []byte {
	return statefile.Encode(exportsKind(), x.block(slices.Sorted(maps.Keys(x.known))))
}

func parseExports(b []byte) (*exports, error) {
	f, err := statefile.Parse(b, exportsKind())
	if err != nil {
		return nil, err
	}
	return exportsOf(f)
}

func TestExportsRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 50} {
		want := someExports(n)
		if got, err := parseExports((&exports{known: want}).whole()); err != nil || !reflect.DeepEqual(got.known, want) {
			t.Errorf("%d: got %v, %v, want %v", n, got, err, want)
		}
	}
}

// What has a right checksum is only read as far as it makes sense, and then can be written again.
func FuzzExports(f *testing.F) {
	good := (&exports{known: someExports(4)}).block([]string{"out-0", "out-1", "out-3", "gone"})
	f.Add(good)
	f.Add(good[:40])
	f.Fuzz(func(t *testing.T, block []byte) {
		x, err := parseExports(statefile.Encode(exportsKind(), good, block))
		if err != nil {
			return
		}
		if again, err := parseExports(x.whole()); err != nil || !maps.EqualFunc(x.known, again.known, func(a, b exported) bool { return reflect.DeepEqual(a, b) }) {
			t.Errorf("%v becomes %v", x.known, again)
		}
	})
}

// Of a damaged file whose ID is that of the snapshot, nobody learns that no output has to stand.
func TestDamagedExportsDoNotStand(t *testing.T) {
	o := Options{Fn: digest.BLAKE3, Out: t.TempDir(), State: t.TempDir()}
	good := (&exports{known: map[string]exported{"out": {id: "x", files: []fileStamp{{"", stat.Stamp{Inode: 7}}}}}}).whole()
	write := func(b []byte) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(o.exportsFile()), 0o700), os.WriteFile(o.exportsFile(), b, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if !o.checkExports().whole(o.exportsID()) {
		t.Error("no outputs do not stand where nothing is remembered of any")
	}
	write(newExports().whole())
	if !o.checkExports().whole(o.exportsID()) {
		t.Error("no outputs do not stand")
	}
	write(good)
	sum := o.exportsID()
	for i := range len(good) - 32 {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		write(bad)
		if o.checkExports().whole(sum) {
			t.Fatalf("with byte %d damaged, an output that is gone stands", i)
		}
	}
	if err := os.Remove(o.exportsFile()); err != nil || o.checkExports().whole(sum) {
		t.Errorf("with the file removed, an output that is gone stands: %v", err)
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
	if err := x.write(file); err != nil {
		t.Fatal(err)
	}
	first, _ := os.Stat(file)
	added := 0
	for i := range 40 {
		x := knownExports(file)
		name, e := fmt.Sprintf("out-%d", i), exported{id: fmt.Sprint("again ", i), files: []fileStamp{{"x", stat.Stamp{Inode: uint64(i)}}}}
		x.set(name, e)
		want[name] = e
		gone := fmt.Sprintf("out-%d", 100+i)
		x.remove(gone)
		delete(want, gone)
		before, _ := os.Stat(file)
		if err := x.write(file); err != nil {
			t.Fatal(err)
		}
		after, _ := os.Stat(file)
		if os.SameFile(before, after) {
			added++
		}
		if got := knownExports(file).known; !reflect.DeepEqual(got, want) {
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
		if _, err := parseExports(b[:n]); err == nil {
			whole++ // it ends where a block ends
		}
	}
	if whole > 40 {
		t.Errorf("%d of the %d beginnings of the file are not noticed", whole, len(b))
	}
}
