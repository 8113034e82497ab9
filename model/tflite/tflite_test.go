package tflite_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/internal/flatbuffer"
	"github.com/hexmage/hexmage/model/tflite"
	"github.com/hexmage/hexmage/model/tflite/tflitetest"
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
