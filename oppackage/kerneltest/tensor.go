package kerneltest

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
)

// fill returns the tensor's stored numbers, little-endian.
func (t Tensor) fill(r *rand.Rand) []byte {
	data := make([]byte, 0, t.size())
	for i := range t.count() {
		if n := len(t.Data); n > 0 {
			data = t.store(data, t.Data[i%n])
		} else {
			data = t.store(data, t.random(r))
		}
	}
	return data
}

// random returns a stored number.
func (t Tensor) random(r *rand.Rand) float64 {
	d := t.dtype()
	low, high := t.Low, t.High
	switch {
	case low != 0 || high != 0:
	case t.quantized():
		return float64(d.min + r.Int64N(d.max-d.min+1))
	case t.Type == "int32":
		low, high = -1000, 1000
	default:
		low, high = -1, 1
	}
	v := low + r.Float64()*(high-low)
	if t.quantized() {
		v = math.RoundToEven(v/float64(t.scale())) + float64(t.Zero)
	}
	if d.max != 0 {
		v = min(max(math.RoundToEven(v), float64(d.min)), float64(d.max))
	}
	return v
}

func (t Tensor) store(to []byte, v float64) []byte {
	switch {
	case t.Type == "float32":
		return binary.LittleEndian.AppendUint32(to, math.Float32bits(float32(v)))
	case t.Type == "float16":
		return binary.LittleEndian.AppendUint16(to, half(float32(v)))
	case t.dtype().bytes == 1:
		return append(to, byte(int64(v)))
	case t.dtype().bytes == 2:
		return binary.LittleEndian.AppendUint16(to, uint16(int64(v)))
	}
	return binary.LittleEndian.AppendUint32(to, uint32(int64(v)))
}

// at returns the i-th stored number, as a value and as a count of the type's steps.
func (t Tensor) at(data []byte, i int) (stored float64, steps int64) {
	d := t.dtype()
	var word [8]byte
	copy(word[:], data[d.bytes*i:d.bytes*(i+1)])
	bits := int64(binary.LittleEndian.Uint64(word[:]))
	switch {
	case t.Type == "float32":
		return float64(math.Float32frombits(uint32(bits))), ordered(bits, 31)
	case t.Type == "float16":
		return float64(fromHalf(uint16(bits))), ordered(bits, 15)
	case d.min < 0: // a signed integer
		unused := 64 - 8*d.bytes
		bits = bits << unused >> unused
	}
	return float64(bits), bits
}

// real returns the real value of a stored number.
func (t Tensor) real(stored float64) float64 {
	if t.quantized() {
		return (stored - float64(t.Zero)) * float64(t.scale())
	}
	return stored
}

// ordered maps a float's bits to integers in the floats' order. Both zeros map to 0.
func ordered(bits int64, sign uint) int64 {
	if bits>>sign&1 == 0 {
		return bits
	}
	return -(bits &^ (1 << sign))
}

// half rounds to half precision, half to even.
func half(x float32) uint16 {
	a := math.Abs(float64(x))
	sign := uint16(math.Float32bits(x) >> 16 & 0x8000)
	switch {
	case a != a:
		return sign | 0x7e00
	case a < 0x1p-14:
		return sign | uint16(math.RoundToEven(a*0x1p24))
	case a >= 65520:
		return sign | 0x7c00
	}
	_, e := math.Frexp(a) // a = f * 2^e, with f from 1/2 to 1
	m := math.RoundToEven(math.Ldexp(a, 11-e))
	return sign | uint16((e+13)<<10+int(m)) // a mantissa rounded up to 2048 carries into the exponent
}

func fromHalf(b uint16) float32 {
	e, m := int(b>>10&31), float64(b&0x3ff)
	v := math.Ldexp(m, -24)
	switch {
	case e == 31 && m != 0:
		v = math.NaN()
	case e == 31:
		v = math.Inf(1)
	case e > 0:
		v = math.Ldexp(m+1024, e-25)
	}
	if b&0x8000 != 0 {
		v = -v
	}
	return float32(v)
}

// Result is the comparison of one call with the reference.
type Result struct {
	Case     string
	Arch     string
	Seed     uint64
	Elements int
	Differ   int     // elements that differ from the reference
	Wrong    int     // elements outside the case's limits
	MaxAbs   float64 // largest error in real numbers
	MaxULP   uint64  // largest error in steps of the type
	First    string  // first wrong element
	Failed   string
}

// OK reports whether the call succeeded and each element is within the case's limits.
func (r Result) OK() bool { return r.Failed == "" && r.Wrong == 0 }

// compare adds one output to the result.
func (r *Result) compare(c Case, output int, got, want []byte) {
	t := c.Outputs[output]
	for i := range t.count() {
		r.Elements++
		g, gs := t.at(got, i)
		w, ws := t.at(want, i)
		if gs == ws || math.IsNaN(g) && math.IsNaN(w) {
			continue
		}
		r.Differ++
		abs, ulp := math.Abs(t.real(g)-t.real(w)), uint64(max(gs, ws)-min(gs, ws))
		if math.IsNaN(abs) || math.IsInf(abs, 0) {
			abs, ulp = math.Inf(1), math.MaxInt64
		}
		r.MaxAbs, r.MaxULP = max(r.MaxAbs, abs), max(r.MaxULP, ulp)
		if abs <= c.MaxAbs || ulp <= c.MaxULP {
			continue
		}
		if r.Wrong++; r.Wrong > 1 {
			continue
		}
		at, rest := t.shape(), i
		for k := 3; k >= 0; k-- {
			at[k], rest = rest%at[k], rest/at[k]
		}
		r.First = fmt.Sprintf("output %d: element %d at %v is %.9g, the reference has %.9g", output, i, at,
			t.real(g), t.real(w))
		if t.quantized() {
			r.First += fmt.Sprintf(" (stored: %g, %g)", g, w)
		}
	}
}

// String returns the result in one line.
func (r Result) String() string {
	head := fmt.Sprintf("%s on %s, seed %d", r.Case, r.Arch, r.Seed)
	switch {
	case r.Failed != "":
		return head + ": " + r.Failed
	case r.Wrong == 0:
		return fmt.Sprintf("%s: %d elements, %d differ, max abs error %.9g, %d ulp", head, r.Elements, r.Differ,
			r.MaxAbs, r.MaxULP)
	}
	return fmt.Sprintf("%s: %s; %d of %d are wrong, max abs error %.9g, %d ulp", head, r.First, r.Wrong, r.Elements,
		r.MaxAbs, r.MaxULP)
}
