package toymodel

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/hexmage/hexmage/model/mllm"
)

// Weights are the tensors of a quantised model, checked against a Config's Schema. They are read-only.
type Weights struct {
	Config Config
	data   map[string][]byte
}

// LoadWeights reads all tensors that c's Schema names from f and checks their types, shapes and the values that must lie in a range.
func LoadWeights(f *mllm.File, c Config) (*Weights, error) {
	w := &Weights{Config: c, data: map[string][]byte{}}
	for _, s := range c.Schema() {
		p, ok := f.Lookup(s.Name)
		if !ok {
			return nil, fmt.Errorf("the model has no tensor %q; was it quantised for this config?", s.Name)
		}
		if p.DType != s.DType || !slices.Equal(p.Shape, s.Shape) {
			hint := ""
			if p.DType == mllm.Float32 && s.DType != mllm.Float32 {
				hint = "; the model is not quantised"
			}
			if len(s.Shape) == 1 && len(p.Shape) == 1 && s.DType == mllm.Uint8 {
				hint = fmt.Sprintf("; is linear_block_size %d the quantiser's block size?", c.LinearBlockSize)
			}
			return nil, fmt.Errorf("tensor %q is %v %v, the config needs %v %v%s", s.Name, p.DType, p.Shape, s.DType, s.Shape, hint)
		}
		raw := make([]byte, p.Size)
		if _, err := io.ReadFull(f.Data(p), raw); err != nil {
			return nil, fmt.Errorf("read tensor %q: %w", s.Name, err)
		}
		w.data[s.Name] = raw
	}
	return w, w.check()
}

// Bytes is the data of a tensor of the Schema, or nil.
func (w *Weights) Bytes(name string) []byte { return w.data[name] }

// Affine is the scale and zero point of a norm, the embedding, or (full name) an activation.
func (w *Weights) Affine(name string) (scale float32, zeroPoint int32) {
	s, ok := w.data[name+".scale"]
	z := w.data[name+".zero_point"]
	if !ok {
		s, z = w.data[name+fakeQuant+"scale"], w.data[name+fakeQuant+"zero_point"]
	}
	if len(s) < 4 || len(z) < 4 {
		return 0, 0
	}
	return math.Float32frombits(binary.LittleEndian.Uint32(s)), int32(binary.LittleEndian.Uint32(z))
}

func (w *Weights) quant(name string) quant {
	s, z := w.Affine(name)
	return newQuant(s, z)
}

func (w *Weights) check() error {
	c := w.Config
	names := append(c.Activations(), Embedding)
	for _, n := range c.Norms() {
		names = append(names, n.Name)
	}
	for _, n := range names {
		s, z := w.Affine(n)
		if !(s > 0x1p-100 && s < 0x1p100) || z < 0 || z > 65535 {
			return fmt.Errorf("%s: scale %v, zero point %d are not usable", n, s, z)
		}
	}
	for l := range c.NumHiddenLayers {
		for _, a := range []string{ActKCache, ActVCache} {
			if _, z := w.Affine(c.LayerAct(l, a)); z != 128 {
				return fmt.Errorf("%s: zero point %d; the KV cache is symmetric around 128", c.LayerAct(l, a), z)
			}
		}
		if s, z := w.Affine(c.LayerAct(l, ActSoftmax)); math.Float32bits(s) != bitsUnit || z != 0 {
			return fmt.Errorf("%s: scale %v, zero point %d; fixed at 1/65535 and 0", c.LayerAct(l, ActSoftmax), s, z)
		}
	}
	ss, sz := w.Affine(ActSin)
	cs, cz := w.Affine(ActCos)
	if ss != cs || sz != fixedTable || cz != fixedTable {
		return fmt.Errorf("sin and cos tables have scales %v, %v and zero points %d, %d; they must be equal and %d", ss, cs, sz, cz, fixedTable)
	}
	for _, l := range c.Linears() {
		for _, b := range w.data[l.Name+".weight"] {
			if b > 15 {
				return fmt.Errorf("%s.weight holds %d; int4 values are stored as 0..15", l.Name, b)
			}
		}
		for _, b := range w.data[l.Name+".scale1"] {
			if b < 1 || b > 16 {
				return fmt.Errorf("%s.scale1 holds %d, not in 1..16", l.Name, b)
			}
		}
	}
	for _, l := range c.Biases() {
		for o, v := range floats32(w.data[l.Name+".bias"]) {
			if !(v > -0x1p100 && v < 0x1p100) {
				return fmt.Errorf("%s.bias[%d] is %v", l.Name, o, v)
			}
		}
	}
	return nil
}

// linear is one LPBQ layer in the shape the reference computes with.
type linear struct {
	in, out, block int
	weight         []int8 // [out][in]
	scale1         []uint8
	scale2         []float32
	bias           []float32 // nil: none
}

func (w *Weights) linear(s LinearSpec) linear {
	l := linear{in: s.In, out: s.Out, block: w.Config.LinearBlockSize, scale1: w.data[s.Name+".scale1"]}
	l.weight = make([]int8, s.In*s.Out)
	for i, b := range w.data[s.Name+".weight"] { // stored [in][out]
		l.weight[i%s.Out*s.In+i/s.Out] = int8(b<<4) >> 4
	}
	l.scale2, l.bias = floats32(w.data[s.Name+".scale2"]), floats32(w.data[s.Name+".bias"])
	return l
}

func floats32(raw []byte) []float32 {
	var out []float32
	for ; len(raw) >= 4; raw = raw[4:] {
		out = append(out, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
	}
	return out
}

func (l linear) apply(x []uint16, qx, qo quant) []uint16 {
	y := make([]uint16, l.out)
	blocks := l.in / l.block
	for o := range y {
		row := l.weight[o*l.in : (o+1)*l.in]
		var acc int64
		for b := range blocks {
			var sum int64
			for i := b * l.block; i < (b+1)*l.block; i++ {
				sum += (int64(x[i]) - int64(qx.zp)) * int64(row[i])
			}
			acc += sum * int64(l.scale1[o*blocks+b])
		}
		v := float32(float32(acc) * float32(qx.scale*l.scale2[o]))
		if l.bias != nil {
			v = float32(v + l.bias[o])
		}
		y[o] = qo.u16(v)
	}
	return y
}

func (w *Weights) u16(name string) []uint16 {
	raw := w.data[name]
	out := make([]uint16, len(raw)/2)
	for i := range out {
		out[i] = binary.LittleEndian.Uint16(raw[2*i:])
	}
	return out
}
