package qwennpu

import (
	"math"

	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

// Every operation below sits in its own float32 conversion: the language then forbids fusing it with the next one. Sums go from the first to the last.

const zero = 32768 // of values of 16 bits

// apply is the layer in floats.
func (l linear) apply(x []float32) []float32 {
	y := make([]float32, l.out)
	for o := range y {
		var sum float32
		for i, w := range l.w[o*l.in : (o+1)*l.in] {
			sum = float32(sum + float32(x[i]*w))
		}
		if l.bias != nil {
			sum = float32(sum + l.bias[o])
		}
		y[o] = sum
	}
	return y
}

// quantise gives x in steps of scale.
func quantise(x []float32, scale float32, clip bool) []int32 {
	out, inverse := make([]int32, len(x)), float32(1/scale)
	for i, v := range x {
		out[i] = toymodel.Round(float32(v * inverse))
		if clip {
			out[i] = min(max(out[i], -128), 127)
		}
	}
	return out
}

// apply8 is the layer in int8, of x in steps of scale: what the NPU gives, as floats again.
func (l linear) apply8(x []int32, scale float32) []float32 {
	sums := make([]int64, l.out)
	for i, v := range x {
		for o, w := range l.int8s[i*l.out : (i+1)*l.out] {
			sums[o] += int64(v) * int64(w)
		}
	}
	y, step := make([]float32, l.out), float32(scale*l.scale)
	for o, sum := range sums {
		y[o] = float32(float32(sum) * step)
		if l.bias != nil {
			y[o] = float32(y[o] + l.bias[o])
		}
	}
	for o, q := range quantise(y, l.scaleOut, l.clipOut) {
		y[o] = float32(float32(q) * l.scaleOut)
	}
	return y
}

// sixteen gives values in steps of 1/32767 of the largest one.
func sixteen(rows ...[]float32) (out [][]uint16, scale float32) {
	var top float32
	for _, row := range rows {
		for _, v := range row {
			top = max(top, v, -v)
		}
	}
	if top == 0 {
		top = 1
	}
	scale = float32(top / 32767)
	inverse := float32(1 / scale)
	for _, row := range rows {
		q := make([]uint16, len(row))
		for i, v := range row {
			q[i] = uint16(min(max(toymodel.Round(float32(v*inverse))+zero, 0), 65535))
		}
		out = append(out, q)
	}
	return out, scale
}

// norm8 normalises rows, as the op package does on the DSP: 16 bits go in and come out, which are as wide as what the layer behind was seen to get.
func norm8(rows [][]float32, weight []float32, behind linear) [][]int32 {
	x, xs := sixteen(rows...)
	w, ws := sixteen(weight)
	largest := float32(behind.scaleIn * 127)
	os := float32(largest / 32767)
	var out [][]int32
	for _, row := range x {
		q := make([]uint16, len(row))
		toymodel.RMSNorm(q, row, w[0], xs, zero, ws, zero, os, zero)
		y := make([]float32, len(row))
		for i, v := range q {
			y[i] = float32(float32(int32(v)-zero) * os)
		}
		out = append(out, quantise(y, behind.scaleIn, behind.clipIn))
	}
	return out
}

// norm normalises a row in floats.
func norm(x, w []float32) []float32 {
	var sum float32
	for _, v := range x {
		sum = float32(sum + float32(v*v))
	}
	r := float32(1 / toymodel.Sqrt(float32(float32(sum/float32(len(x)))+math.Float32frombits(0x358637BD))))
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(float32(v*r) * w[i])
	}
	return y
}

// rope turns the heads of x, in place.
func (l *layer) rope(x, sin, cos []float32) {
	half := l.headDim / 2
	for h := 0; h < len(x); h += l.headDim {
		for i := range half {
			a, b := x[h+i], x[h+i+half]
			x[h+i] = float32(float32(a*cos[i]) - float32(b*sin[i]))
			x[h+i+half] = float32(float32(b*cos[i]) + float32(a*sin[i]))
		}
	}
}

// attend is what the heads of q see in the cache up to a position.
func (l *layer) attend(q []float32, position int) []float32 {
	out, root := make([]float32, len(q)), float32(1/toymodel.Sqrt(float32(l.headDim)))
	scores := make([]float32, position+1)
	for h := range l.heads {
		from, kv := h*l.headDim, h/(l.heads/l.kvHeads)*l.headDim
		top := float32(math.Inf(-1))
		for j := range scores {
			var sum float32
			for i := range l.headDim {
				sum = float32(sum + float32(q[from+i]*l.keys[j][kv+i]))
			}
			scores[j] = float32(sum * root)
			top = max(top, scores[j])
		}
		var total float32
		for j, s := range scores {
			scores[j] = toymodel.Exp(float32(s - top))
			total = float32(total + scores[j])
		}
		for j, s := range scores {
			weight := float32(s / total)
			for i := range l.headDim {
				out[from+i] = float32(out[from+i] + float32(weight*l.values[j][kv+i]))
			}
		}
	}
	return out
}

// gated is silu(gate)·up.
func gated(gate, up []float32) []float32 {
	y := make([]float32, len(gate))
	for i, x := range gate {
		e := toymodel.Exp(-float32(math.Abs(float64(x))))
		n := float32(1 + e)
		g := float32(e / n)
		if x >= 0 {
			g = float32(1 / n)
		}
		y[i] = float32(float32(x*g) * up[i])
	}
	return y
}

func plus(h, x []float32) {
	for i, v := range x {
		h[i] = float32(h[i] + v)
	}
}

// row is the embedding of a token; of a number that is none, which is what a prompt is filled up with, zeros.
func (m *model) row(id int) []float32 {
	out := make([]float32, m.hidden)
	if id < m.vocab {
		copy(out, m.embed[id*m.hidden:])
	}
	return out
}

// prefill runs a group of tokens, the first of which is at a position, through int8 layers. It gives what comes out of the last.
func (m *model) prefill(ids []int, position int) [][]float32 {
	var rows [][]float32
	for _, id := range ids {
		rows = append(rows, m.row(id))
	}
	for _, l := range m.layers {
		for r, x := range norm8(rows, l.inNorm, l.q) {
			k, v := l.k.apply8(x, l.q.scaleIn), l.v.apply8(x, l.q.scaleIn)
			l.rope(k, m.sin[position+r], m.cos[position+r])
			l.keys, l.values = append(l.keys, k), append(l.values, v)
			q := l.q.apply8(x, l.q.scaleIn)
			l.rope(q, m.sin[position+r], m.cos[position+r])
			plus(rows[r], l.o.apply8(quantise(l.attend(q, position+r), l.o.scaleIn, l.o.clipIn), l.o.scaleIn))
		}
		for r, x := range norm8(rows, l.postNorm, l.up) {
			y := gated(l.gate.apply8(x, l.up.scaleIn), l.up.apply8(x, l.up.scaleIn))
			plus(rows[r], l.down.apply8(quantise(y, l.down.scaleIn, l.down.clipIn), l.down.scaleIn))
		}
	}
	return rows
}

// step runs one token through float layers and gives the next.
func (m *model) step(id, position int) int {
	h := m.row(id)
	for _, l := range m.layers {
		x := norm(h, l.inNorm)
		k, v, q := l.k.apply(x), l.v.apply(x), l.q.apply(x)
		l.rope(k, m.sin[position], m.cos[position])
		l.rope(q, m.sin[position], m.cos[position])
		l.keys, l.values = append(l.keys, k), append(l.values, v)
		plus(h, l.o.apply(l.attend(q, position)))
		x = norm(h, l.postNorm)
		plus(h, l.down.apply(gated(l.gate.apply(x), l.up.apply(x))))
	}
	return m.next(h)
}

// next is the token that follows from what the last layer gave: the one with the most, the first of several.
func (m *model) next(h []float32) int {
	best, logits := 0, m.head.apply(norm(h, m.norm))
	for i, v := range logits {
		if v > logits[best] {
			best = i
		}
	}
	return best
}
