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

// LoadWeights reads all tensors that c's Schema names from f and checks their types, shapes and the values that must
// lie in a range.
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
			return nil, fmt.Errorf("tensor %q is %v %v, the config needs %v %v%s", s.Name, p.DType, p.Shape, s.DType,
				s.Shape, hint)
		}
		raw := make([]byte, p.Size)
		if _, err := io.ReadFull(f.Data(p), raw); err != nil {
			return nil, fmt.Errorf("read tensor %q: %w", s.Name, err)
		}
		w.data[s.Name] = raw
	}
	return w, w.check()
}

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

// check rejects unusable scales and zero points of the tensors that the runner reads.
func (w *Weights) check() error {
	for _, n := range w.Model().Norms {
		for _, q := range []Quant{n.Quant, n.In, n.Out} {
			if !(q.Scale > 0x1p-100 && q.Scale < 0x1p100) || q.ZeroPoint < 0 || q.ZeroPoint > 65535 {
				return fmt.Errorf("%s: unusable scale %v or zero point %d", n.Name, q.Scale, q.ZeroPoint)
			}
		}
	}
	return nil
}

// Model returns what the runner computes with.
func (w *Weights) Model() *Model {
	c := w.Config
	m := &Model{Hidden: c.HiddenSize, Embedding: words(w.data[Embedding+".weight"])}
	quant := func(name string) Quant {
		s, z := w.Affine(name)
		return Quant{s, z}
	}
	for i, n := range c.Norms() {
		layer := i / max(1, (len(c.Norms())-1)/c.NumHiddenLayers)
		in, out := c.normActs(layer, n.Name)
		m.Norms = append(m.Norms, Norm{n.Name, words(w.data[n.Name+".weight"]), quant(n.Name), quant(in), quant(out)})
	}
	return m
}

func words(raw []byte) []uint16 {
	out := make([]uint16, len(raw)/2)
	for i := range out {
		out[i] = binary.LittleEndian.Uint16(raw[2*i:])
	}
	return out
}
