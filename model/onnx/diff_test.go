package onnx_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hexmage/hexmage/model/diff"
	"github.com/hexmage/hexmage/model/onnx"
	"github.com/hexmage/hexmage/qnn/qnnctx/qnnctxtest"
)

// nodeOf writes a node: name, op, inputs, outputs, and attributes as messages.
func nodeOf(name, op, inputs, outputs string, attrs ...[]byte) []byte {
	var f []any
	for _, s := range strings.Fields(inputs) {
		f = append(f, 1, s)
	}
	for _, s := range strings.Fields(outputs) {
		f = append(f, 2, s)
	}
	f = append(f, 3, name, 4, op)
	for _, a := range attrs {
		f = append(f, 5, a)
	}
	return message(f...)
}

func floats(list ...float32) (b []byte) {
	for _, x := range list {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// packed are numbers as a list of them is written.
func packed(list ...int) (b []byte) {
	for _, n := range list {
		b = protowire.AppendVarint(b, uint64(n))
	}
	return b
}

func valueOf(name string, kind int, dims ...int) []byte {
	var shape []any
	for _, d := range dims {
		shape = append(shape, 1, message(1, d))
	}
	return message(1, name, 2, message(1, message(1, kind, 2, message(shape...))))
}

// netOf is a model: x · w, an activation, a bias.
func netOf(change func(parts *[]any)) []byte {
	parts := []any{
		1, nodeOf("one", "MatMul", "x w", "a"),
		1, nodeOf("act", "LeakyRelu", "a", "b", message(1, "alpha", 2, float32(0.1), 20, 1)),
		1, nodeOf("", "Add", "b bias", "c"),
		1, nodeOf("end", "Softmax", "c", "y", message(1, "axis", 3, 1, 20, 2)),
		2, "net",
		5, message(1, packed(2, 2), 2, 1, 8, "w", 9, floats(1, 2, 3, 4)),
		5, message(1, 2, 2, 1, 8, "bias", 4, floats(0.5, -1)),
		11, valueOf("x", 1, 1, 2), 12, valueOf("y", 1, 1, 2),
	}
	if change != nil {
		change(&parts)
	}
	return message(1, 8, 7, message(parts...), 8, message(2, 21))
}

func graphOf(t testing.TB, raw []byte, beside onnx.Opener) *onnx.Graph {
	t.Helper()
	g, err := onnx.ReadGraph(bytes.NewReader(raw), int64(len(raw)), beside)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// said are the differences as a person reads them.
func said(a, b *onnx.Graph) string {
	var w strings.Builder
	for _, s := range onnx.Diff(a, b) {
		s.Text(&w, func(s string) string { return s })
	}
	return w.String()
}

// set replaces a part of a model by another one, or by several.
func set(at int, with ...[]byte) func(*[]any) {
	return func(p *[]any) {
		var new []any
		for _, b := range with {
			new = append(new, (*p)[2*at], b)
		}
		*p = slices.Concat((*p)[:2*at], new, (*p)[2*at+2:])
	}
}

func TestDiff(t *testing.T) {
	base := graphOf(t, netOf(nil), nil)
	renamed := func(p *[]any) {
		set(0, nodeOf("uno", "MatMul", "in v", "a2"))(p)
		set(1, nodeOf("dos", "LeakyRelu", "a2", "b2", message(1, "alpha", 2, float32(0.1), 20, 1)))(p)
		set(2, nodeOf("", "Add", "b2 k", "c2"))(p)
		set(3, nodeOf("fin", "Softmax", "c2", "out", message(1, "axis", 3, 1, 20, 2)))(p)
		set(5, message(1, packed(2, 2), 2, 1, 8, "v", 9, floats(1, 2, 3, 4)))(p)
		set(6, message(1, 2, 2, 1, 8, "k", 9, floats(0.5, -1)))(p)
		set(7, valueOf("in", 1, 1, 2))(p)
		set(8, valueOf("out", 1, 1, 2))(p)
	}
	for name, c := range map[string]struct {
		change func(*[]any)
		want   string
	}{
		"nothing":                        {nil, ""},
		"the same, stored otherwise":     {set(5, message(8, "w", 2, 1, 4, floats(1, 2, 3, 4), 1, 2, 1, 2)), ""},
		"a constant":                     {set(6, message(1, 2, 2, 1, 8, "bias", 9, floats(0.5, -2))), "constants: 1 changed, 1 the same\n  ~ bias: float32[2] 0.5, -1 → float32[2] 0.5, -2\n"},
		"an attribute":                   {set(3, nodeOf("end", "Softmax", "c", "y", message(1, "axis", 3, -1, 20, 2))), "nodes: 1 changed, 3 the same\n  ~ end: axis=1 → -1\n"},
		"an attribute less, and another": {set(3, nodeOf("end", "Softmax", "c", "y", message(1, "way", 4, "fast", 20, 3))), "nodes: 1 changed, 3 the same\n  ~ end: axis=1 is gone; way=\"fast\" is new\n"},
		"an op":                          {set(1, nodeOf("relu", "Relu", "a", "b")), "nodes: 1 changed, 3 the same\n  ~ relu: b = LeakyRelu(a, alpha=0.1) → b = Relu(a)\nnames: 1 renamed, 7 the same\n  ~ node act is now called relu\n"},
		"a pair within":                  {func(p *[]any) { set(2, nodeOf("q", "Cast", "b", "h"), nodeOf("", "Add", "h bias", "c"))(p) }, "nodes: 1 added, 1 changed, 3 the same\n  + h = Cast(b)\n  ~ c: input 0: b → h\n"},
		"a node less":                    {func(p *[]any) { set(2, nodeOf("", "Add", "a bias", "c"))(p); set(1)(p) }, "nodes: 1 removed, 1 changed, 2 the same\n  - b = LeakyRelu(a, alpha=0.1)\n  ~ c: input 0: b → a\n"},
		"all names":                      {renamed, "inputs: 1 renamed, 0 the same\n  ~ x is now called in\nconstants: 2 renamed, 0 the same\n  ~ w is now called v\n  ~ bias is now called k\nnames: 7 renamed, 1 the same\n  ~ node one is now called uno\n  ~ a is now called a2\n  ~ node act is now called dos\n  ~ b is now called b2\n  ~ c is now called c2\n  ~ node end is now called fin\n  ~ y is now called out\noutputs: 1 renamed, 0 the same\n  ~ y is now called out\n"},
		"an input's shape":               {set(7, valueOf("x", 10, 4, 2)), "inputs: 1 changed, 0 the same\n  ~ x: float32[1×2] → float16[4×2]\n"},
		"an output more":                 {func(p *[]any) { *p = append(*p, 12, valueOf("b", 1, 1, 2)) }, "outputs: 1 added, 1 the same\n  + b  float32[1×2]\n"},
		"a constant more, and one of another type": {func(p *[]any) {
			set(6, message(1, 2, 2, 7, 8, "bias", 7, packed(1, -1)), message(1, 1, 2, 1, 8, "z", 9, floats(7)))(p)
		}, "constants: 1 added, 1 changed, 1 the same\n  ~ bias: float32[2] 0.5, -1 → int64[2] 1, -1\n  + z  float32[1] 7\n"},
	} {
		if got := said(base, graphOf(t, netOf(c.change), nil)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
	other := netOf(nil)
	other = append(other, message(8, message(1, "com.acme", 2, 3), 2, "acme")...)
	if got := said(base, graphOf(t, other, nil)); got != "model: 2 changed, 2 the same\n  ~ operator sets: 21 → 21, com.acme 3\n  ~ made by:  → acme\n" {
		t.Error(got)
	}
}

// A real model of the package onnx: nothing differs from itself, and each byte of a weight that is flipped is found.
func TestDiffReal(t *testing.T) {
	raw := qnnctxtest.Real(t, "prefill.onnx")
	g := graphOf(t, raw, nil)
	if len(g.Nodes) != 4 || len(g.Constants) != 7 || said(g, graphOf(t, raw, nil)) != "" {
		t.Fatalf("%d nodes, %d constants, %s", len(g.Nodes), len(g.Constants), said(g, graphOf(t, raw, nil)))
	}
	large := slices.MaxFunc(g.Constants, func(a, b onnx.Constant) int { return int(elements(a) - elements(b)) })
	if elements(large) < 100 || large.Value != "" || large.Digest == "" {
		t.Fatalf("%+v", large)
	}
	found := 0
	for i := range raw {
		changed := bytes.Clone(raw)
		changed[i] ^= 1
		h, err := onnx.ReadGraph(bytes.NewReader(changed), int64(len(changed)), nil)
		if err == nil && said(g, h) != "" {
			found++
		}
	}
	if found < int(elements(large)) {
		t.Errorf("%d of %d flipped bytes were found", found, len(raw))
	}
}

func elements(c onnx.Constant) int64 {
	n := int64(1)
	for _, d := range c.Dims {
		n *= d
	}
	return n
}

// Weights beside the model: read where they are, once for all, and never outside.
func TestOtherFiles(t *testing.T) {
	far := func(place ...any) []byte {
		var f []any
		for i := 0; i < len(place); i += 2 {
			f = append(f, 13, message(1, place[i], 2, place[i+1]))
		}
		return netOf(set(5, message(append([]any{1, packed(2, 2), 2, 1, 8, "w", 14, 1}, f...)...)))
	}
	file := append(make([]byte, 16), floats(1, 2, 3, 4)...)
	beside := func(name string) (io.ReaderAt, int64, error) {
		if name != "w.bin" {
			return nil, 0, fs.ErrNotExist
		}
		return bytes.NewReader(file), int64(len(file)), nil
	}
	base := graphOf(t, netOf(nil), nil)
	for _, c := range []struct {
		place   []any
		warning string
	}{
		{[]any{"location", "w.bin", "offset", "16", "length", "16"}, ""},
		{[]any{"location", "w.bin", "offset", "16"}, ""},
		{[]any{"location", "w.bin", "offset", "17", "length", "16"}, "w: 16 bytes at 17 of w.bin, which has 32"},
		{[]any{"location", "w.bin", "offset", "-1"}, "w: 33 bytes at -1 of w.bin, which has 32"},
		{[]any{"location", "v.bin"}, "weights in v.bin are not compared: file does not exist"},
		{[]any{"location", "../w.bin"}, `weights in "../w.bin" are not compared: it is no file beside the model`},
		{[]any{"location", "/w.bin"}, `weights in "/w.bin" are not compared: it is no file beside the model`},
	} {
		g := graphOf(t, far(c.place...), beside)
		if got := strings.Join(g.Warnings, "\n"); got != c.warning {
			t.Errorf("%v: %q, want %q", c.place, got, c.warning)
		}
		if got := said(base, g); (got == "") != (c.warning == "") {
			t.Errorf("%v: %s", c.place, got)
		}
	}
	file[16] ^= 1
	if got := said(base, graphOf(t, far("location", "w.bin", "offset", "16", "length", "16"), beside)); !strings.Contains(got, "~ w: float32[2×2] 1, 2, 3, 4 → float32[2×2] 1.0000001, 2, 3, 4") {
		t.Error(got)
	}
	if _, err := onnx.ReadGraph(bytes.NewReader(far("location", "w.bin", "offset", "x")), int64(len(far("location", "w.bin", "offset", "x"))), beside); !errors.Is(err, onnx.ErrFormat) {
		t.Error(err)
	}
}

// What a graph has of everything is bounded.
func TestGraphIsBounded(t *testing.T) {
	many := func(n int, one []byte) []byte {
		var parts []any
		for range n {
			parts = append(parts, 5, one)
		}
		return netOf(set(0, message(append([]any{3, "one", 4, "MatMul"}, parts...)...)))
	}
	raw := many(257, message(1, "a", 3, 1))
	if _, err := onnx.ReadGraph(bytes.NewReader(raw), int64(len(raw)), nil); !errors.Is(err, onnx.ErrFormat) {
		t.Error(err)
	}
	long := netOf(set(3, nodeOf("end", "Op", "c", "y", message(1, "list", 8, packed(make([]int, 1000)...), 20, 7), message(1, "text", 4, strings.Repeat("a", 5000), 20, 3))))
	g := graphOf(t, long, nil)
	for _, a := range g.Nodes[3].Attrs {
		if len(a.Value) > 120 {
			t.Errorf("%s has a text of %d bytes", a.Name, len(a.Value))
		}
	}
	other := graphOf(t, netOf(set(3, nodeOf("end", "Op", "c", "y", message(1, "list", 8, packed(append(make([]int, 999), 1)...), 20, 7), message(1, "text", 4, strings.Repeat("a", 5000), 20, 3)))), nil)
	if got := said(g, other); strings.Count(got, "→") != 1 {
		t.Error(got)
	}
}

func TestText(t *testing.T) {
	s := diff.Section{Of: "nodes", Same: 1}
	for i := range diff.Most + 5 {
		s.Entries = append(s.Entries, diff.Entry{Change: diff.Added, B: fmt.Sprint(i)})
	}
	var w strings.Builder
	s.Text(&w, func(s string) string { return strings.ReplaceAll(s, "9", "?") })
	if got := w.String(); !strings.Contains(got, "… and 5 more (--json has all)") || strings.Contains(got, "\n  + 9\n") || strings.Count(got, "\n") != diff.Most+2 {
		t.Error(got)
	}
}

func FuzzReadGraph(f *testing.F) {
	f.Add(qnnctxtest.Real(f, "prefill.onnx"))
	f.Add(netOf(nil))
	f.Add(netOf(set(3, nodeOf("end", "If", "c", "y", message(1, "then_branch", 6, message(1, nodeOf("n", "Neg", "c", "y")), 20, 5), message(1, "t", 5, message(1, 1, 2, 7, 7, packed(3)), 20, 4)))))
	f.Add(netOf(set(5, message(1, packed(2, 2), 2, 1, 8, "w", 14, 1, 13, message(1, "location", 2, "w.bin"), 13, message(1, "offset", 2, "8")))))
	base := netOf(nil)
	beside := func(string) (io.ReaderAt, int64, error) { return bytes.NewReader(base), int64(len(base)), nil }
	f.Fuzz(func(t *testing.T, raw []byte) {
		g, err := onnx.ReadGraph(bytes.NewReader(raw), int64(len(raw)), beside)
		if err != nil {
			return
		}
		if s := said(g, g); s != "" {
			t.Errorf("it differs from itself:\n%s", s)
		}
		h := graphOf(t, base, nil)
		said(g, h)
		said(h, g)
	})
}
