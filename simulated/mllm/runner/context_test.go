package runner_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

// The types and ops of docs/design/0002 §7.
const (
	quint8, quint16, float32s, int32s, uint8s, int4packed = 1, 2, 3, 5, 16, 32
	static, input, output, native, state                  = 0, 1, 2, 3, 4

	embedding, rmsNorm, linear, rope, kvWrite, attention, add, silu, mul = 1, 2, 3, 4, 5, 6, 7, 8, 9
)

const buildID = "v2.41.0.251128000000_0"

// writer makes a context binary straight from the text of 0002 §7, apart from the compiler, so that the runner is tested against
// the document.
type writer struct {
	w       *toymodel.Weights
	c       toymodel.Config
	statics []byte
	index   map[string]uint32
	strings []byte
	data    []byte
}

type graph struct {
	*writer
	n       int
	tensors []byte
	names   map[string]uint32
	ops     []byte
	nOps    uint32
}

var le = binary.LittleEndian

func u32s(v ...uint32) []byte {
	var b []byte
	for _, x := range v {
		b = le.AppendUint32(b, x)
	}
	return b
}

func pad(b []byte, to int) []byte {
	for len(b)%to != 0 {
		b = append(b, 0)
	}
	return b
}

func (w *writer) str(s string) []byte {
	at := len(w.strings)
	w.strings = append(w.strings, s...)
	return u32s(uint32(at), uint32(len(s)))
}

func (w *writer) record(name string, dtype, kind uint32, dims [4]int, affine string, offset, size int) []byte {
	scale, zero := float32(1), int32(0)
	if affine != "" {
		scale, zero = w.w.Affine(affine)
	}
	b := append(w.str(name), u32s(dtype, kind, uint32(dims[0]), uint32(dims[1]), uint32(dims[2]), uint32(dims[3]), math.Float32bits(scale), uint32(zero))...)
	b = le.AppendUint64(b, uint64(offset))
	b = le.AppendUint64(b, uint64(size))
	return le.AppendUint64(b, 0)
}

func (w *writer) static(name string, dtype uint32, dims [4]int, affine string, data []byte) {
	w.data = pad(w.data, 128)
	w.index[name] = uint32(len(w.statics)/64) | 1<<31
	w.statics = append(w.statics, w.record(name, dtype, static, dims, affine, len(w.data), len(data))...)
	w.data = append(w.data, data...)
}

func (w *writer) allStatics() {
	c := w.c
	w.static(toymodel.Embedding, quint16, [4]int{1, 1, c.VocabSize, c.HiddenSize}, toymodel.Embedding, w.w.Bytes(toymodel.Embedding+".weight"))
	for _, n := range c.Norms() {
		w.static(n.Name, quint16, [4]int{1, 1, 1, n.Dim}, n.Name, w.w.Bytes(n.Name+".weight"))
	}
	for _, l := range c.Linears() {
		raw := w.w.Bytes(l.Name + ".weight")
		packed := make([]byte, len(raw)/2)
		for i, v := range raw {
			packed[i/2] |= v << (4 * (i % 2))
		}
		w.static(l.Name, int4packed, [4]int{1, 1, l.In, l.Out}, "", packed)
		w.static(l.Name+".scale1", uint8s, [4]int{1, 1, l.Out, l.In / c.LinearBlockSize}, "", w.w.Bytes(l.Name+".scale1"))
		w.static(l.Name+".scale2", float32s, [4]int{1, 1, 1, l.Out}, "", w.w.Bytes(l.Name+".scale2"))
	}
	w.static("cos", quint16, [4]int{1, 1, c.MaxCacheLength, c.HeadDim}, toymodel.ActCos, w.w.Bytes(toymodel.CosTable))
	w.static("sin", quint16, [4]int{1, 1, c.MaxCacheLength, c.HeadDim}, toymodel.ActSin, w.w.Bytes(toymodel.SinTable))
}

func (g *graph) tensor(name string, dtype, kind uint32, dims [4]int, affine string) uint32 {
	size := dims[0] * dims[1] * dims[2] * dims[3] * map[uint32]int{quint8: 1, quint16: 2, int32s: 4}[dtype]
	i := uint32(len(g.tensors) / 64)
	g.tensors = append(g.tensors, g.record(name, dtype, kind, dims, affine, 0, size)...)
	g.names[name] = i
	return i
}

// act adds an activation of n rows, whose name is that of its scale unless it is given.
func (g *graph) act(affine string, dims ...int) uint32 {
	d := [4]int{1, 1, g.n, dims[len(dims)-1]}
	if len(dims) == 2 {
		d = [4]int{1, g.n, dims[0], dims[1]}
	}
	return g.tensor(fmt.Sprint("t", len(g.tensors)/64), quint16, native, d, affine)
}

func (g *graph) op(code uint32, name string, in, out []uint32) {
	var flags uint32
	kind := [...]string{"", "Embedding", "RMSNorm", "Linear", "RoPE", "KVWrite", "Attention", "Add", "SiLU", "Mul"}[code]
	if code == rmsNorm {
		flags = 1
	}
	b := u32s(code, flags)
	b = append(b, g.str(name)...)
	b = append(b, g.str(kind)...)
	b = append(b, u32s(uint32(len(in)), uint32(len(out)))...)
	b = append(b, u32s(in...)...)
	b = append(b, make([]byte, 80-len(b))...)
	b = append(b, u32s(out...)...)
	g.ops = append(g.ops, append(b, make([]byte, 128-len(b))...)...)
	g.nOps++
}

func (g *graph) norm(name string, x, out uint32) uint32 {
	g.op(rmsNorm, name, []uint32{x, g.index[name]}, []uint32{out})
	return out
}

func (g *graph) linear(name string, x, out uint32) uint32 {
	g.op(linear, name, []uint32{x, g.index[name], g.index[name+".scale1"], g.index[name+".scale2"]}, []uint32{out})
	return out
}

func (g *graph) build() (io []uint32, inputs, outputs int) {
	c := g.c
	ids := g.tensor("input_ids", int32s, input, [4]int{1, 1, 1, g.n}, "")
	past := g.tensor("past_length", int32s, input, [4]int{1, 1, 1, 1}, "")
	var keys, values []uint32
	for l := range c.NumHiddenLayers {
		keys = append(keys, g.tensor(fmt.Sprintf("past_key_%d", l), quint8, state, [4]int{1, c.MaxCacheLength, c.NumKeyValueHeads, c.HeadDim},
			c.LayerAct(l, toymodel.ActKCache)))
	}
	for l := range c.NumHiddenLayers {
		values = append(values, g.tensor(fmt.Sprintf("past_value_%d", l), quint8, state, [4]int{1, c.MaxCacheLength, c.NumKeyValueHeads, c.HeadDim},
			c.LayerAct(l, toymodel.ActVCache)))
	}
	hidden := g.act(toymodel.Embedding, c.HiddenSize)
	g.op(embedding, "embed", []uint32{ids, g.index[toymodel.Embedding]}, []uint32{hidden})
	for l := range c.NumHiddenLayers {
		hidden = g.layer(l, hidden, past, keys[l], values[l])
	}
	logits := g.tensor("logits", quint16, output, [4]int{1, 1, g.n, c.VocabSize}, toymodel.ActLogits)
	g.linear(toymodel.LMHead, g.norm(toymodel.FinalNorm, hidden, g.act(toymodel.ActHead, c.HiddenSize)), logits)
	io = append([]uint32{ids, past}, append(keys, values...)...)
	inputs = len(io)
	io = append(io, logits)
	io = append(io, append(keys, values...)...)
	return io, inputs, len(io) - inputs
}

func (g *graph) layer(l int, hidden, past, keys, values uint32) uint32 {
	c, h, kv, d := g.c, g.c.NumAttentionHeads, g.c.NumKeyValueHeads, g.c.HeadDim
	a := func(name string, dims ...int) uint32 { return g.act(g.c.LayerAct(l, name), dims...) }
	p := fmt.Sprintf("model.layers.%d.", l)
	n1 := g.norm(p+"input_layernorm", hidden, a(toymodel.ActAttnInput, c.HiddenSize))
	q := g.linear(p+"self_attn.q_proj", n1, a(toymodel.ActQ, h, d))
	k := g.linear(p+"self_attn.k_proj", n1, a(toymodel.ActK, kv, d))
	v := g.linear(p+"self_attn.v_proj", n1, a(toymodel.ActV, kv, d))
	qn := g.norm(p+"self_attn.q_norm", q, a(toymodel.ActQNorm, h, d))
	kn := g.norm(p+"self_attn.k_norm", k, a(toymodel.ActKNorm, kv, d))
	qr, kr := a(toymodel.ActQRope, h, d), a(toymodel.ActKRope, kv, d)
	g.op(rope, p+"q_rope", []uint32{qn, g.index["cos"], g.index["sin"], past}, []uint32{qr})
	g.op(rope, p+"k_rope", []uint32{kn, g.index["cos"], g.index["sin"], past}, []uint32{kr})
	g.op(kvWrite, p+"k_cache", []uint32{kr, past}, []uint32{keys})
	g.op(kvWrite, p+"v_cache", []uint32{v, past}, []uint32{values})
	scores := g.tensor(p+"scores", quint16, native, [4]int{1, h, g.n, c.MaxCacheLength}, c.LayerAct(l, toymodel.ActScores))
	at := a(toymodel.ActAttn, h*d)
	g.op(attention, p+"attention", []uint32{qr, keys, values, past}, []uint32{at, scores})
	o := g.linear(p+"self_attn.o_proj", at, a(toymodel.ActAttnOut, c.HiddenSize))
	h1 := a(toymodel.ActAdd0, c.HiddenSize)
	g.op(add, p+"add_0", []uint32{hidden, o}, []uint32{h1})
	n2 := g.norm(p+"post_attention_layernorm", h1, a(toymodel.ActMLPInput, c.HiddenSize))
	gate := g.linear(p+"mlp.gate_proj", n2, a(toymodel.ActGate, c.IntermediateSize))
	up := g.linear(p+"mlp.up_proj", n2, a(toymodel.ActUp, c.IntermediateSize))
	s, m := a(toymodel.ActSiLU, c.IntermediateSize), a(toymodel.ActMul, c.IntermediateSize)
	g.op(silu, p+"mlp.act", []uint32{gate}, []uint32{s})
	g.op(mul, p+"mlp.mul", []uint32{s, up}, []uint32{m})
	down := g.linear(p+"mlp.down_proj", m, a(toymodel.ActMLPOut, c.HiddenSize))
	next := g.act(c.HiddenAct(l+1), c.HiddenSize)
	g.op(add, p+"add_1", []uint32{h1, down}, []uint32{next})
	return next
}

// contextBinary compiles weights for v79, SM8750, with the graphs for 32 tokens and for one.
func contextBinary(w *toymodel.Weights) []byte {
	wr := &writer{w: w, c: w.Config, index: map[string]uint32{}}
	wr.allStatics()
	c := w.Config
	var graphs, tables []byte
	place := func(base int, b []byte) uint64 {
		tables = pad(tables, 8)
		at := base + len(tables)
		tables = append(tables, b...)
		return uint64(at)
	}
	const header = 160
	base := header + 2*64
	for _, n := range []int{32, 1} {
		g := &graph{writer: wr, n: n, names: map[string]uint32{}}
		io, inputs, outputs := g.build()
		b := append(wr.str(fmt.Sprintf("model.0.s%d", n)), u32s(uint32(n), uint32(len(g.tensors)/64))...)
		b = le.AppendUint64(b, place(base, g.tensors))
		b = append(b, u32s(g.nOps, 128)...)
		b = le.AppendUint64(b, place(base, g.ops))
		b = append(b, u32s(uint32(inputs), uint32(outputs))...)
		b = le.AppendUint64(b, place(base, u32s(io...)))
		graphs = append(graphs, append(b, make([]byte, 8)...)...)
	}
	statics := place(base, wr.statics)
	build, options, pkg := wr.str(buildID), wr.str("min_arch=79"), wr.str("LLaMAPackage")
	names := place(base, wr.strings)
	tables = append(tables, make([]byte, (128-(base+len(tables))%128)%128)...)

	b := []byte("HXMGCTX1")
	b = append(b, u32s(1, header, 79, 69, 8, uint32(c.LinearBlockSize), uint32(c.VocabSize), uint32(c.HiddenSize), uint32(c.NumHiddenLayers),
		uint32(c.NumAttentionHeads), uint32(c.NumKeyValueHeads), uint32(c.HeadDim), uint32(c.IntermediateSize), uint32(c.MaxCacheLength),
		uint32(len(wr.statics)/64), 2)...)
	for _, v := range []uint64{statics, header, names, uint64(len(wr.strings)), uint64(base + len(tables)), uint64(len(wr.data))} {
		b = le.AppendUint64(b, v)
	}
	b = append(append(append(b, build...), options...), pkg...)
	b = append(b, make([]byte, header-len(b))...)
	blob := append(append(append(b, graphs...), tables...), wr.data...)

	meta := []byte(strings.Repeat("\x00", 128-0x28))
	file := []byte{0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1}
	for _, v := range []uint64{uint64(len(meta)), uint64(0x28 + len(meta)), uint64(len(blob))} {
		file = le.AppendUint64(file, v)
	}
	return append(append(file, meta...), blob...)
}
