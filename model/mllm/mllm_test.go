package mllm_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/model/mllm"
)

func src(name string, d mllm.DType, shape []int64, data []byte) mllm.Source {
	return mllm.Source{Name: name, DType: d, Shape: shape, Size: int64(len(data)), Write: func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}}
}

func sample(t testing.TB, v mllm.Version) []byte {
	t.Helper()
	var b bytes.Buffer
	err := mllm.Write(&b, v, "", []mllm.Source{
		src("w", mllm.Int8, []int64{1, 1, 2, 2}, []byte{1, 2, 3, 4}),
		src("w.scale", mllm.Float32, nil, []byte{0, 0, 128, 63}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The golden bytes are laid out by hand from the format's description, not by the writer's own constants.
func TestV2Golden(t *testing.T) {
	le := binary.LittleEndian
	want := make([]byte, 532+2*352)
	le.PutUint32(want[0:], 20890)
	le.PutUint32(want[4:], 2)
	le.PutUint32(want[520:], 2)
	le.PutUint64(want[524:], 532)
	r := want[532:]
	le.PutUint32(r[0:], 0)
	le.PutUint32(r[4:], 16)
	le.PutUint64(r[8:], 4)
	le.PutUint64(r[16:], 532+704)
	le.PutUint64(r[24:], 4)
	for i, d := range []uint32{1, 1, 2, 2} {
		le.PutUint32(r[32+4*i:], d)
	}
	copy(r[96:], "w")
	r = want[532+352:]
	le.PutUint32(r[0:], 1)
	le.PutUint64(r[8:], 4)
	le.PutUint64(r[16:], 532+704+4)
	copy(r[96:], "w.scale")
	want = append(want, 1, 2, 3, 4, 0, 0, 128, 63)
	if got := sample(t, mllm.V2); !bytes.Equal(got, want) {
		t.Fatalf("got %d bytes\n%x\nwant %d\n%x", len(got), got, len(want), want)
	}
}

func TestV1Golden(t *testing.T) {
	le := binary.LittleEndian
	var want []byte
	want = le.AppendUint32(want, 20012)
	want = le.AppendUint64(want, (4+1+20)+(4+7+20))
	end := uint64(12 + 25 + 31)
	want = append(le.AppendUint32(want, 1), "w"...)
	want = le.AppendUint32(le.AppendUint64(le.AppendUint64(want, 4), end), 16)
	want = append(le.AppendUint32(want, 7), "w.scale"...)
	want = le.AppendUint32(le.AppendUint64(le.AppendUint64(want, 4), end+4), 0)
	want = append(want, 1, 2, 3, 4, 0, 0, 128, 63)
	if got := sample(t, mllm.V1); !bytes.Equal(got, want) {
		t.Fatalf("got\n%x\nwant\n%x", got, want)
	}
}

func TestRoundTrip(t *testing.T) {
	for _, v := range []mllm.Version{mllm.V1, mllm.V2} {
		raw := sample(t, v)
		f, err := mllm.Parse(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			t.Fatal(err)
		}
		p, ok := f.Lookup("w")
		if f.Version != v || !ok || p.DType != mllm.Int8 || len(f.Params()) != 2 {
			t.Fatalf("v%d: %+v", v, f.Params())
		}
		if v == mllm.V2 && len(p.Shape) != 4 {
			t.Fatalf("shape %v", p.Shape)
		}
		data, err := io.ReadAll(f.Data(p))
		if err != nil || !bytes.Equal(data, []byte{1, 2, 3, 4}) {
			t.Fatalf("v%d: data %v, %v", v, data, err)
		}
	}
}

func TestNameMayFillItsField(t *testing.T) {
	name := strings.Repeat("n", 256)
	var b bytes.Buffer
	if err := mllm.Write(&b, mllm.V2, "m", []mllm.Source{src(name, mllm.Uint8, []int64{1}, []byte{1})}); err != nil {
		t.Fatal(err)
	}
	f, err := mllm.Parse(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if f.Params()[0].Name != name || f.ModelName != "m" {
		t.Fatalf("name of %d bytes, model %q", len(f.Params()[0].Name), f.ModelName)
	}
	err = mllm.Write(io.Discard, mllm.V2, "", []mllm.Source{src(name+"x", mllm.Uint8, []int64{1}, []byte{1})})
	if err == nil || !strings.Contains(err.Error(), "limit of 256") {
		t.Fatalf("257 bytes: %v", err)
	}
}

func TestParseRejects(t *testing.T) {
	le := binary.LittleEndian
	cases := map[string]struct {
		v    mllm.Version
		edit func(b []byte) []byte
		want string
	}{
		"magic":        {mllm.V2, func(b []byte) []byte { b[0] = 0; return b }, "magic"},
		"version":      {mllm.V2, func(b []byte) []byte { b[4] = 9; return b }, "version number 9"},
		"short":        {mllm.V2, func(b []byte) []byte { return b[:100] }, "a version 2 header needs"},
		"count":        {mllm.V2, func(b []byte) []byte { le.PutUint32(b[520:], 1<<31); return b }, "does not fit"},
		"table":        {mllm.V2, func(b []byte) []byte { le.PutUint64(b[524:], 1<<62); return b }, "invalid table offset"},
		"rank":         {mllm.V2, func(b []byte) []byte { le.PutUint64(b[532+24:], 17); return b }, "dimensions"},
		"shape":        {mllm.V2, func(b []byte) []byte { le.PutUint32(b[532+32:], 9); return b }, "needs 36"},
		"negative dim": {mllm.V2, func(b []byte) []byte { le.PutUint32(b[532+32:], 1<<31); return b }, "negative"},
		"offset":       {mllm.V2, func(b []byte) []byte { le.PutUint64(b[532+16:], 1<<63); return b }, "is too large"},
		"in table":     {mllm.V2, func(b []byte) []byte { le.PutUint64(b[532+16:], 600); return b }, "outside the data"},
		"truncated":    {mllm.V2, func(b []byte) []byte { return b[:len(b)-1] }, "truncated"},
		"dtype":        {mllm.V2, func(b []byte) []byte { le.PutUint32(b[532+4:], 77); return b }, "unknown dtype"},
		"same name":    {mllm.V2, func(b []byte) []byte { copy(b[532+352+96:], "w\x00"); return b }, "twice"},
		"v1 index":     {mllm.V1, func(b []byte) []byte { le.PutUint64(b[4:], 1<<40); return b }, "index of"},
		"v1 record":    {mllm.V1, func(b []byte) []byte { le.PutUint32(b[12:], 1<<31); return b }, "inside a record"},
		"v1 truncated": {mllm.V1, func(b []byte) []byte { return b[:len(b)-1] }, "truncated"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			raw := c.edit(sample(t, c.v))
			_, err := mllm.Parse(bytes.NewReader(raw), int64(len(raw)))
			if !errors.Is(err, mllm.ErrFormat) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want ErrFormat with %q", err, c.want)
			}
		})
	}
}

func TestWriteRejectsWrongSize(t *testing.T) {
	s := src("a", mllm.Uint8, []int64{2}, []byte{1, 2})
	s.Write = func(w io.Writer) error { _, err := w.Write([]byte{1}); return err }
	if err := mllm.Write(io.Discard, mllm.V2, "", []mllm.Source{s}); err == nil || !strings.Contains(err.Error(), "index says 2") {
		t.Fatalf("got %v", err)
	}
}

func TestDTypeNames(t *testing.T) {
	for d, want := range map[mllm.DType]string{0: "Float32", 130: "UInt16", 141: "Int8PerChannelSym", 146: "UInt16PerTensorSym",
		148: "Int8PerTensorAsy", 155: "UInt16PerChannelAsy", 202: "ComplexFloat64", 99: "dtype(99)"} {
		if got := d.String(); got != want {
			t.Errorf("%d: %s, want %s", int32(d), got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sample(f, mllm.V1))
	f.Add(sample(f, mllm.V2))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := mllm.Parse(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			return
		}
		for _, p := range m.Params() {
			if _, err := io.Copy(io.Discard, m.Data(p)); err != nil || p.Offset+p.Size > int64(len(raw)) {
				t.Fatalf("%+v: %v", p, err)
			}
		}
	})
}
