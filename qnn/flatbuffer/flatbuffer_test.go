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
	t, err := flatbuffer.Root(b)
	if err != nil {
		return "", err
	}
	var n [3]uint32
	raw, err9 := t.Bytes(9, 3)
	one, err1 := t.Uint8(0)
	four, err2 := t.Uint32(1)
	absent, err3 := t.Uint32(2)
	err4 := t.Struct(3, &n[0], &n[1], &n[2])
	text, err5 := t.String(4)
	numbers, err6 := t.Uint32s(5, 10)
	inner, err7 := t.Table(6)
	list, err8 := t.Tables(7, 10)
	wide, err10 := t.Uint64(8)
	err = errors.Join(err10, err1, err2, err3, err4, err5, err6, err7, err8, err9)
	if err != nil {
		return "", err
	}
	innerText, err1 := inner.String(0)
	var first uint32
	if len(list) > 0 {
		first, err2 = list[0].Uint32(1)
	}
	return strings.Join([]string{text, innerText, string(raw), string(rune('0' + len(list)))}, ",") + string([]byte{one}) +
		string(binary.LittleEndian.AppendUint32(nil, four+absent+n[0]+n[1]+n[2]+first+uint32(wide>>40))) + string(rune('0'+len(numbers))), errors.Join(err1, err2)
}

func TestRoundTrip(t *testing.T) {
	b := sample()
	root, err := flatbuffer.Root(b)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := read(b); err != nil || got != "text,inner,\x01\x02\x03,2\x07\x0f\x00\x00\x802" {
		t.Errorf("%q, %v", got, err)
	}
	if n, err := root.Uint32s(5, 10); err != nil || cmp.Diff([]uint32{5, 6}, n) != "" {
		t.Errorf("%v, %v", n, err)
	}
	if again := sample(); !bytes.Equal(b, again) {
		t.Error("the same table has other bytes")
	}
	// An eight byte number is where programs that map the buffer can read it.
	if at := bytes.Index(b, []byte{1, 0, 0, 0, 0, 1, 0, 0}); at < 0 || at%8 != 0 {
		t.Errorf("it is at %d", at)
	}
	for i, ask := range []func() error{
		func() error { _, err := root.Uint32s(5, 1); return err },
		func() error { _, err := root.Tables(7, 1); return err },
		func() error { _, err := root.Table(2); return err },
		func() error { _, err := root.Bytes(9, 2); return err },
	} {
		if err := ask(); !errors.Is(err, flatbuffer.ErrMalformed) {
			t.Errorf("question %d: %v", i, err)
		}
	}
	if s, err := root.String(2); s != "" || err != nil {
		t.Errorf("an absent field is %q, %v", s, err)
	}
	if s, err := root.String(1000); s != "" || err != nil {
		t.Errorf("a field that no table has is %q, %v", s, err)
	}
	long := flatbuffer.Write(flatbuffer.Fields{0: strings.Repeat("x", flatbuffer.MaxString+1)})
	if l, err := flatbuffer.Root(long); err != nil {
		t.Error(err)
	} else if _, err := l.String(0); !errors.Is(err, flatbuffer.ErrMalformed) {
		t.Errorf("a text without end: %v", err)
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

// TestReadRoot: of a file no more is read than the bound, and an error says so where that may be why.
func TestReadRoot(t *testing.T) {
	b := sample()
	of := func(raw []byte, size, most int64) error {
		return flatbuffer.ReadRoot(bytes.NewReader(raw), size, most, func(t flatbuffer.Table) error {
			_, err := t.Tables(7, 10)
			return err
		})
	}
	if err := of(b, int64(len(b)), 1<<20); err != nil {
		t.Error(err)
	}
	if err := of(b[:40], 40, 1<<20); !errors.Is(err, flatbuffer.ErrMalformed) || strings.Contains(err.Error(), "beyond") {
		t.Error(err)
	}
	far := make([]byte, 1<<20+len(b))
	copy(far[1<<20:], b)
	binary.LittleEndian.PutUint32(far, 1<<20+binary.LittleEndian.Uint32(b))
	if err := of(far, int64(len(far)), 2<<20); err != nil {
		t.Error(err)
	}
	if err := of(far, int64(len(far)), 1<<20); !errors.Is(err, flatbuffer.ErrMalformed) || !strings.Contains(err.Error(), "its tables lie beyond the first 1 MB, which is all that is read") {
		t.Error(err)
	}
	mine := errors.New("not that")
	if err := flatbuffer.ReadRoot(bytes.NewReader(far), int64(len(far)), 2<<20, func(flatbuffer.Table) error { return mine }); err != mine {
		t.Error(err)
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
