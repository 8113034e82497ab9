package kerneltest

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
)

// fill returns the tensor's stored numbers, little-endian: the same for the same seed, case and place.
func (t Tensor) fill(r *rand.Rand) ([]byte, error) {
	if t.File != "" {
		data, err := os.ReadFile(t.File)
		if err == nil && len(data) != t.size() {
			err = fmt.Errorf("%s has %d bytes, and dims %v of %s are %d", t.File, len(data), t.Dims, t.Type, t.size())
		}
		return data, err
	}
	data := make([]byte, 0, t.size())
	for i := range t.count() {
		v := 0.0
		switch {
		case len(t.Data) == 1:
			v = t.Data[0]
		case len(t.Data) > 1:
			v = t.Data[i]
		default:
			v = t.random(r)
		}
		data = t.store(data, v)
	}
	return data, nil
}

// random is a stored number.
func (t Tensor) random(r *rand.Rand) float64 {
	d := t.dtype()
	low, high := t.Low, t.High
	switch {
	case low == 0 && high == 0 && t.quantised():
		return float64(d.min + r.Int64N(d.max-d.min+1))
	case low == 0 && high == 0 && t.Type == "int32":
		low, high = -1000, 1000
	case low == 0 && high == 0:
		low, high = -1, 1
	}
	v := low + r.Float64()*(high-low)
	if t.quantised() {
		v = math.RoundToEven(v/float64(t.scale())) + float64(t.Zero)
	}
	if d.max != 0 {
		v = min(max(math.RoundToEven(v), float64(d.min)), float64(d.max))
	}
	return v
}

func (t Tensor) store(to []byte, v float64) []byte {
	switch t.Type {
	case "float32":
		return binary.LittleEndian.AppendUint32(to, math.Float32bits(float32(v)))
	case "float16":
		return binary.LittleEndian.AppendUint16(to, half(float32(v)))
	}
	switch t.dtype().bytes {
	case 1:
		return append(to, byte(int64(v)))
	case 2:
		return binary.LittleEndian.AppendUint16(to, uint16(int64(v)))
	}
	return binary.LittleEndian.AppendUint32(to, uint32(int64(v)))
}

// at returns the i-th stored number, and a whole number that counts the type's steps.
func (t Tensor) at(data []byte, i int) (stored float64, steps int64) {
	switch t.Type {
	case "float32":
		b := binary.LittleEndian.Uint32(data[4*i:])
		return float64(math.Float32frombits(b)), ordered(int64(b), 31)
	case "float16":
		b := binary.LittleEndian.Uint16(data[2*i:])
		return float64(fromHalf(b)), ordered(int64(b), 15)
	case "quint8":
		steps = int64(data[i])
	case "qint8":
		steps = int64(int8(data[i]))
	case "quint16":
		steps = int64(binary.LittleEndian.Uint16(data[2*i:]))
	case "qint16":
		steps = int64(int16(binary.LittleEndian.Uint16(data[2*i:])))
	default:
		steps = int64(int32(binary.LittleEndian.Uint32(data[4*i:])))
	}
	return float64(steps), steps
}

// real is what a stored number stands for.
func (t Tensor) real(stored float64) float64 {
	if t.quantised() {
		return (stored - float64(t.Zero)) * float64(t.scale())
	}
	return stored
}

// ordered makes a float's bits count up with the float: from one float to the next is one step, and both zeros are the same.
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
	_, e := math.Frexp(a) // a = f * 2^e, f from 1/2 to 1
	m := math.RoundToEven(math.Ldexp(a, 11-e))
	return sign | uint16((e+13)<<10+int(m)) // a mantissa that was rounded up to 2048 carries into the exponent
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

// Result is one call of an op, compared.
type Result struct {
	Case     string `json:"case"`
	Op       string `json:"op"`
	Arch     string `json:"arch"`
	Seed     uint64 `json:"seed"`
	Elements int    `json:"elements"`
	Differ   int    `json:"differ"` // elements that are not the reference's, within what is allowed or not
	Wrong    int    `json:"wrong"`  // beyond what is allowed
	// The largest errors there are. Infinite ones, such as of a number against none, are the largest float and integer.
	MaxAbs float64 `json:"max_abs"`
	MaxULP uint64  `json:"max_ulp"`
	First  *Wrong  `json:"first,omitempty"` // wrong element
	Failed string  `json:"failed,omitempty"`
}

// Wrong is an element that is not what the reference says.
type Wrong struct {
	Output int     `json:"output"`
	Index  int     `json:"index"` // in the output's data
	At     [4]int  `json:"at"`    // b, h, w, d
	Got    float64 `json:"got"`   // real numbers
	Want   float64 `json:"want"`
	// Stored are the numbers in memory, where they are not the real ones.
	StoredGot  float64 `json:"stored_got"`
	StoredWant float64 `json:"stored_want"`
}

// OK says whether all is as it should be.
func (r Result) OK() bool { return r.Failed == "" && r.Wrong == 0 }

// compare adds one output to the result.
func (r *Result) compare(c Case, output int, got, want []byte) {
	t := c.Outputs[output]
	shape := t.shape()
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
			abs, ulp = math.MaxFloat64, math.MaxInt64
		}
		r.MaxAbs, r.MaxULP = max(r.MaxAbs, abs), max(r.MaxULP, ulp)
		if abs <= c.MaxAbs || ulp <= c.MaxULP {
			continue
		}
		if r.Wrong++; r.First == nil {
			at, rest := [4]int{}, i
			for k := 3; k >= 0; k-- {
				at[k] = rest % shape[k]
				rest /= shape[k]
			}
			r.First = &Wrong{Output: output, Index: i, At: at, Got: finite(t.real(g)), Want: finite(t.real(w)), StoredGot: finite(g), StoredWant: finite(w)}
		}
	}
}

// finite makes a number one that JSON has.
func finite(v float64) float64 {
	switch {
	case math.IsNaN(v), math.IsInf(v, 1):
		return math.MaxFloat64
	case math.IsInf(v, -1):
		return -math.MaxFloat64
	}
	return v
}

// String is the result in a line.
func (r Result) String() string {
	head := fmt.Sprintf("%s on %s, seed %d", r.Case, r.Arch, r.Seed)
	switch {
	case r.Failed != "":
		return head + ": " + r.Failed
	case r.First == nil:
		return fmt.Sprintf("%s: %d elements, %d differ, max abs error %.9g, %d ulp", head, r.Elements, r.Differ, r.MaxAbs, r.MaxULP)
	}
	f := r.First
	stored := ""
	if f.Got != f.StoredGot || f.Want != f.StoredWant {
		stored = fmt.Sprintf(" (stored: %g, %g)", f.StoredGot, f.StoredWant)
	}
	return fmt.Sprintf("%s: output %d: element %d at %v is %.9g, the reference says %.9g%s; %d of %d are wrong, max abs error %.9g, %d ulp",
		head, f.Output, f.Index, f.At, f.Got, f.Want, stored, r.Wrong, r.Elements, r.MaxAbs, r.MaxULP)
}
