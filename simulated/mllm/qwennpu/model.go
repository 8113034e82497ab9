// Package qwennpu says which tokens mllm v1's main_qwen_npu makes of a small model: the simulation's, whose program on the device is held to it, token for token.
//
// A prompt is filled up to a length and goes through int8 layers in groups, one token for which there is nothing behind it is made, and float layers go on
// from the same cache. docs/design/0025 has the arithmetic. The package shares nothing with the program but that page; it does not know how weights
// are quantised (simulated/mllm/quantizer), and no real model is fast enough here.
package qwennpu

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/hexmage/hexmage/model/mllm"
)

// Shape is what upstream's program is told by flags and not by its files.
type Shape struct {
	Hidden int // -d
	Heads  int // -h
	FFN    int // -f
}

// file is a .mllm of version 1, which holds no shapes.
type file struct {
	f    *mllm.File
	name string
}

func open(r io.ReaderAt, size int64, name string) (file, error) {
	f, err := mllm.Parse(r, size)
	if err != nil {
		return file{}, fmt.Errorf("%s: %w", name, err)
	}
	return file{f, name}, nil
}

func (f file) raw(tensor string, d mllm.DType, n int) ([]byte, error) {
	p, ok := f.f.Lookup(tensor)
	switch {
	case !ok:
		return nil, fmt.Errorf("%s: no tensor %q", f.name, tensor)
	case p.DType != d:
		return nil, fmt.Errorf("%s: tensor %q is %s, and this model's are %s", f.name, tensor, p.DType, d)
	case p.Size != int64(n)*d.Size():
		return nil, fmt.Errorf("%s: tensor %q has %d bytes, not %d × %d: are the flags those of the model?", f.name, tensor, p.Size, n, d.Size())
	}
	return io.ReadAll(f.f.Data(p))
}

func (f file) floats(tensor string, n int) ([]float32, error) {
	raw, err := f.raw(tensor, mllm.Float32, n)
	if err != nil {
		return nil, err
	}
	out := make([]float32, n)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return out, nil
}

// elements is how many values a float tensor has; 0 when there is none.
func (f file) elements(tensor string) int {
	p, _ := f.f.Lookup(tensor)
	return int(p.Size / 4)
}

// linear is a layer with weights of either kind: y = x·w + bias.
type linear struct {
	in, out int
	bias    []float32 // nil: none
	w       []float32 // [out][in]

	int8s             []int8  // [in][out], in the place of w
	scaleIn, scaleOut float32 // of a step, 1/127 of the largest value
	scale             float32 // of a weight's step
	clipIn, clipOut   bool
}

func (f file) linear(name string, in, out int, biased bool) (linear, error) {
	l := linear{in: in, out: out}
	var err error
	if l.w, err = f.floats(name+".weight", in*out); err != nil {
		return l, err
	}
	if biased {
		l.bias, err = f.floats(name+".bias", out)
	}
	return l, err
}

func (f file) eight(name string, in, out int, biased bool) (linear, error) {
	l := linear{in: in, out: out}
	raw, err := f.raw(name+".weight", mllm.Int8, in*out)
	if err != nil {
		return l, err
	}
	l.int8s = make([]int8, len(raw))
	for i, b := range raw {
		l.int8s[i] = int8(b)
	}
	for tensor, to := range map[string]*float32{".weight.scale": &l.scale, ".input_scale": &l.scaleIn, ".output_scale": &l.scaleOut} {
		v, err := f.floats(name+tensor, 1)
		if err != nil {
			return l, err
		}
		*to = v[0]
	}
	l.scaleIn, l.scaleOut = float32(l.scaleIn/127), float32(l.scaleOut/127)
	for tensor, to := range map[string]*bool{".clip_input": &l.clipIn, ".clip_output": &l.clipOut} {
		v, err := f.raw(name+tensor, mllm.Int8, 1)
		if err != nil {
			return l, err
		}
		*to = v[0] != 0
	}
	if biased {
		l.bias, err = f.floats(name+".bias", out)
	}
	return l, err
}

// layer is a decoder layer.
type layer struct {
	inNorm, postNorm           []float32
	q, k, v, o, gate, up, down linear
	keys, values               [][]float32 // by position
	heads, kvHeads, headDim    int
}

// model is all of a file, with the caches of its layers.
type model struct {
	hidden, vocab int
	embed         []float32
	layers        []*layer
	norm          []float32
	head          linear
	sin, cos      [][]float32
}

// load reads a model whose linear layers are read by read: int8 ones or float ones.
func load(f file, s Shape, read func(f file, name string, in, out int, biased bool) (linear, error)) (*model, error) {
	if s.Hidden < 1 || s.Heads < 1 || s.FFN < 1 || s.Hidden%(2*s.Heads) != 0 {
		return nil, fmt.Errorf("a model with a hidden size of %d, %d heads and an ffn of %d is none", s.Hidden, s.Heads, s.FFN)
	}
	m := &model{hidden: s.Hidden, vocab: f.elements("model.embed_tokens.weight") / s.Hidden}
	var err error
	if m.embed, err = f.floats("model.embed_tokens.weight", m.vocab*s.Hidden); err != nil {
		return nil, err
	}
	if m.norm, err = f.floats("model.norm.weight", s.Hidden); err != nil {
		return nil, err
	}
	m.head = linear{in: s.Hidden, out: m.vocab, w: m.embed} // tied, where it has no weights of its own
	if f.elements("lm_head.weight") > 0 {
		if m.head, err = f.linear("lm_head", s.Hidden, m.vocab, false); err != nil {
			return nil, err
		}
	}
	headDim := s.Hidden / s.Heads
	for n := 0; ; n++ {
		at := fmt.Sprintf("model.layers.%d.", n)
		if _, ok := f.f.Lookup(at + "input_layernorm.weight"); !ok {
			break
		}
		kv := f.elements(at + "self_attn.k_proj.bias")
		l := &layer{heads: s.Heads, kvHeads: kv / headDim, headDim: headDim}
		if l.kvHeads < 1 || kv%headDim != 0 || s.Heads%l.kvHeads != 0 {
			return nil, fmt.Errorf("%s: keys of %d values for %d heads of %d: are the flags those of the model?", f.name, kv, s.Heads, headDim)
		}
		if l.inNorm, err = f.floats(at+"input_layernorm.weight", s.Hidden); err != nil {
			return nil, err
		}
		if l.postNorm, err = f.floats(at+"post_attention_layernorm.weight", s.Hidden); err != nil {
			return nil, err
		}
		for _, p := range []struct {
			to      *linear
			name    string
			in, out int
		}{
			{&l.q, "self_attn.q_proj", s.Hidden, s.Hidden}, {&l.k, "self_attn.k_proj", s.Hidden, kv}, {&l.v, "self_attn.v_proj", s.Hidden, kv},
			{&l.o, "self_attn.o_proj", s.Hidden, s.Hidden}, {&l.gate, "mlp.gate_proj", s.Hidden, s.FFN}, {&l.up, "mlp.up_proj", s.Hidden, s.FFN},
			{&l.down, "mlp.down_proj", s.FFN, s.Hidden},
		} {
			if *p.to, err = read(f, at+p.name, p.in, p.out, p.to == &l.q || p.to == &l.k || p.to == &l.v); err != nil {
				return nil, err
			}
		}
		m.layers = append(m.layers, l)
	}
	if len(m.layers) == 0 {
		return nil, fmt.Errorf("%s has no layers of a Qwen", f.name)
	}
	return m, nil
}
