package toymodel

import "math"

// The constants of docs/design/0002 §1, as bits so that no compiler's decimal parser can differ.
const (
	bitsLog2E = 0x3FB8AA3B
	bitsEps   = 0x358637BD
	bitsUnit  = 0x37800080 // 1/65535
	magic     = 12582912   // 1.5 * 2^23: adding it to a small float32 rounds to an integer, half to even
)

// quant is a tensor's scale and zero point, with what is derived from them once.
type quant struct {
	scale float32
	inv   float32
	zp    int32
}

func newQuant(scale float32, zp int32) quant {
	return quant{scale: scale, inv: float32(1 / scale), zp: zp}
}

// Every operation below sits in its own float32 conversion: the language then forbids fusing it with the next one.

// Round is the nearest whole number, half to even, of what is below 131,072 either way, where it stops.
func Round(u float32) int32 {
	u = min(max(u, -131072), 131072)
	return int32(float32(float32(u+magic) - magic))
}

func (q quant) u16(y float32) uint16 {
	return uint16(min(max(Round(float32(y*q.inv))+q.zp, 0), 65535))
}

func (q quant) u8(y float32) uint8 {
	return uint8(min(max(Round(float32(y*q.inv))+128, 0), 255))
}

// Exp is e to the power of t, for t <= 0, and 0 from -16 down.
func Exp(t float32) float32 {
	if !(t > -16) {
		return 0
	}
	z := float32(t * math.Float32frombits(bitsLog2E))
	n := float32(float32(z+magic) - magic)
	f := float32(z - n)
	p := math.Float32frombits(0x39218489)
	for _, c := range [...]uint32{0x3AAEC3FF, 0x3C1D955B, 0x3D635847, 0x3E75FDF0, 0x3F317218, 0x3F800000} {
		p = float32(float32(p*f) + math.Float32frombits(c))
	}
	return float32(p * math.Float32frombits(uint32(int32(n)+127)<<23))
}

// Sqrt is correctly rounded: float64's square root of a float32 has more than 2p+2 bits.
func Sqrt(v float32) float32 { return float32(math.Sqrt(float64(v))) }

// RMSNorm normalises one row of uint16 values as docs/design/0002 §3 says. x, w and out have one length.
func RMSNorm(out, x, w []uint16, xs float32, xz int32, ws float32, wz int32, os float32, oz int32) {
	rmsNorm(out, x, w, newQuant(xs, xz), newQuant(ws, wz), newQuant(os, oz))
}

func rmsNorm(out, x, w []uint16, qx, qw, qo quant) {
	var s uint64
	for _, v := range x {
		a := int64(v) - int64(qx.zp)
		s += uint64(a * a)
	}
	m := float32(float32(s) / float32(len(x)))
	v := float32(float32(m*float32(qx.scale*qx.scale)) + math.Float32frombits(bitsEps))
	r := float32(1 / Sqrt(v))
	k := float32(qx.scale * r)
	for i, xv := range x {
		y := float32(float32(int32(xv)-qx.zp) * k)
		g := float32(float32(int32(w[i])-qw.zp) * qw.scale)
		out[i] = qo.u16(float32(y * g))
	}
}

// attend computes one query head against keys and values of the positions so far; keys[j] and values[j] are that position's rows.
func attend(out, q []uint16, keys, values [][]uint8, qq, qk, qv, qs, qo quant) {
	isd := float32(1 / Sqrt(float32(len(q))))
	ms := float32(float32(qq.scale*qk.scale) * isd)
	scores := make([]uint16, len(keys))
	top := uint16(0)
	for j, k := range keys {
		var acc int64
		for d, v := range q {
			acc += (int64(v) - int64(qq.zp)) * (int64(k[d]) - 128)
		}
		scores[j] = qs.u16(float32(float32(acc) * ms))
		top = max(top, scores[j])
	}
	var total uint64
	weights := make([]uint32, len(keys))
	for j, s := range scores {
		e := Exp(float32(float32(int32(s)-int32(top)) * qs.scale))
		weights[j] = uint32(float32(float32(float32(e*1048576)+magic) - magic))
		total += uint64(weights[j])
	}
	g := float32(65535 / float32(total))
	mv := float32(qv.scale * math.Float32frombits(bitsUnit))
	acc := make([]int64, len(out))
	for j, v := range values {
		p := int64(min(max(Round(float32(float32(weights[j])*g)), 0), 65535))
		for d := range acc {
			acc[d] += p * (int64(v[d]) - 128)
		}
	}
	for d := range out {
		out[d] = qo.u16(float32(float32(acc[d]) * mv))
	}
}

func silu(v uint16, qx, qo quant) uint16 {
	x := float32(float32(int32(v)-qx.zp) * qx.scale)
	e := Exp(-float32(math.Abs(float64(x))))
	n := float32(1 + e)
	g := float32(e / n)
	if x >= 0 {
		g = float32(1 / n)
	}
	return qo.u16(float32(x * g))
}
