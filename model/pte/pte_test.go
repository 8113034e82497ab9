package pte_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/model/pte"
	"github.com/hexmage/hexmage/model/pte/ptetest"
	"github.com/hexmage/hexmage/qnn/flatbuffer"
)

func parse(b []byte) (*pte.Program, error) { return pte.Parse(bytes.NewReader(b), int64(len(b))) }

func TestParse(t *testing.T) {
	t.Parallel()
	p, err := parse(ptetest.Make(ptetest.Fallback(), []byte("segment of some bytes")))
	if err != nil {
		t.Fatal(err)
	}
	want := []pte.Method{{
		Name: "forward",
		Values: []pte.Value{
			{Type: "float32", Shape: []int64{1, 8, 64}}, {Type: "float16", Shape: []int64{1, 8, 64}}, {Type: "float16", Shape: []int64{1, 8, 64}},
			{Type: "float32", Shape: []int64{1, 8, 64}}, {Type: "int64", Shape: []int64{}, Constant: true}, {}, {List: []int{1, 4}},
		},
		Inputs: []int{0}, Outputs: []int{3},
		Operators: []pte.Operator{{Name: "aten::erfinv", Overload: "out"}},
		Delegates: []string{"QnnBackend", "QnnBackend"},
		Calls:     []pte.Call{{Operator: -1, Delegate: 0, Args: []int{0, 1}}, {Operator: 0, Delegate: -1, Args: []int{6, 5, 2}}, {Operator: -1, Delegate: 1, Args: []int{2, 3}}},
	}}
	if d := cmp.Diff(want, p.Methods); d != "" {
		t.Error(d)
	}
	if p.Warning != "" || len(p.Segments) != 1 || p.Segments[0].Size != int64(len("segment of some bytes")) {
		t.Errorf("%+v, %q", p.Segments, p.Warning)
	}
	if got := p.Methods[0].Operators[0].String(); got != "aten::erfinv.out" {
		t.Error(got)
	}
}

// TestDynamic: sizes of a tensor that vary are bounds, and none is the size.
func TestDynamic(t *testing.T) {
	t.Parallel()
	plan := ptetest.Fallback()
	plan[2].([]flatbuffer.Fields)[1][1].(flatbuffer.Fields)[8] = uint8(1)
	p, err := parse(ptetest.Make(plan, nil))
	if err != nil {
		t.Fatal(err)
	}
	v := p.Methods[0].Values
	if d := cmp.Diff([][]int64{{1, 8, 64}, {-1, -1, -1}}, [][]int64{v[0].Shape, v[1].Shape}); d != "" {
		t.Error(d)
	}
}

// TestBeyond: of a program whose tables may lie behind what is read an error says so.
func TestBeyond(t *testing.T) {
	t.Parallel()
	if _, err := pte.Parse(bytes.NewReader([]byte{0, 0, 0, 5, 'E', 'T', '1', '2'}), 100<<20); err == nil || !strings.Contains(err.Error(), "beyond the first 64 MB") {
		t.Error(err)
	}
}

// TestHostile: indices that lead nowhere.
func TestHostile(t *testing.T) {
	t.Parallel()
	edit := func(change func(plan flatbuffer.Fields)) []byte {
		plan := ptetest.Fallback()
		change(plan)
		return ptetest.Make(plan, nil)
	}
	call := func(kind uint8, of uint32, args ...uint32) []flatbuffer.Fields {
		return []flatbuffer.Fields{{2: []flatbuffer.Fields{{0: kind, 1: flatbuffer.Fields{0: of, 1: args}}}}}
	}
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"operation": {edit(func(p flatbuffer.Fields) { p[5] = call(1, 7) }), "calls operation 7 of 1"},
		"delegate":  {edit(func(p flatbuffer.Fields) { p[5] = call(2, 2) }), "calls delegate 2 of 2"},
		"argument":  {edit(func(p flatbuffer.Fields) { p[5] = call(1, 0, 99) }), "an index 99 of 7"},
		"negative":  {edit(func(p flatbuffer.Fields) { p[3] = []uint32{0xfffffffe} }), "an index -2 of 7"},
	} {
		if _, err := parse(c.raw); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	whole := ptetest.Make(ptetest.Fallback(), []byte("segment"))
	for n := range whole {
		_, _ = parse(whole[:n])
	}
	if p, err := parse(whole[:len(whole)-1]); err != nil || !strings.Contains(p.Warning, "cut off") {
		t.Errorf("%+v, %v", p, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(ptetest.Make(ptetest.Fallback(), []byte("segment")))
	f.Add([]byte("....ET12eh00"))
	f.Fuzz(func(t *testing.T, b []byte) { _, _ = parse(b) })
}
