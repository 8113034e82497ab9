package example_test

import (
	"math"
	"math/rand/v2"

	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

// The arithmetic of simulated/mllm/toymodel/README.md, for the tests of the ops. float32 around each operation keeps it apart from the next.

func rne(u float32) int32 {
	return int32(math.RoundToEven(float64(min(max(u, -131072), 131072))))
}

func quantized(y float32, x tensor, most int32) int32 {
	return min(max(rne(float32(y*float32(1/x.scale)))+x.zero, 0), most)
}

func real16(x tensor, i int) float32 {
	return float32(float32(int32(x.data.([]uint16)[i])-x.zero) * x.scale)
}

// exp is e to the power t for t <= 0.
func exp(t float32) float32 {
	if !(t > -16) {
		return 0
	}
	z := float32(t * math.Float32frombits(0x3fb8aa3b))
	n := rne(z)
	f := float32(z - float32(n))
	p := math.Float32frombits(0x39218489)
	for _, c := range []uint32{0x3aaec3ff, 0x3c1d955b, 0x3d635847, 0x3e75fdf0, 0x3f317218, 0x3f800000} {
		p = float32(float32(p*f) + math.Float32frombits(c))
	}
	return float32(p * float32(math.Ldexp(1, int(n))))
}

func rmsnorm(r *rand.Rand, d int) opCase {
	x, w, out := quant16(r, [4]int{1, 2, 3, d}), quant16(r, [4]int{1, 1, 1, d}), quant16(r, [4]int{1, 2, 3, d})
	want := make([]uint16, x.count())
	for i := 0; i < len(want); i += d {
		toymodel.RMSNorm(want[i:i+d], x.data.([]uint16)[i:i+d], w.data.([]uint16), x.scale, x.zero, w.scale, w.zero, out.scale, out.zero)
	}
	return opCase{"RMSNorm", out, []tensor{x, w}, want}
}

func silu(r *rand.Rand, d int) opCase {
	x, out := quant16(r, [4]int{1, 2, 3, d}), quant16(r, [4]int{1, 2, 3, d})
	x.scale, out.scale = 0.0007, 0.0005 // so that all of the curve is met
	want := make([]uint16, x.count())
	for i := range want {
		v := real16(x, i)
		e := exp(-float32(math.Abs(float64(v))))
		n := float32(1 + e)
		g := float32(1 / n)
		if v < 0 {
			g = float32(e / n)
		}
		want[i] = uint16(quantized(float32(v*g), out, 65535))
	}
	return opCase{"SiLU", out, []tensor{x}, want}
}

func add(r *rand.Rand, d int) opCase {
	x, y, out := quant16(r, [4]int{2, 1, 3, d}), quant16(r, [4]int{2, 1, 3, d}), quant16(r, [4]int{2, 1, 3, d})
	out.scale = 3 * max(x.scale, y.scale)
	want := make([]uint16, x.count())
	for i := range want {
		want[i] = uint16(quantized(float32(real16(x, i)+real16(y, i)), out, 65535))
	}
	return opCase{"LLaMAAdd", out, []tensor{x, y}, want}
}

func rope(r *rand.Rand, d int) opCase {
	d += d % 2
	const tokens, heads, positions, first = 3, 2, 10, 4
	x, out := quant16(r, [4]int{1, tokens, heads, d}), quant16(r, [4]int{1, tokens, heads, d})
	sin, cos := quant16(r, [4]int{1, 1, positions, d}), quant16(r, [4]int{1, 1, positions, d})
	sin.scale, cos.scale = 1.0/32767, 1.0/32767
	sin.zero, cos.zero = 32768, 32768
	out.scale = x.scale
	start := tensor{dtype: i32, dims: [4]int{1, 1, 1, 1}, scale: 1, data: []int32{first}}
	kind := tensor{dtype: i32, dims: [4]int{1, 1, 1, 1}, scale: 1, data: []int32{0}}
	want := make([]uint16, x.count())
	factor := float32(x.scale * cos.scale)
	at := func(t tensor, i int) int64 { return int64(t.data.([]uint16)[i]) - int64(t.zero) }
	for row := range tokens * heads {
		p := (first + row/heads) * d
		for i := range d / 2 {
			a, b, c, s := at(x, row*d+i), at(x, row*d+d/2+i), at(cos, p+i), at(sin, p+i)
			want[row*d+i] = uint16(quantized(float32(float32(a*c-b*s)*factor), out, 65535))
			want[row*d+d/2+i] = uint16(quantized(float32(float32(b*c+a*s)*factor), out, 65535))
		}
	}
	return opCase{"RoPE", out, []tensor{x, sin, cos, start, kind}, want}
}

func factor(v float32) tensor {
	return tensor{dtype: f32, dims: [4]int{1, 1, 1, 1}, scale: 1, data: []float32{v}}
}

func quantize(r *rand.Rand, d int, dtype uint32) opCase {
	dims := [4]int{1, 1, 3, d}
	x := tensor{dtype: f32, dims: dims, scale: 1}
	out := tensor{dtype: dtype, dims: dims, scale: 0.25, zero: 100}
	values := make([]float32, x.count())
	for i := range values {
		values[i] = float32(r.NormFloat64() * 60)
		if i%5 == 0 { // halves, where rounding has to choose
			values[i] = float32(r.IntN(400)-200) / 8
		}
	}
	values[0] = float32(math.Inf(1))
	x.data = values
	var want any
	if dtype == u8 {
		bytes := make([]uint8, len(values))
		for i, v := range values {
			bytes[i] = uint8(quantized(float32(v*1.5), out, 255))
		}
		want = bytes
	} else {
		halves := make([]uint16, len(values))
		for i, v := range values {
			halves[i] = uint16(quantized(float32(v*1.5), out, 65535))
		}
		want = halves
	}
	return opCase{"LLaMAQuantize", out, []tensor{x, factor(1.5)}, want}
}

func dequantize(r *rand.Rand, d int, dtype uint32) opCase {
	dims := [4]int{1, 1, 3, d}
	x := tensor{dtype: dtype, dims: dims, scale: 0.1, zero: 77}
	want := make([]float32, x.count())
	wide := random16(r, x.count())
	narrow := make([]uint8, x.count())
	for i := range want {
		narrow[i] = uint8(wide[i])
		q := int32(wide[i])
		if dtype == u8 {
			q = int32(narrow[i])
		}
		want[i] = float32(float32(x.scale*float32(q-x.zero)) * 1.5)
	}
	if x.data = wide; dtype == u8 {
		x.data = narrow
	}
	return opCase{"LLaMADequantize", tensor{dtype: f32, dims: dims, scale: 1}, []tensor{x, factor(1.5)}, want}
}
