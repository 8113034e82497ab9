package toymodel

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata")

// The vectors of docs/design/0002 §1.
func TestExpVectors(t *testing.T) {
	for in, want := range map[uint32]uint32{0: 0x3F800000, 0xBF000000: 0x3F1B4598, 0xBF800000: 0x3EBC5AB2, 0xBEB17218: 0x3F3504F5,
		0xC0500000: 0x3D1ED1B4, 0xC1200000: 0x383E6BCE, 0xC17FD70A: 0x33F418AA, 0xC1800000: 0} {
		if got := math.Float32bits(Exp(math.Float32frombits(in))); got != want {
			t.Errorf("exp(%08X) = %08X, want %08X", in, got, want)
		}
	}
}

func TestExpIsExp(t *testing.T) {
	for x := float32(-15.999); x <= 0; x += 0.00037 {
		want := math.Exp(float64(x))
		if got := float64(Exp(x)); math.Abs(got-want) > 2e-6*want {
			t.Fatalf("exp(%v) = %v, want %v", x, got, want)
		}
	}
}

func TestRNE(t *testing.T) {
	for in, want := range map[float32]int32{0.5: 0, 1.5: 2, 2.5: 2, -0.5: 0, -1.5: -2, 65534.5: 65534, 65535.5: 65536, 0.49999997: 0,
		1e30: 131072, -1e30: -131072, 70000.51: 70001} {
		if got := Round(in); got != want {
			t.Errorf("Round(%v) = %d, want %d", in, got, want)
		}
	}
}

func TestQuantiseClamps(t *testing.T) {
	q := newQuant(0.25, 100)
	for in, want := range map[float32]uint16{0: 100, 1: 104, -25: 0, -1000: 0, 1e9: 65535, 0.125: 100, 0.375: 102} {
		if got := q.u16(in); got != want {
			t.Errorf("u16(%v) = %d, want %d", in, got, want)
		}
	}
	for in, want := range map[float32]uint8{0: 128, 100: 255, -100: 0, 0.125: 128} {
		if got := q.u8(in); got != want {
			t.Errorf("u8(%v) = %d, want %d", in, got, want)
		}
	}
}

// sqrt32 must be the correctly rounded root; exact arithmetic decides.
func TestSqrtIsCorrectlyRounded(t *testing.T) {
	p := prng(7)
	for range 20000 {
		v := math.Float32frombits(uint32(p.next())&0x3fffffff | 0x10000000)
		r := Sqrt(v)
		exact := func(f float32) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(float64(f)) }
		for _, n := range []float32{math.Nextafter32(r, 0), math.Nextafter32(r, 1e30)} {
			half := new(big.Float).Add(exact(r), exact(n)) // twice the midpoint; its square must lie on n's side of v
			half.Quo(half, big.NewFloat(2))
			square := new(big.Float).SetPrec(200).Mul(half, half)
			if c := square.Cmp(exact(v)); (n < r) == (c > 0) && c != 0 {
				t.Fatalf("sqrt(%v) = %v, but %v is nearer", v, r, n)
			}
		}
	}
}

// rmsCase is one entry of testdata/rmsnorm.json, which the runner and the op package also test against.
type rmsCase struct {
	XScale  uint32   `json:"x_scale_bits"`
	XZero   int32    `json:"x_zero_point"`
	WScale  uint32   `json:"w_scale_bits"`
	WZero   int32    `json:"w_zero_point"`
	OutScal uint32   `json:"out_scale_bits"`
	OutZero int32    `json:"out_zero_point"`
	X       []uint16 `json:"x"`
	W       []uint16 `json:"w"`
	Out     []uint16 `json:"out"`
}

func rmsCases() []rmsCase {
	p := prng(42)
	var out []rmsCase
	for _, d := range []int{32, 128, 64, 1, 3} {
		for k := range 4 {
			c := rmsCase{XScale: math.Float32bits(3e-4 * float32(k+1)), XZero: int32(p.next() % 65536), WScale: math.Float32bits(2.1e-5),
				WZero: int32(p.next() % 30000), OutScal: math.Float32bits(1.3e-4), OutZero: 31000 + int32(p.next()%3000)}
			for range d {
				x := uint16(p.next())
				if k == 3 { // near the zero point: epsilon matters
					x = uint16(min(c.XZero+int32(p.next()%5), 65535))
				}
				c.X, c.W = append(c.X, x), append(c.W, uint16(p.next()))
			}
			c.Out = make([]uint16, d)
			f := math.Float32frombits
			RMSNorm(c.Out, c.X, c.W, f(c.XScale), c.XZero, f(c.WScale), c.WZero, f(c.OutScal), c.OutZero)
			out = append(out, c)
		}
	}
	return out
}

func TestRMSNormVectors(t *testing.T) {
	cases := rmsCases()
	var b bytes.Buffer
	b.WriteString("[\n")
	for i, c := range cases {
		raw, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(raw)
		if i+1 < len(cases) {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString("]\n")
	path := filepath.Join("testdata", "rmsnorm.json")
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, b.Bytes()) {
		t.Error("RMSNorm gives other numbers than testdata/rmsnorm.json: the arithmetic of docs/design/0002 changed")
	}
}

// The numbers must also mean what RMSNorm means.
func TestRMSNormIsRMSNorm(t *testing.T) {
	for i, c := range rmsCases() {
		f := func(b uint32) float64 { return float64(math.Float32frombits(b)) }
		sum := 0.0
		for _, x := range c.X {
			v := f(c.XScale) * float64(int32(x)-c.XZero)
			sum += v * v
		}
		r := 1 / math.Sqrt(sum/float64(len(c.X))+1e-6)
		for j := range c.X {
			y := f(c.XScale) * float64(int32(c.X[j])-c.XZero) * r * f(c.WScale) * float64(int32(c.W[j])-c.WZero)
			want := min(max(math.Round(y/f(c.OutScal))+float64(c.OutZero), 0), 65535)
			if math.Abs(want-float64(c.Out[j])) > 1 {
				t.Fatalf("case %d element %d: %d, want %v", i, j, c.Out[j], want)
			}
		}
	}
}

// attend is compared with attention in double precision.
func TestAttentionIsAttention(t *testing.T) {
	p := prng(5)
	const d, n = 32, 20
	qq, qk, qv, qs, qo := newQuant(1e-4, 30000), newQuant(0.02, 128), newQuant(0.01, 128), newQuant(2e-4, 32000), newQuant(5e-5, 32000)
	q := make([]uint16, d)
	for i := range q {
		q[i] = uint16(p.next()%20000) + 20000
	}
	keys, values := make([][]uint8, n), make([][]uint8, n)
	for j := range keys {
		for range d {
			keys[j] = append(keys[j], uint8(p.next()))
			values[j] = append(values[j], uint8(p.next()))
		}
	}
	got := make([]uint16, d)
	attend(got, q, keys, values, qq, qk, qv, qs, qo)
	weights, total := make([]float64, n), 0.0
	for j := range keys {
		s := 0.0
		for i := range q {
			s += float64(int32(q[i])-30000) * 1e-4 * float64(int32(keys[j][i])-128) * 0.02
		}
		weights[j] = math.Exp(s / math.Sqrt(d))
		total += weights[j]
	}
	for i := range got {
		want := 0.0
		for j := range values {
			want += weights[j] / total * float64(int32(values[j][i])-128) * 0.01
		}
		if real := float64(int32(got[i])-32000) * 5e-5; math.Abs(real-want) > 5e-4 {
			t.Errorf("element %d: %v, want %v", i, real, want)
		}
	}
}

func TestSiLU(t *testing.T) {
	qx, qo := newQuant(0.001, 20000), newQuant(0.001, 1000)
	for _, v := range []uint16{0, 15000, 19999, 20000, 20001, 25000, 60000} {
		x := float64(int32(v)-20000) * 0.001
		want := x / (1 + math.Exp(-x))
		if got := float64(int32(silu(v, qx, qo))-1000) * 0.001; math.Abs(got-want) > 0.00051 {
			t.Errorf("silu(%v) = %v, want %v", x, got, want)
		}
	}
}
