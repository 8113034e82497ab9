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
		a := tt.t.fill(rand.New(rand.NewPCG(1, 2)))
		if len(a) != tt.t.size() {
			t.Fatalf("%+v: %d bytes", tt.t, len(a))
		}
		b, c := tt.t.fill(rand.New(rand.NewPCG(1, 2))), tt.t.fill(rand.New(rand.NewPCG(2, 2)))
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
		first     string
		maxULP    uint64
	}{
		{"equal", one, 0, 0, f32(1, 2, nan, inf), f32(1, 2, nan, inf), 0, "", 0},
		{"zeros", one, 0, 0, f32(0, 0, 0, 0), f32(0, float32(math.Copysign(0, -1)), 0, 0), 0, "", 0},
		{"one step", one, 0, 0, f32(1, 1, 1, next), f32(1, 1, 1, 1), 1, "element 3 at ", 1},
		{"one step allowed", one, 0, 1, f32(1, 1, 1, next), f32(1, 1, 1, 1), 0, "", 1},
		{"over zero", one, 0, 2, f32(1e-45, 1, 1, 1), f32(-1e-45, 1, 1, 1), 0, "", 2},
		{"absolute", one, 0.5, 0, f32(1.5, 3, 1, 1), f32(1, 1, 1, 1), 1, "element 1 at ", 1 << 23 * 3 / 2},
		{"no number", one, 1e30, 1 << 40, f32(1, nan, 1, 1), f32(1, 1, 1, 1), 1, "element 1 at ", math.MaxInt64},
		{"infinite", one, 1e30, 1 << 40, f32(1, 1, inf, 1), f32(1, 1, 1, 1), 1, "element 2 at ", math.MaxInt64},
		{"quantized", Tensor{Type: "quint8", Dims: []int{3}, Scale: 0.5, Zero: 7}, 1, 0, []byte{1, 5, 255}, []byte{1, 3, 252}, 1, "element 2 at ", 3},
		{"signed", Tensor{Type: "qint8", Dims: []int{2}, Scale: 1}, 0, 0, []byte{0xff, 0x80}, []byte{1, 0x80}, 1, "element 0 at ", 2},
	} {
		r := Result{}
		r.compare(Case{Outputs: []Tensor{tt.t}, MaxAbs: tt.abs, MaxULP: tt.ulp}, 0, tt.got, tt.want)
		if r.Wrong != tt.wrong || r.MaxULP != tt.maxULP || !strings.Contains(r.First, tt.first) {
			t.Errorf("%s: %+v", tt.name, r)
		}
	}
}

func TestValidate(t *testing.T) {
	good := Tensor{Type: "quint8", Dims: []int{2}, Scale: 1}
	for want, c := range map[string]Case{
		"missing output":           {Op: "A"},
		"unknown dtype \"uint8\"":  {Op: "A", Outputs: []Tensor{{Type: "uint8", Dims: []int{1}}}},
		"missing scale":            {Op: "A", Outputs: []Tensor{{Type: "quint8", Dims: []int{1}}}},
		"0 dims":                   {Op: "A", Outputs: []Tensor{{Type: "float32"}}},
		"each must be at least":    {Op: "A", Outputs: []Tensor{{Type: "float32", Dims: []int{0}}}},
		"the product":              {Op: "A", Outputs: []Tensor{{Type: "float32", Dims: []int{1 << 20, 1 << 20, 1 << 20, 1 << 20}}}},
		"tensors exceed 32 MiB":    {Op: "A", Outputs: []Tensor{{Type: "float32", Dims: []int{1 << 22}}, {Type: "float32", Dims: []int{1 << 23}}}},
		"17 tensors":               {Op: "A", Outputs: []Tensor{good}, Inputs: make([]Tensor, 16)},
		"data has 3 numbers":       {Op: "A", Outputs: []Tensor{good}, Inputs: []Tensor{{Type: "quint8", Dims: []int{2}, Scale: 1, Data: []float64{1, 2, 3}}}},
		"value 256: quint8 stores": {Op: "A", Outputs: []Tensor{good}, Inputs: []Tensor{{Type: "quint8", Dims: []int{1}, Scale: 1, Data: []float64{256}}}},
		"input 0: low 2 is above":  {Op: "A", Outputs: []Tensor{good}, Inputs: []Tensor{{Type: "quint8", Dims: []int{1}, Scale: 1, Low: 2, High: 1}}},
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
	f.Add(make([]byte, 80))
	c := Case{Outputs: []Tensor{{Type: "float32", Dims: []int{2}}, {Type: "quint8", Dims: []int{3}, Scale: 1}}}
	f.Fuzz(func(t *testing.T, answer []byte) {
		if out, err := c.outputs(answer); err == nil && (len(out[0]) != 8 || len(out[1]) != 3) {
			t.Errorf("%d and %d bytes", len(out[0]), len(out[1]))
		}
	})
}
