package compiler

import (
	"fmt"

	"github.com/hexmage/hexmage/simulated/mllm/blob"
	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

// opPackage is the op package whose RMSNorm the graphs call.
const opPackage = "LLaMAPackage"

// statics packs the weights once, for all graphs, and remembers where each one is.
type statics struct {
	w      *toymodel.Weights
	list   []blob.Tensor
	number map[string]blob.Operand
}

func newStatics(w *toymodel.Weights) *statics {
	s := &statics{w: w, number: map[string]blob.Operand{}}
	c := w.Config
	s.affine(toymodel.Embedding+".weight", toymodel.Embedding, c.VocabSize, c.HiddenSize)
	for _, n := range c.Norms() {
		s.affine(n.Name+".weight", n.Name, 1, n.Dim)
	}
	s.affine(toymodel.CosTable, toymodel.ActCos, c.MaxCacheLength, c.HeadDim)
	s.affine(toymodel.SinTable, toymodel.ActSin, c.MaxCacheLength, c.HeadDim)
	for _, l := range c.Linears() {
		s.add(blob.Tensor{Name: l.Name + ".weight", DType: blob.Int4Packed, Dims: dims(l.In, l.Out), Data: pack(w.Bytes(l.Name + ".weight"))})
		s.add(blob.Tensor{Name: l.Name + ".scale1", DType: blob.Uint8, Dims: dims(l.Out, l.In/c.LinearBlockSize), Data: w.Bytes(l.Name + ".scale1")})
		s.add(blob.Tensor{Name: l.Name + ".scale2", DType: blob.Float32, Dims: dims(1, l.Out), Data: w.Bytes(l.Name + ".scale2")})
	}
	for _, l := range c.Biases() {
		s.add(blob.Tensor{Name: l.Name + ".bias", DType: blob.Float32, Dims: dims(1, l.Out), Data: w.Bytes(l.Name + ".bias")})
	}
	return s
}

func dims(h, w int) [4]uint32 { return [4]uint32{1, 1, uint32(h), uint32(w)} }

func (s *statics) affine(name, quant string, h, w int) {
	t := blob.Tensor{Name: name, DType: blob.QUint16, Dims: dims(h, w), Data: s.w.Bytes(name)}
	t.Scale, t.ZeroPoint = s.w.Affine(quant)
	s.add(t)
}

func (s *statics) add(t blob.Tensor) {
	if t.Scale == 0 {
		t.Scale = 1
	}
	s.number[t.Name] = blob.StaticOperand(len(s.list))
	s.list = append(s.list, t)
}

// pack puts the int4 values of outputs 2k and 2k+1 into one byte, the even one low. Rows are inputs and of even length.
func pack(weight []byte) []byte {
	packed := make([]byte, len(weight)/2)
	for i := range packed {
		packed[i] = weight[2*i]&0xF | weight[2*i+1]<<4
	}
	return packed
}

// graph builds one graph for n tokens.
type graph struct {
	blob.Graph
	s *statics
	c toymodel.Config
	n int
}

// buildGraph lists the operations of docs/design/0002 §3.1 for n tokens per run.
func buildGraph(s *statics, n int) blob.Graph {
	c := s.w.Config
	g := &graph{s: s, c: c, n: n}
	g.Name, g.Tokens = fmt.Sprintf("model.0.s%d", n), uint32(n)
	ids := g.tensor(blob.Tensor{Name: "input_ids", DType: blob.Int32, Kind: blob.Input, Dims: dims(1, n)})
	past := g.tensor(blob.Tensor{Name: "past_length", DType: blob.Int32, Kind: blob.Input, Dims: dims(1, 1)})
	g.Inputs = []uint32{uint32(ids), uint32(past)}
	var keys, values []blob.Operand
	for l := range c.NumHiddenLayers {
		keys = append(keys, g.state(fmt.Sprintf("past_key_%d", l), c.LayerAct(l, toymodel.ActKCache)))
	}
	for l := range c.NumHiddenLayers {
		values = append(values, g.state(fmt.Sprintf("past_value_%d", l), c.LayerAct(l, toymodel.ActVCache)))
	}
	h := g.activation("model.embed_tokens", toymodel.Embedding, dims(n, c.HiddenSize))
	g.op(blob.OpEmbedding, "model.embed_tokens", "Embedding", h, ids, s.number[toymodel.Embedding+".weight"])
	for l := range c.NumHiddenLayers {
		h = g.layer(l, h, past, keys[l], values[l])
	}
	final := g.norm(toymodel.FinalNorm, toymodel.ActHead, h, dims(n, c.HiddenSize))
	logits := g.linear(toymodel.LMHead, toymodel.ActLogits, final, dims(n, c.VocabSize))
	g.Tensors[logits].Name, g.Tensors[logits].Kind = "logits", blob.Output
	g.Outputs = []uint32{uint32(logits)}
	for _, o := range append(keys, values...) {
		g.Inputs = append(g.Inputs, uint32(o))
		g.Outputs = append(g.Outputs, uint32(o))
	}
	return g.Graph
}

func (g *graph) layer(l int, h, past, keys, values blob.Operand) blob.Operand {
	c, s, n := g.c, g.s, g.n
	name := fmt.Sprintf("model.layers.%d.", l)
	attn, mlp := name+"self_attn.", name+"mlp."
	act := func(a string) string { return c.LayerAct(l, a) }
	wide, ffn := dims(n, c.HiddenSize), dims(n, c.IntermediateSize)
	qDims := [4]uint32{1, uint32(n), uint32(c.NumAttentionHeads), uint32(c.HeadDim)}
	kvDims := [4]uint32{1, uint32(n), uint32(c.NumKeyValueHeads), uint32(c.HeadDim)}
	rope := func(x blob.Operand, which, normed, turned string, d [4]uint32) blob.Operand {
		if c.HeadNorms() {
			x = g.norm(attn+which+"_norm", act(normed), x, d)
		}
		y := g.activation(attn+which+"_rope", act(turned), d)
		g.op(blob.OpRoPE, attn+which+"_rope", "RoPE", y, x, s.number[toymodel.CosTable], s.number[toymodel.SinTable], past)
		return y
	}
	n1 := g.norm(name+"input_layernorm", act(toymodel.ActAttnInput), h, wide)
	q := g.linear(attn+"q_proj", act(toymodel.ActQ), n1, qDims)
	k := g.linear(attn+"k_proj", act(toymodel.ActK), n1, kvDims)
	v := g.linear(attn+"v_proj", act(toymodel.ActV), n1, kvDims)
	q = rope(q, "q", toymodel.ActQNorm, toymodel.ActQRope, qDims)
	k = rope(k, "k", toymodel.ActKNorm, toymodel.ActKRope, kvDims)
	g.op(blob.OpKVWrite, attn+"k_cache", "KVWrite", keys, k, past)
	g.op(blob.OpKVWrite, attn+"v_cache", "KVWrite", values, v, past)

	at := g.activation(attn+"attention", act(toymodel.ActAttn), dims(n, c.QSize()))
	scores := g.activation(attn+"scores", act(toymodel.ActScores), [4]uint32{1, uint32(c.NumAttentionHeads), uint32(n), uint32(c.MaxCacheLength)})
	g.op(blob.OpAttention, attn+"attention", "Attention", at, q, keys, values, past)
	last := &g.Ops[len(g.Ops)-1]
	last.Out = append(last.Out, scores)

	h1 := g.binary(blob.OpAdd, name+"add_0", "Add", act(toymodel.ActAdd0), h, g.linear(attn+"o_proj", act(toymodel.ActAttnOut), at, wide), wide)
	n2 := g.norm(name+"post_attention_layernorm", act(toymodel.ActMLPInput), h1, wide)
	gate := g.linear(mlp+"gate_proj", act(toymodel.ActGate), n2, ffn)
	up := g.linear(mlp+"up_proj", act(toymodel.ActUp), n2, ffn)
	silu := g.activation(mlp+"act", act(toymodel.ActSiLU), ffn)
	g.op(blob.OpSiLU, mlp+"act", "SiLU", silu, gate)
	product := g.binary(blob.OpMul, mlp+"mul", "Mul", act(toymodel.ActMul), silu, up, ffn)
	down := g.linear(mlp+"down_proj", act(toymodel.ActMLPOut), product, wide)
	return g.binary(blob.OpAdd, name+"add_1", "Add", c.HiddenAct(l+1), h1, down, wide)
}

func (g *graph) tensor(t blob.Tensor) blob.Operand {
	if t.Scale == 0 {
		t.Scale = 1
	}
	t.Size = 1
	for _, d := range t.Dims {
		t.Size *= int64(d)
	}
	switch t.DType {
	case blob.QUint16:
		t.Size *= 2
	case blob.Int32:
		t.Size *= 4
	}
	g.Tensors = append(g.Tensors, t)
	return blob.Operand(len(g.Tensors) - 1)
}

// activation is a scratch tensor with the scale and zero point of quant.
func (g *graph) activation(name, quant string, d [4]uint32) blob.Operand {
	t := blob.Tensor{Name: name, DType: blob.QUint16, Kind: blob.Native, Dims: d}
	t.Scale, t.ZeroPoint = g.s.w.Affine(quant)
	return g.tensor(t)
}

func (g *graph) state(name, quant string) blob.Operand {
	t := blob.Tensor{Name: name, DType: blob.QUint8, Kind: blob.State,
		Dims: [4]uint32{1, uint32(g.c.MaxCacheLength), uint32(g.c.NumKeyValueHeads), uint32(g.c.HeadDim)}}
	t.Scale, t.ZeroPoint = g.s.w.Affine(quant)
	return g.tensor(t)
}

func (g *graph) op(code uint32, name, kind string, out blob.Operand, in ...blob.Operand) {
	g.Ops = append(g.Ops, blob.Op{Code: code, Package: code == blob.OpRMSNorm, Name: name, Type: kind, In: in, Out: []blob.Operand{out}})
}

func (g *graph) norm(name, quant string, x blob.Operand, d [4]uint32) blob.Operand {
	y := g.activation(name, quant, d)
	g.op(blob.OpRMSNorm, name, "RMSNorm", y, x, g.s.number[name+".weight"])
	return y
}

func (g *graph) linear(name, quant string, x blob.Operand, d [4]uint32) blob.Operand {
	y := g.activation(name, quant, d)
	in := []blob.Operand{x, g.s.number[name+".weight"], g.s.number[name+".scale1"], g.s.number[name+".scale2"]}
	if bias, ok := g.s.number[name+".bias"]; ok {
		in = append(in, bias)
	}
	g.op(blob.OpLinear, name, "Linear", y, in...)
	return y
}

func (g *graph) binary(code uint32, name, kind, quant string, a, b blob.Operand, d [4]uint32) blob.Operand {
	y := g.activation(name, quant, d)
	g.op(code, name, kind, y, a, b)
	return y
}

// shape is what the blob's header says of the model.
func shape(c toymodel.Config) blob.Shape {
	u := func(v int) uint32 { return uint32(v) }
	return blob.Shape{BlockSize: u(c.LinearBlockSize), Vocab: u(c.VocabSize), Hidden: u(c.HiddenSize), Layers: u(c.NumHiddenLayers), Heads: u(c.NumAttentionHeads),
		KVHeads: u(c.NumKeyValueHeads), HeadDim: u(c.HeadDim), Intermediate: u(c.IntermediateSize), Context: u(c.MaxCacheLength)}
}
