package gguf_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/model/gguf"
)

// build writes a file's parts: a number as wide as it is, a text behind its length.
func build(parts ...any) []byte {
	le := binary.LittleEndian
	b := []byte("GGUF")
	for _, p := range parts {
		switch v := p.(type) {
		case uint8:
			b = append(b, v)
		case uint32:
			b = le.AppendUint32(b, v)
		case uint64:
			b = le.AppendUint64(b, v)
		case float32:
			b = le.AppendUint32(b, math.Float32bits(v))
		case string:
			b = append(le.AppendUint64(b, uint64(len(v))), v...)
		case []byte:
			b = append(b, v...)
		}
	}
	return b
}

func header(tensors, keys uint64) []any { return []any{uint32(3), tensors, keys} }

func sample() []byte {
	b := build(append(header(2, 5), "general.architecture", uint32(8), "llama", "general.alignment", uint32(4), uint32(64), "llama.rope", uint32(6), float32(0.5),
		"tokens", uint32(9), uint32(8), uint64(3), "a", "bc", "", "ids", uint32(9), uint32(9), uint64(2), uint32(4), uint64(1), uint32(7), uint32(0), uint64(2), []byte{1, 2},
		"w", uint32(2), uint64(64), uint64(3), uint32(3), uint64(0), "norm", uint32(1), uint64(4), uint32(0), uint64(128))...)
	for len(b)%64 != 0 {
		b = append(b, 0)
	}
	return append(b, make([]byte, 128+16)...)
}

func TestParse(t *testing.T) {
	raw := sample()
	got, err := gguf.Parse(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	begin := int64(len(raw)) - 144
	want := &gguf.File{Version: 3, Metadata: map[string]string{"general.architecture": "llama", "general.alignment": "64", "llama.rope": "0.5", "tokens": "[3]", "ids": "[2]"},
		Tensors: []gguf.Tensor{{Name: "w", Type: "Q4_1", Dims: []int64{64, 3}, Offset: begin, Size: 120}, {Name: "norm", Type: "F32", Dims: []int64{4}, Offset: begin + 128, Size: 16}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for n := range raw {
		if _, err := gguf.Parse(bytes.NewReader(raw), int64(n)); !errors.Is(err, gguf.ErrFormat) || !strings.Contains(err.Error(), "cut off") {
			t.Errorf("cut at %d of %d: %v", n, len(raw), err)
		}
	}
}

func TestRefused(t *testing.T) {
	tensor := func(parts ...any) []byte { return build(append(header(1, 0), parts...)...) }
	for want, raw := range map[string][]byte{
		"it begins with":      []byte("GGML\x03\x00\x00\x00"),
		"version 1":           build(uint32(1), uint64(0), uint64(0)),
		"too many":            build(header(1<<40, 0)...),
		"a value of type 99":  build(append(header(0, 1), "k", uint32(99))...),
		"values of type 99":   build(append(header(0, 1), "k", uint32(9), uint32(99), uint64(1))...),
		"elements":            build(append(header(0, 1), "k", uint32(9), uint32(8), uint64(1)<<50)...),
		"cut off":             build(append(header(0, 1), "k", uint32(9), uint32(4), uint64(math.MaxUint64))...),
		"its header is cut":   build(append(header(0, 1), "k", uint32(9), uint32(4), uint64(1)<<62)...), // times the size of one it is 0
		"an alignment of 3":   build(append(header(0, 1), "general.alignment", uint32(4), uint32(3))...),
		"has 9 dims":          tensor("w", uint32(9)),
		"larger than a file":  tensor("w", uint32(2), uint64(1)<<40, uint64(1)<<40),
		"is at 9223372036":    tensor("w", uint32(0), uint32(0), uint64(math.MaxInt64)),
		"not within the file": tensor("w", uint32(1), uint64(4096), uint32(0), uint64(0)),
		"2 elements, 4 lists": build(append(header(0, 1), "k", uint32(9), uint32(9), uint64(2), uint32(9), uint64(2), uint32(9), uint64(2), uint32(9), uint64(2), uint32(9), uint64(2))...),
	} {
		if _, err := gguf.Parse(bytes.NewReader(raw), int64(len(raw))); !errors.Is(err, gguf.ErrFormat) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sample())
	f.Fuzz(func(_ *testing.T, raw []byte) {
		_, _ = gguf.Parse(bytes.NewReader(raw), int64(len(raw)))
	})
}
