package statefile_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/stat"
	"github.com/hexmage/hexmage/internal/statefile"
)

func kind() statefile.Kind { return statefile.Kind{Name: "test", Version: 3, Max: 1 << 20} }

func blocks(f *statefile.File) (all []string) {
	if f != nil {
		for _, b := range f.Blocks {
			all = append(all, string(b))
		}
	}
	return all
}

func TestWriteAndRead(t *testing.T) {
	for _, put := range []func(string, statefile.Kind, ...[]byte) error{statefile.Write, statefile.Commit} {
		dir := t.TempDir()
		path := filepath.Join(dir, "new", "file")
		for _, want := range [][]string{{"one"}, {"", "two", "three"}} {
			var parts [][]byte
			for _, s := range want {
				parts = append(parts, []byte(s))
			}
			if err := put(path, kind(), parts...); err != nil {
				t.Fatal(err)
			}
			f, err := statefile.Read(path, kind())
			if err != nil || !reflect.DeepEqual(blocks(f), want) {
				t.Errorf("read %q, %v; want %q", blocks(f), err, want)
			}
			b, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(b, statefile.Encode(kind(), parts...)) {
				t.Errorf("Encode is not what is in the file: %v", err)
			}
			if id, err := statefile.ReadID(path); err != nil || id != f.ID() || id.Size() != int64(len(b)) {
				t.Errorf("ID %v, %v; want %v", id, err, f.ID())
			}
		}
		if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
			t.Errorf("beside the file there is something: %v, %v", left, err)
		}
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", st.Mode(), err)
		}
		shared := kind()
		shared.Shared = true
		if err := put(path, shared, []byte("x")); err != nil {
			t.Fatal(err)
		}
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o644 {
			t.Errorf("%v, %v", st.Mode(), err)
		}
	}
}

func TestNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none")
	if _, err := statefile.Read(path, kind()); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := statefile.ReadID(path); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := statefile.Read(path, kind()); err == nil {
		t.Error("a folder was read")
	}
}

// What is of another kind or version is no file of this one, also where everything else is the same.
func TestOtherKinds(t *testing.T) {
	b := statefile.Encode(kind(), []byte("block"))
	for _, k := range []statefile.Kind{{Name: "tes", Version: 3}, {Name: "test", Version: 33}, {Name: "test", Version: 2}, {Name: "other", Version: 3}} {
		k.Max = 1 << 20
		if f, err := statefile.Parse(b, k); f != nil || !errors.Is(err, statefile.ErrDamaged) {
			t.Errorf("%+v: %q, %v", k, blocks(f), err)
		}
		// Nor does a block of it count under another first line.
		head := bytes.IndexByte(statefile.Encode(k, nil), '\n') + 1
		mixed := append(bytes.Clone(statefile.Encode(k, nil)[:head]), b[bytes.IndexByte(b, '\n')+1:]...)
		if f, err := statefile.Parse(mixed, k); f != nil || !errors.Is(err, statefile.ErrDamaged) {
			t.Errorf("%+v: %q, %v", k, blocks(f), err)
		}
	}
	for _, b := range [][]byte{nil, []byte("hexmage snapshot 5\n"), bytes.SplitAfter(b, []byte("\n"))[0]} {
		if f, err := statefile.Parse(b, kind()); f != nil || !errors.Is(err, statefile.ErrDamaged) {
			t.Errorf("%q: %q, %v", b, blocks(f), err)
		}
	}
}

// Every changed bit and every missing end is noticed, and what stands before it is as it was written.
func TestDamage(t *testing.T) {
	want := []string{"one", "", "three is longer"}
	b := statefile.Encode(kind(), []byte(want[0]), []byte(want[1]), []byte(want[2]))
	ends := 0
	check := func(what string, b []byte) {
		f, err := statefile.Parse(b, kind())
		if err == nil {
			if ends++; len(f.Blocks) == len(want) {
				t.Errorf("%s: nobody noticed", what)
			}
		} else if !errors.Is(err, statefile.ErrDamaged) {
			t.Errorf("%s: %v", what, err)
		}
		if got := blocks(f); len(got) > len(want) || len(got) > 0 && !reflect.DeepEqual(got, want[:len(got)]) {
			t.Errorf("%s: read %q", what, got)
		}
	}
	for i := range b {
		for bit := range 8 {
			bad := bytes.Clone(b)
			bad[i] ^= 1 << bit
			check(fmt.Sprintf("bit %d of byte %d", bit, i), bad)
		}
		check(fmt.Sprintf("cut to %d", i), b[:i])
	}
	if ends != 2 {
		t.Errorf("%d beginnings count as files, want those that end with the first and the second block", ends)
	}
	check("longer", append(bytes.Clone(b), 0))
	// Blocks do not change places.
	head := bytes.IndexByte(b, '\n') + 1
	first, second := b[head:head+4+3+32], b[head+4+3+32:head+4+3+32+4+32]
	check("exchanged", append(append(append(bytes.Clone(b[:head]), second...), first...), b[head+len(first)+len(second):]...))
}

func TestMax(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	k := kind()
	b := statefile.Encode(k, make([]byte, 100))
	k.Max = int64(len(b))
	if err := statefile.Write(path, k, make([]byte, 101)); !errors.Is(err, statefile.ErrNoRoom) {
		t.Errorf("too large: %v", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 0 {
		t.Errorf("left are %v", left)
	}
	if err := statefile.Write(path, k, make([]byte, 100)); err != nil {
		t.Error(err)
	}
	k.Max--
	if _, err := statefile.Read(path, k); !errors.Is(err, statefile.ErrDamaged) {
		t.Errorf("read what is too large: %v", err)
	}
	if _, err := statefile.Parse(b, k); !errors.Is(err, statefile.ErrDamaged) {
		t.Errorf("took what is too large: %v", err)
	}
}

func TestAppend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	first := bytes.Repeat([]byte("x"), 10_000)
	if err := statefile.Write(path, kind(), first); err != nil {
		t.Fatal(err)
	}
	want := []string{string(first)}
	for i := 0; ; i++ {
		f, err := statefile.Read(path, kind())
		if err != nil || !reflect.DeepEqual(blocks(f), want) {
			t.Fatalf("%d: %v, %d blocks", i, err, len(f.Blocks))
		}
		block := fmt.Sprint("block ", i)
		err = f.Append(path, []byte(block))
		if errors.Is(err, statefile.ErrNoRoom) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if want = append(want, block); !reflect.DeepEqual(blocks(f), want) {
			t.Fatalf("%d: the File does not know what it added", i)
		}
		if id, err := statefile.ReadID(path); err != nil || id != f.ID() {
			t.Fatalf("%d: ID %v, %v, want %v", i, id, err, f.ID())
		}
	}
	if st, err := os.Stat(path); err != nil || len(want) < 10 || st.Size() > 11_000 {
		t.Errorf("%d blocks in %d bytes, %v", len(want), st.Size(), err)
	}
	// Two that read the same: the second to add finds another file.
	if err := statefile.Write(path, kind(), first); err != nil {
		t.Fatal(err)
	}
	one, err1 := statefile.Read(path, kind())
	two, err2 := statefile.Read(path, kind())
	if err := errors.Join(err1, err2, one.Append(path, []byte("1")), one.Append(path, []byte("2"))); err != nil {
		t.Fatal(err)
	}
	if err := two.Append(path, []byte("other")); !errors.Is(err, statefile.ErrNoRoom) {
		t.Errorf("added to what it had not read: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := one.Append(path, []byte("3")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("added to nothing: %v", err)
	}
}

// A Writer that never comes to its end leaves what it wrote.
func TestWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	w, err := statefile.Create(path, kind())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := statefile.Create(path, kind()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("created twice: %v", err)
	}
	var want []string
	for i := range 3 {
		want = append(want, fmt.Sprint(i))
		if err := w.Add([]byte(want[i])); err != nil {
			t.Fatal(err)
		}
		if f, err := statefile.Read(path, kind()); err != nil || !reflect.DeepEqual(blocks(f), want) {
			t.Errorf("%q, %v", blocks(f), err)
		}
	}
	if err := w.Add(make([]byte, 2<<20)); !errors.Is(err, statefile.ErrNoRoom) {
		t.Errorf("wrote more than there may be: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if f, err := statefile.Read(path, kind()); err != nil || !reflect.DeepEqual(blocks(f), want) {
		t.Errorf("%q, %v", blocks(f), err)
	}
}

// A block in parts is the block.
func TestWriteParts(t *testing.T) {
	for _, size := range []int{0, 3, 100 << 10, 300 << 10} { // written at once, and part by part
		whole := make([]byte, size)
		for i := range whole {
			whole[i] = byte(i / 1000)
		}
		dir := t.TempDir()
		one, parts := filepath.Join(dir, "one"), filepath.Join(dir, "parts")
		err := errors.Join(statefile.Write(one, kind(), whole), statefile.WriteParts(parts, kind(), [][]byte{whole[:size/3], nil, whole[size/3 : size/2], whole[size/2:]}))
		if err != nil {
			t.Fatal(err)
		}
		want, _ := os.ReadFile(one)
		if got, err := os.ReadFile(parts); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: %d in the file of parts, %d in the other, %v", size, len(got), len(want), err)
		}
		if f, err := statefile.Read(parts, kind()); err != nil || len(f.Blocks) != 1 || !bytes.Equal(f.Blocks[0], whole) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// What a killed process left of a file goes when the next one is written beside it; all else stays.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	names := map[string]bool{ // stays
		"new-4194304-123":  false, // no process has this id: it is above the limit
		"file":             true,
		"notes-4194304-12": true,
		"new":              true,
	}
	old := time.Now().Add(-2 * time.Hour)
	for name := range names {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, old, old)); err != nil {
			t.Fatal(err)
		}
	}
	if err := statefile.Write(filepath.Join(dir, "file"), kind(), []byte("x")); err != nil {
		t.Fatal(err)
	}
	for name, stays := range names {
		if _, err := os.Lstat(filepath.Join(dir, name)); (err == nil) != stays {
			t.Errorf("%s: %v, stays %v", name, err, stays)
		}
	}
}

func someDigests() []digest.Digest {
	return []digest.Digest{{}, digest.BLAKE3.Bytes(nil), digest.SHA256.Bytes([]byte("abc")), digest.BLAKE3.Bytes(make([]byte, 300))}
}

func TestValues(t *testing.T) {
	stamp := stat.Stamp{Dev: 1, Inode: 1 << 63, Size: -1, MTime: 1 << 60, CTime: -5, Mode: 0o100644}
	var e statefile.Encoder
	e.Uint(1 << 40)
	e.Int(7)
	e.Signed(-300)
	e.Uint64(1 << 50)
	e.Uint32(1 << 30)
	e.Bool(true)
	e.Bool(false)
	e.Bytes([]byte{1, 2})
	e.Text("täxt")
	e.Text("")
	e.Stamp(stamp)
	for _, d := range someDigests() {
		e.Digest(d)
	}
	d := statefile.Decode(e.Block)
	if d.Uint() != 1<<40 || d.Below(8) != 7 || d.Signed() != -300 || d.Uint64() != 1<<50 || d.Uint32() != 1<<30 || !d.Bool() || d.Bool() ||
		!bytes.Equal(d.Bytes(), []byte{1, 2}) || d.Text() != "täxt" || d.Text() != "" || d.Stamp() != stamp {
		t.Error("a value came back as another")
	}
	for _, want := range someDigests() {
		if got := d.Digest(); got != want {
			t.Errorf("digest %v, want %v", got, want)
		}
	}
	if !d.Done() || d.Bad() || d.Len() != 0 {
		t.Errorf("%d bytes are left", d.Len())
	}
	if d.Uint(); !d.Bad() || d.Done() {
		t.Error("a value came from nowhere")
	}
	for _, bad := range []func(*statefile.Decoder){
		func(d *statefile.Decoder) { d.Below(5) }, func(d *statefile.Decoder) { d.Below(0) }, func(d *statefile.Decoder) { d.Below(-1) },
		func(d *statefile.Decoder) { d.Take(9) }, func(d *statefile.Decoder) { d.Take(-1) }, func(d *statefile.Decoder) { d.Text() },
		func(d *statefile.Decoder) { d.Bytes() }, func(d *statefile.Decoder) { d.Stamp() }, func(d *statefile.Decoder) { d.Digest() }, func(d *statefile.Decoder) { d.Fail() },
	} {
		d := statefile.Decode([]byte{5, 1, 1, 1})
		if bad(&d); !d.Bad() || d.Done() || d.Len() != 0 || d.Uint() != 0 {
			t.Errorf("a value that cannot be was taken: %+v", d)
		}
	}
}

// Whatever a file holds, reading it neither fails badly nor gives more than there is; and what is read can be written again.
func FuzzParse(f *testing.F) {
	f.Add(statefile.Encode(kind(), []byte("one"), []byte("two")))
	f.Add(statefile.Encode(kind(), []byte("one"))[:40])
	f.Add([]byte("hexmage test state 3\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := statefile.Parse(b, kind())
		if (err == nil || file != nil) && len(file.Blocks) == 0 {
			t.Fatalf("no block in %q, and it counts", b)
		}
		if err == nil && !bytes.Equal(statefile.Encode(kind(), file.Blocks...), b) {
			t.Fatalf("%q would be written as something else", b)
		}
		// As content of a block it always counts, and with a wrong checksum never.
		sealed := statefile.Encode(kind(), b)
		if file, err := statefile.Parse(sealed, kind()); len(b) < 1<<19 && (err != nil || !bytes.Equal(file.Blocks[0], b)) {
			t.Fatalf("%q: %v", b, err)
		}
		sealed[len(sealed)-1] ^= 1
		if _, err := statefile.Parse(sealed, kind()); err == nil {
			t.Fatal("a wrong checksum was taken")
		}
	})
}

// A Decoder gives no more than is there, whatever is asked of it, and gives nothing more once something was wrong.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4}, []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Fuzz(func(t *testing.T, block, asked []byte) {
		d := statefile.Decode(block)
		left := d.Len()
		for _, a := range asked {
			before := d.Bad()
			nothing := true
			switch a % 10 {
			case 0:
				nothing = d.Uint() == 0
			case 1:
				nothing = d.Signed() == 0
			case 2:
				nothing = d.Uint32() == 0
			case 3:
				nothing = d.Uint64() == 0
			case 4:
				nothing = !d.Bool()
			case 5:
				nothing = len(d.Bytes()) == 0
			case 6:
				nothing = d.Text() == ""
			case 7:
				nothing = d.Digest().IsZero()
			case 8:
				nothing = d.Stamp() == stat.Stamp{}
			case 9:
				n := d.Below(int(a))
				nothing = n == 0
				if n != 0 && n >= int(a) {
					t.Fatalf("%d is not below %d", n, a)
				}
			}
			if before && (!nothing || !d.Bad() || d.Done()) {
				t.Fatal("after something wrong came something else")
			}
			if d.Len() > left {
				t.Fatal("more is left than before")
			}
			left = d.Len()
		}
	})
}

// BenchmarkRead is of a file as a build of 10,000 actions leaves.
func BenchmarkRead(b *testing.B) {
	path := filepath.Join(b.TempDir(), "file")
	k := kind()
	k.Max = 1 << 30
	block := make([]byte, 8<<20)
	for i := 0; i < len(block); i += 8 {
		binary.LittleEndian.PutUint64(block[i:], uint64(i))
	}
	if err := statefile.Write(path, k, block); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(block)))
	for b.Loop() {
		if _, err := statefile.Read(path, k); err != nil {
			b.Fatal(err)
		}
	}
}
