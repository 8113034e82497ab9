package kerneltest

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestHalf(t *testing.T) {
	for b := range 1 << 16 { // every half there is
		v := fromHalf(uint16(b))
		if math.IsNaN(float64(v)) {
			continue
		}
		if got := half(v); got != uint16(b) {
			t.Fatalf("%#x is %g is %#x", b, v, got)
		}
	}
	for v, want := range map[float32]uint16{65519: 0x7bff, 65520: 0x7c00, 1.00048828125: 0x3c00, 1.00146484375: 0x3c02, 2047.9: 0x67ff + 1, -1e9: 0xfc00, 1e-9: 0, 6.0e-8: 1} {
		if got := half(v); got != want {
			t.Errorf("half(%g) = %#x, want %#x", v, got, want)
		}
	}
	if got := half(float32(math.NaN())); got&0x7c00 != 0x7c00 || got&0x3ff == 0 {
		t.Errorf("half(NaN) = %#x", got)
	}
}

func TestFill(t *testing.T) {
	for _, tt := range []struct {
		t         Tensor
		low, high float64 // of stored numbers
	}{
		{Tensor{Type: "quint8", Dims: []int{3000}, Scale: 0.1}, 0, 255},
		{Tensor{Type: "qint8", Dims: []int{3000}, Scale: 0.1}, -128, 127},
		{Tensor{Type: "quint16", Dims: []int{2, 1500}, Scale: 0.5, Zero: 100, Low: -1, High: 2}, 98, 104},
		{Tensor{Type: "qint16", Dims: []int{3000}, Scale: 1}, -32768, 32767},
		{Tensor{Type: "int32", Dims: []int{3000}}, -1000, 1000},
		{Tensor{Type: "float32", Dims: []int{3000}, Low: 5, High: 6}, 5, 6},
		{Tensor{Type: "float16", Dims: []int{3000}}, -1, 1},
	} {
		if err := tt.t.validate(); err != nil {
			t.Fatal(err)
		}
		a, err := tt.t.fill(rand.New(rand.NewPCG(1, 2)))
		if err != nil || len(a) != tt.t.size() {
			t.Fatalf("%+v: %d bytes, %v", tt.t, len(a), err)
		}
		b, _ := tt.t.fill(rand.New(rand.NewPCG(1, 2)))
		c, _ := tt.t.fill(rand.New(rand.NewPCG(2, 2)))
		if !bytes.Equal(a, b) || bytes.Equal(a, c) {
			t.Errorf("%s: a seed is not one tensor", tt.t.Type)
		}
		least, most := math.Inf(1), math.Inf(-1)
		for i := range tt.t.count() {
			v, _ := tt.t.at(a, i)
			least, most = min(least, v), max(most, v)
		}
		if span := tt.high - tt.low; least < tt.low || most > tt.high || most-least < 0.9*span {
			t.Errorf("%+v: from %g to %g", tt.t, least, most)
		}
	}
}

func TestCompare(t *testing.T) {
	f32 := func(v ...float32) []byte {
		b, _ := binary.Append(nil, binary.LittleEndian, v)
		return b
	}
	next := math.Nextafter32(1, 2)
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	one := Tensor{Type: "float32", Dims: []int{2, 2}}
	for _, tt := range []struct {
		name      string
		t         Tensor
		abs       float64
		ulp       uint64
		got, want []byte
		wrong     int
		index     int
		maxULP    uint64
	}{
		{"equal", one, 0, 0, f32(1, 2, nan, inf), f32(1, 2, nan, inf), 0, 0, 0},
		{"zeros", one, 0, 0, f32(0, 0, 0, 0), f32(0, float32(math.Copysign(0, -1)), 0, 0), 0, 0, 0},
		{"one step", one, 0, 0, f32(1, 1, 1, next), f32(1, 1, 1, 1), 1, 3, 1},
		{"one step allowed", one, 0, 1, f32(1, 1, 1, next), f32(1, 1, 1, 1), 0, 0, 1},
		{"over zero", one, 0, 2, f32(1e-45, 1, 1, 1), f32(-1e-45, 1, 1, 1), 0, 0, 2},
		{"absolute", one, 0.5, 0, f32(1.5, 3, 1, 1), f32(1, 1, 1, 1), 1, 1, 1 << 23 * 3 / 2},
		{"no number", one, 1e30, 1 << 40, f32(1, nan, 1, 1), f32(1, 1, 1, 1), 1, 1, math.MaxInt64},
		{"infinite", one, 1e30, 1 << 40, f32(1, 1, inf, 1), f32(1, 1, 1, 1), 1, 2, math.MaxInt64},
		{"quantised", Tensor{Type: "quint8", Dims: []int{3}, Scale: 0.5, Zero: 7}, 1, 0, []byte{1, 5, 255}, []byte{1, 3, 252}, 1, 2, 3},
		{"signed", Tensor{Type: "qint8", Dims: []int{2}, Scale: 1}, 0, 0, []byte{0xff, 0x80}, []byte{1, 0x80}, 1, 0, 2},
	} {
		r := Result{}
		r.compare(Case{Outputs: []Tensor{tt.t}, MaxAbs: tt.abs, MaxULP: tt.ulp}, 0, tt.got, tt.want)
		if r.Wrong != tt.wrong || r.MaxULP != tt.maxULP || (r.First != nil) != (tt.wrong > 0) || r.First != nil && r.First.Index != tt.index {
			t.Errorf("%s: %+v, first %+v", tt.name, r, r.First)
		}
	}
}

func TestValidate(t *testing.T) {
	good := Tensor{Type: "quint8", Dims: []int{2}, Scale: 1}
	for want, c := range map[string]Case{
		"has no output":         {Op: "A"},
		"no type \"uint8\"":     {Op: "A", Outputs: []Tensor{{Type: "uint8", Dims: []int{1}}}},
		"needs a scale":         {Op: "A", Outputs: []Tensor{{Type: "quint8", Dims: []int{1}}}},
		"0 dims":                {Op: "A", Outputs: []Tensor{{Type: "float32"}}},
		"each is to be":         {Op: "A", Outputs: []Tensor{{Type: "float32", Dims: []int{0}}}},
		"all together":          {Op: "A", Outputs: []Tensor{{Type: "float32", Dims: []int{1 << 20, 1 << 20, 1 << 20, 1 << 20}}}},
		"more than 32 MiB":      {Op: "A", Outputs: []Tensor{{Type: "float32", Dims: []int{1 << 22}}, {Type: "float32", Dims: []int{1 << 23}}}},
		"17 tensors":            {Op: "A", Outputs: []Tensor{good}, Inputs: make([]Tensor, 16)},
		"has 3 numbers":         {Op: "A", Outputs: []Tensor{good}, Inputs: []Tensor{{Type: "quint8", Dims: []int{2}, Scale: 1, Data: []float64{1, 2, 3}}}},
		"which type quint8":     {Op: "A", Outputs: []Tensor{good}, Inputs: []Tensor{{Type: "quint8", Dims: []int{1}, Scale: 1, Data: []float64{256}}}},
		"input 0: low 2 is not": {Op: "A", Outputs: []Tensor{good}, Inputs: []Tensor{{Type: "quint8", Dims: []int{1}, Scale: 1, Low: 2, High: 1}}},
		"data and a file":       {Op: "A", Outputs: []Tensor{good}, Inputs: []Tensor{{Type: "quint8", Dims: []int{1}, Scale: 1, Data: []float64{1}, File: "x"}}},
	} {
		if err := Validate([]Case{c}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if Validate(nil) == nil {
		t.Error("no case is a test")
	}
}

func FuzzOutputs(f *testing.F) {
	f.Add(make([]byte, 64))
	c := call{c: Case{Outputs: []Tensor{{Type: "float32", Dims: []int{2}}, {Type: "quint8", Dims: []int{3}, Scale: 1}}}}
	f.Fuzz(func(t *testing.T, answer []byte) {
		for _, whole := range []bool{false, true} {
			if out, err := c.outputs(answer, whole); err == nil && (len(out[0]) != 8 || len(out[1]) != 3) {
				t.Errorf("%d and %d bytes", len(out[0]), len(out[1]))
			}
		}
		opNames(answer)
	})
}
