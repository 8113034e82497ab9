package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/model/safetensors"
)

func sample(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	err := safetensors.Write(&b, map[string]string{"format": "pt"}, []safetensors.Source{
		safetensors.Bytes("b", safetensors.U8, []int64{3}, []byte{1, 2, 3}),
		safetensors.Bytes("a", safetensors.F32, []int64{1, 2}, []byte{0, 0, 128, 63, 0, 0, 0, 64}),
		safetensors.Bytes("s", safetensors.I32, nil, []byte{9, 0, 0, 0}),
		safetensors.Bytes("empty", safetensors.F32, []int64{0, 4}, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestWriteGolden(t *testing.T) {
	got := sample(t)
	header := `{"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},` +
		`"b":{"dtype":"U8","shape":[3],"data_offsets":[12,15]},` +
		`"empty":{"dtype":"F32","shape":[0,4],"data_offsets":[8,8]},"s":{"dtype":"I32","shape":[],"data_offsets":[8,12]}}`
	for len(header)%8 != 0 {
		header += " "
	}
	want := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	want = append(want, header...)
	want = append(want, 0, 0, 128, 63, 0, 0, 0, 64, 9, 0, 0, 0, 1, 2, 3)
	if !bytes.Equal(got, want) {
		t.Fatalf("got\n%q\nwant\n%q", got, want)
	}
}

func TestRoundTrip(t *testing.T) {
	raw := sample(t)
	f, err := safetensors.Parse(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	if f.Metadata["format"] != "pt" || len(f.Tensors()) != 4 {
		t.Fatalf("metadata %v, %d tensors", f.Metadata, len(f.Tensors()))
	}
	tensor := func(name string) safetensors.Tensor {
		i := slices.IndexFunc(f.Tensors(), func(t safetensors.Tensor) bool { return t.Name == name })
		if i < 0 {
			t.Fatalf("no tensor %s", name)
		}
		return f.Tensors()[i]
	}
	b := tensor("b")
	if data := raw[b.Offset : b.Offset+b.Size]; !bytes.Equal(data, []byte{1, 2, 3}) {
		t.Fatalf("data %v", data)
	}
	s := tensor("s")
	if len(s.Shape) != 0 || s.Size != 4 {
		t.Fatalf("scalar: %+v", s)
	}
}

func file(header string, data string) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), data...)
}

// Elements of less than a byte are packed.
func TestSmallElements(t *testing.T) {
	for dtype, size := range map[string]int{"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "F8_E8M0": 8} {
		raw := file(fmt.Sprintf(`{"a":{"dtype":%q,"shape":[2,4],"data_offsets":[0,%d]}}`, dtype, size), strings.Repeat("x", size))
		if f, err := safetensors.Parse(bytes.NewReader(raw), int64(len(raw))); err != nil || f.Tensors()[0].Size != int64(size) {
			t.Errorf("%s: %v", dtype, err)
		}
	}
}

func TestParseRejects(t *testing.T) {
	cases := map[string]struct {
		raw  []byte
		want string
	}{
		"short":       {[]byte{1, 2}, "too few"},
		"long header": {binary.LittleEndian.AppendUint64(nil, 1<<40), "limit"},
		"not object":  {file(`[]`, ""), "'{'"},
		"twice":       {file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, "x"), "duplicate"},
		"overlap":     {file(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}`, "xyz"), "overlap"},
		"hole":        {file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, "xy"), "overlap or gap"},
		"half a byte": {file(`{"a":{"dtype":"F4","shape":[3],"data_offsets":[0,1]}}`, "x"), "not a whole number of bytes"},
		"dtype":       {file(`{"a":{"dtype":"Q9","shape":[1],"data_offsets":[0,1]}}`, "x"), "unknown element type"},
		"size":        {file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,1]}}`, "x"), "needs 4 bytes"},
		"overflow":    {file(`{"a":{"dtype":"F32","shape":[4611686018427387904,4611686018427387904],"data_offsets":[0,1]}}`, "x"), "exceeds 64 bits"},
		"negative":    {file(`{"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}}`, "x"), "negative"},
		"backwards":   {file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}}`, "x"), "the end precedes the start"},
		"truncated":   {file(`{"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}}`, "x"), "truncated"},
		"trailing":    {file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, "xyz"), "after the last"},
		"text after":  {file(`{} x`, ""), "after the header"},
		"no offsets":  {file(`{"a":{"dtype":"U8","shape":[1]}}`, "x"), "expected 2"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := safetensors.Parse(bytes.NewReader(c.raw), int64(len(c.raw)))
			if !errors.Is(err, safetensors.ErrFormat) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want ErrFormat with %q", err, c.want)
			}
		})
	}
}

func TestWriteRejects(t *testing.T) {
	short := safetensors.Bytes("a", safetensors.F32, []int64{1}, []byte{1})
	if err := safetensors.Write(io.Discard, nil, []safetensors.Source{short}); err == nil || !strings.Contains(err.Error(), "need 4") {
		t.Errorf("short data: %v", err)
	}
	ok := safetensors.Bytes("a", safetensors.U8, []int64{1}, []byte{1})
	if err := safetensors.Write(io.Discard, nil, []safetensors.Source{ok, ok}); err == nil || !strings.Contains(err.Error(), "duplicate") {
		t.Errorf("same name: %v", err)
	}
}

func one(t *testing.T, name string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := safetensors.Write(&b, nil, []safetensors.Source{safetensors.Bytes(name, safetensors.U8, []int64{1}, []byte{7})}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSharded(t *testing.T) {
	cases := map[string]struct{ index, want string }{
		"good":        {`{"weight_map":{"b":"m-1.safetensors","a":"m-2.safetensors"}}`, ""},
		"escape":      {`{"weight_map":{"b":"../m-1.safetensors"}}`, "plain file name"},
		"empty":       {`{}`, "missing weight_map"},
		"wrong shard": {`{"weight_map":{"b":"m-2.safetensors","a":"m-1.safetensors"}}`, "the index puts it"},
		"missing":     {`{"weight_map":{"b":"m-1.safetensors","c":"m-1.safetensors"}}`, "lists 2 tensors"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for f, raw := range map[string][]byte{"m-1.safetensors": one(t, "b"), "m-2.safetensors": one(t, "a"), "m.index.json": []byte(c.index)} {
				if err := os.WriteFile(filepath.Join(dir, f), raw, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			m, err := safetensors.Open(filepath.Join(dir, "m.index.json"))
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("got %v, want %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			if ts := m.Tensors(); len(ts) != 2 || ts[0].Name != "a" || ts[1].Name != "b" {
				t.Fatalf("tensors %v", ts)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sample(f))
	f.Add(file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, "x"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := safetensors.Parse(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			return
		}
		total := int64(0)
		for _, x := range m.Tensors() {
			if x.Offset < 8 || x.Offset+x.Size > int64(len(raw)) {
				t.Fatalf("tensor outside the file: %+v", x)
			}
			total += x.Size
		}
		if total > int64(len(raw)) {
			t.Fatal("tensors are larger than the file")
		}
	})
}
