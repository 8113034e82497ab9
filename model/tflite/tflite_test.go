package tflite_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/model/tflite"
	"github.com/hexmage/hexmage/model/tflite/tflitetest"
	"github.com/hexmage/hexmage/qnn/flatbuffer"
)

func parse(b []byte) (*tflite.Model, error) {
	return tflite.Parse(bytes.NewReader(b), int64(len(b)))
}

func TestParse(t *testing.T) {
	t.Parallel()
	m, err := parse(tflitetest.Make(tflitetest.Compiled()))
	if err != nil {
		t.Fatal(err)
	}
	shape := []int64{1, 8, 64}
	want := &tflite.Model{Version: 3, Description: "made here", Graphs: []tflite.Graph{{
		Name: "main",
		Tensors: []tflite.Tensor{{Name: "x", Type: "float32", Shape: shape}, {Name: "seen", Type: "float32", Shape: shape}, {Name: "one", Type: "float32", Shape: shape, Constant: true},
			{Name: "bent", Type: "float32", Shape: shape}, {Name: "y", Type: "int8", Shape: shape}},
		Inputs: []int{0}, Outputs: []int{4},
		Ops: []tflite.Op{{Name: "DISPATCH_OP", Custom: true, Inputs: []int{0}, Outputs: []int{1}}, {Name: "ATAN2", Inputs: []int{1, 2}, Outputs: []int{3}},
			{Name: "DISPATCH_OP", Custom: true, Inputs: []int{3}, Outputs: []int{4}}},
	}}}
	if d := cmp.Diff(want, m); d != "" {
		t.Error(d)
	}
	if got := tflite.Builtin(3) + " " + tflite.Builtin(999); got != "CONV_2D builtin 999" {
		t.Error(got)
	}
}

// TestShape: a dimension that is not fixed is 1 in the shape and -1 in the signature beside it; without a shape there is none, unless a rank is said to be there.
func TestShape(t *testing.T) {
	t.Parallel()
	const open = 0xffffffff
	for name, c := range map[string]struct {
		fields flatbuffer.Fields
		want   []int64
	}{
		"fixed":     {flatbuffer.Fields{0: []uint32{1, 8}}, []int64{1, 8}},
		"signature": {flatbuffer.Fields{0: []uint32{1, 8}, 7: []uint32{open, 8}}, []int64{-1, 8}},
		"longer":    {flatbuffer.Fields{0: []uint32{1}, 7: []uint32{1, open}}, []int64{1}},
		"scalar":    {flatbuffer.Fields{0: []uint32{}}, []int64{}},
		"ranked":    {flatbuffer.Fields{8: uint8(1)}, []int64{}},
		"none":      {flatbuffer.Fields{}, nil},
	} {
		m, err := parse(tflitetest.Make(flatbuffer.Fields{2: []flatbuffer.Fields{{0: []flatbuffer.Fields{c.fields}}}}))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, m.Graphs[0].Tensors[0].Shape); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestBeyond: of a model whose tables may lie behind what is read an error says so.
func TestBeyond(t *testing.T) {
	t.Parallel()
	if _, err := tflite.Parse(bytes.NewReader([]byte{0, 0, 0, 5, 'T', 'F', 'L', '3'}), 100<<20); err == nil || !strings.Contains(err.Error(), "beyond the first 64 MB") {
		t.Error(err)
	}
}

// TestHostile: indices that lead nowhere, and a file cut anywhere.
func TestHostile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(graph flatbuffer.Fields)
		want   string
	}{
		"kind":   {func(g flatbuffer.Fields) { g[3] = []flatbuffer.Fields{{0: uint32(9)}} }, "an operation of kind 9 of 2"},
		"tensor": {func(g flatbuffer.Fields) { g[1] = []uint32{5} }, "an index 5 of 5"},
		"rank":   {func(g flatbuffer.Fields) { g[0] = []flatbuffer.Fields{{0: make([]uint32, 65)}} }, "vector of 65"},
	} {
		model := tflitetest.Compiled()
		c.change(model[2].([]flatbuffer.Fields)[0])
		if _, err := parse(tflitetest.Make(model)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	whole := tflitetest.Make(tflitetest.Compiled())
	for n := range whole {
		_, _ = parse(whole[:n])
	}
}

func FuzzParse(f *testing.F) {
	f.Add(tflitetest.Make(tflitetest.Compiled()))
	f.Add([]byte("....TFL3"))
	f.Fuzz(func(t *testing.T, b []byte) { _, _ = parse(b) })
}
