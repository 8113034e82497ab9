package onnx_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hexmage/hexmage/model/onnx"
	"github.com/hexmage/hexmage/qnn/qnnctx/qnnctxtest"
)

func parse(t testing.TB, raw []byte) *onnx.Model {
	t.Helper()
	if !onnx.Is(raw) {
		t.Errorf("it is not taken for an ONNX model: % x", raw[:12])
	}
	m, err := onnx.Parse(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Models that the packages onnx and onnxruntime-qnn wrote.
func TestReal(t *testing.T) {
	got := parse(t, qnnctxtest.Real(t, "prefill.onnx"))
	want := &onnx.Model{IRVersion: 10, Opsets: []string{"21"}, Graph: "prefill", Nodes: 4, Initializers: 7,
		Inputs:  []onnx.Value{{Name: "x", DType: "uint16", Dims: []string{"32", "16"}}},
		Outputs: []onnx.Value{{Name: "y", DType: "uint16", Dims: []string{"32", "8"}}},
		Ops:     map[string]int{"DequantizeLinear": 2, "MatMul": 1, "QuantizeLinear": 1}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	const build = "v2.51.0.260929181845"
	for name, want := range map[string]onnx.EPContext{
		"points.onnx": {Source: "QNNExecutionProvider", Partition: "QNNExecutionProvider_QNNExecutionProvider_12722735674823233625_1_0", SDK: build, Main: true, File: "mm_ctx_qnn.bin"},
		"embedded.onnx": {Source: "QNNExecutionProvider", Partition: "QNNExecutionProvider_QNNExecutionProvider_12722735674823233625_1_0", SDK: build, Main: true,
			Offset: 142, Size: 49152},
		"decode-shared.onnx": {Source: "QNNExecutionProvider", Partition: "QNNExecutionProvider_QNNExecutionProvider_1135731222725871345_1_0", SDK: build, Main: true,
			File: "prefill_ctx_qnn.bin"},
	} {
		m := parse(t, qnnctxtest.Real(t, name))
		if d := cmp.Diff([]onnx.EPContext{want}, m.Contexts); d != "" || m.Nodes != 1 || m.Ops["EPContext"] != 1 {
			t.Errorf("%s: %d nodes\n%s", name, m.Nodes, d)
		}
	}
	raw := qnnctxtest.Real(t, "embedded.onnx")
	if context := raw[142:][:49152]; !bytes.HasPrefix(context, []byte{0, 0, 0, 2, 0, 0, 0, 3}) {
		t.Errorf("the context begins with % x", context[:8])
	}
}

// message writes a message: number, value, number, value, … where a value is a number, a text or a message.
func message(fields ...any) []byte {
	var b []byte
	for i := 0; i < len(fields); i += 2 {
		num := protowire.Number(fields[i].(int))
		switch v := fields[i+1].(type) {
		case int:
			b = protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), uint64(v))
		case float32:
			b = protowire.AppendFixed32(protowire.AppendTag(b, num, protowire.Fixed32Type), math.Float32bits(v))
		case string:
			b = protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), v)
		case []byte:
			b = protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), v)
		}
	}
	return b
}

// What the real ones do not have: dims with names, weights in another file, a context that another node has, weights of many bytes that are skipped.
func TestForms(t *testing.T) {
	dims := message(1, message(2, "batch"), 1, message(1, 8), 1, message())
	input := message(1, "in", 2, message(1, message(1, 10, 2, dims)))
	far := message(8, "w", 13, message(1, "location", 2, "weights.bin"), 14, 1)
	secondary := message(4, "EPContext", 5, message(1, "main_context", 3, 0), 5, message(1, "source", 4, "QNN"))
	raw := message(1, 8, 2, "pytorch", 3, "2.6", 7, message(5, far, 5, message(9, make([]byte, 300_000)), 1, secondary, 2, "g", 11, input, 11, message(1, "list")), 8, message(2, 17), 8, message(1, "com.acme", 2, 1))
	want := &onnx.Model{IRVersion: 8, Producer: "pytorch 2.6", Opsets: []string{"17", "com.acme 1"}, Graph: "g", Nodes: 1, Initializers: 2, External: []string{"weights.bin"},
		Ops: map[string]int{"EPContext": 1}, Contexts: []onnx.EPContext{{Source: "QNN"}},
		Inputs: []onnx.Value{{Name: "in", DType: "float16", Dims: []string{"batch", "8", "?"}}, {Name: "list", DType: "?", Dims: []string{}}}}
	if d := cmp.Diff(want, parse(t, raw)); d != "" {
		t.Error(d)
	}
}

func TestDamaged(t *testing.T) {
	whole := qnnctxtest.Real(t, "points.onnx")
	for n := range whole { // fields may end where it is cut, so some parts are models
		if _, err := onnx.Parse(bytes.NewReader(whole), int64(n)); err != nil && !errors.Is(err, onnx.ErrFormat) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"nothing":        {message(1, 8), "missing graph"},
		"a long name":    {message(1, 8, 2, strings.Repeat("x", 5000), 7, "", 8, message(2, 17)), "name of 5000 bytes"},
		"a far end":      {append(message(1, 8), 0x3a, 0xff, 0xff, 0xff, 0x7f), "the file is truncated"},
		"an old group":   {append(message(1, 8), 0x3b), "unknown field type 3"},
		"a long number":  {append(message(1, 8), 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), "overflow"},
		"field number 0": {append(message(1, 8), 0, 0), "invalid field number"},
	} {
		if _, err := onnx.Parse(bytes.NewReader(c.raw), int64(len(c.raw))); !errors.Is(err, onnx.ErrFormat) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for n := range 12 {
		if onnx.Is(whole[:n]) {
			t.Errorf("%d bytes are taken for a model", n)
		}
	}
	if onnx.Is([]byte{8, 13, 0x3a, 0, 0, 0, 0, 0, '{', 0, 0, 0}) {
		t.Error("the length of a safetensors header is taken for a model")
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"prefill.onnx", "points.onnx", "decode-shared.onnx"} {
		f.Add(qnnctxtest.Real(f, name))
	}
	f.Fuzz(func(_ *testing.T, raw []byte) {
		_, _ = onnx.Parse(bytes.NewReader(raw), int64(len(raw)))
	})
}
