package flatbuffer_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/qnn/flatbuffer"
)

func sample() []byte {
	return flatbuffer.Write(flatbuffer.Fields{
		0: uint8(7), 1: uint32(1 << 31), 3: flatbuffer.Struct{1, 2, 3}, 4: "text", 5: []uint32{5, 6}, 6: flatbuffer.Fields{0: "inner"},
		7: []flatbuffer.Fields{{1: uint32(8)}, {}}, 8: uint64(1<<40 + 1), 9: []byte{1, 2, 3},
	})
}

// read reads all of the sample, as text, and the first error.
func read(b []byte) (string, error) {
	t := flatbuffer.Root(b)
	var n [3]uint32
	t.Struct(3, &n[0], &n[1], &n[2])
	numbers, list := t.Uint32s(5, 10), t.Tables(7, 10)
	var first uint32
	if len(list) > 0 {
		first = list[0].Uint32(1)
	}
	text := strings.Join([]string{t.String(4), t.Table(6).String(0), string(t.Bytes(9, 3)), string(rune('0' + len(list)))}, ",") +
		string([]byte{t.Uint8(0)}) +
		string(binary.LittleEndian.AppendUint32(nil, t.Uint32(1)+t.Uint32(2)+n[0]+n[1]+n[2]+first)) + string(rune('0'+len(numbers)))
	return text, t.Err()
}

func TestRoundTrip(t *testing.T) {
	b := sample()
	if got, err := read(b); err != nil || got != "text,inner,\x01\x02\x03,2\x07\x0e\x00\x00\x802" {
		t.Errorf("%q, %v", got, err)
	}
	root := flatbuffer.Root(b)
	if d := cmp.Diff([]uint32{5, 6}, root.Uint32s(5, 10)); d != "" {
		t.Error(d)
	}
	if again := sample(); !bytes.Equal(b, again) {
		t.Error("the same table has other bytes")
	}
	// An eight byte number is where programs that map the buffer can read it.
	if at := bytes.Index(b, []byte{1, 0, 0, 0, 0, 1, 0, 0}); at < 0 || at%8 != 0 {
		t.Errorf("it is at %d", at)
	}
	if text := root.String(2) + root.String(1000); text != "" || root.Err() != nil {
		t.Errorf("absent fields are %q, %v", text, root.Err())
	}
	for i, ask := range []func(t flatbuffer.Table) bool{
		func(t flatbuffer.Table) bool { return len(t.Uint32s(5, 1)) > 0 },
		func(t flatbuffer.Table) bool { return len(t.Tables(7, 1)) > 0 },
		func(t flatbuffer.Table) bool { return t.Table(2).String(0) != "" },
		func(t flatbuffer.Table) bool { return len(t.Bytes(9, 2)) > 0 },
	} {
		root := flatbuffer.Root(b)
		if ask(root) || !errors.Is(root.Err(), flatbuffer.ErrMalformed) || root.String(4) != "text" {
			t.Errorf("question %d: %v", i, root.Err())
		}
	}
	long := flatbuffer.Root(flatbuffer.Write(flatbuffer.Fields{0: strings.Repeat("x", 4097)}))
	if text := long.String(0); text != "" || !errors.Is(long.Err(), flatbuffer.ErrMalformed) {
		t.Errorf("a text without end: %v", long.Err())
	}
}

// TestManyStrings: tables that all have one string do not fill memory with copies of it.
func TestManyStrings(t *testing.T) {
	root := flatbuffer.Root(flatbuffer.Write(flatbuffer.Fields{0: strings.Repeat("x", 4096)}))
	for range 64 << 20 / 4096 {
		if len(root.String(0)) != 4096 {
			t.Fatal(root.Err())
		}
	}
	if text := root.String(0); text != "" || !errors.Is(root.Err(), flatbuffer.ErrMalformed) {
		t.Errorf("%d bytes more, %v", len(text), root.Err())
	}
}

func TestCut(t *testing.T) {
	whole := sample()
	for n := range whole {
		if got, err := read(whole[:n]); err != nil && !errors.Is(err, flatbuffer.ErrMalformed) {
			t.Errorf("cut at %d: %q, %v", n, got, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(sample())
	f.Add([]byte{})
	f.Add([]byte{4, 0, 0, 0, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := read(b); err != nil && !errors.Is(err, flatbuffer.ErrMalformed) {
			t.Error(err)
		}
	})
}
