package toymodel

import (
	"context"
	"errors"
	"fmt"
)

// Result is what a run of the model gives, and the content of tokens.json.
type Result struct {
	PromptTokens []int  `json:"prompt_tokens"`
	Tokens       []int  `json:"tokens"`
	Text         string `json:"text"`
}

// tensor is a row of values and how they are quantised.
type tensor struct {
	v []uint16
	q quant
}

// norm is a norm layer; without weights it is none, and what goes in comes out.
type norm struct {
	w []uint16
	q quant
}

// layer is one decoder layer with its cache; the cache holds a row per position.
type layer struct {
	inNorm, postNorm, qNorm, kNorm norm
	q, k, v, o, gate, up, down     linear
	act                            map[string]quant
	next                           quant // of the hidden state this layer gives
	keys, values                   [][]uint8
	heads, headDim, groups         int
}

// Reference runs the model one token at a time.
type Reference struct {
	c        Config
	embed    []uint16
	embedQ   quant
	sin, cos []uint16
	ropeQ    quant
	layers   []*layer
	final    norm
	head     linear
	headQ    quant
	logitsQ  quant
	position int
}

// NewReference prepares a run; the cache is empty.
func NewReference(w *Weights) *Reference {
	c := w.Config
	n := func(name string) norm { return norm{w.u16(name + ".weight"), w.quant(name)} }
	linears := map[string]linear{}
	for _, s := range c.Linears() {
		linears[s.Name] = w.linear(s)
	}
	r := &Reference{c: c, embed: w.u16(Embedding + ".weight"), embedQ: w.quant(Embedding), sin: w.u16(SinTable), cos: w.u16(CosTable),
		ropeQ: w.quant(ActCos), final: n(FinalNorm), head: linears[LMHead], headQ: w.quant(ActHead), logitsQ: w.quant(ActLogits)}
	for l := range c.NumHiddenLayers {
		p := fmt.Sprintf("model.layers.%d.", l)
		ly := &layer{inNorm: n(p + "input_layernorm"), postNorm: n(p + "post_attention_layernorm"),
			q: linears[p+"self_attn.q_proj"], k: linears[p+"self_attn.k_proj"], v: linears[p+"self_attn.v_proj"], o: linears[p+"self_attn.o_proj"],
			gate: linears[p+"mlp.gate_proj"], up: linears[p+"mlp.up_proj"], down: linears[p+"mlp.down_proj"],
			act: map[string]quant{}, next: w.quant(c.HiddenAct(l + 1)),
			heads: c.NumAttentionHeads, headDim: c.HeadDim, groups: c.NumAttentionHeads / c.NumKeyValueHeads}
		if c.HeadNorms() {
			ly.qNorm, ly.kNorm = n(p+"self_attn.q_norm"), n(p+"self_attn.k_norm")
		}
		for _, a := range layerActs() {
			ly.act[a] = w.quant(c.LayerAct(l, a))
		}
		r.layers = append(r.layers, ly)
	}
	return r
}

// Step feeds one token at the next position and gives the logits, quantised.
func (r *Reference) Step(id int) ([]uint16, error) {
	if id < 0 || id >= r.c.VocabSize {
		return nil, fmt.Errorf("token %d is not in the vocabulary of %d", id, r.c.VocabSize)
	}
	if r.position >= r.c.MaxCacheLength {
		return nil, fmt.Errorf("the context of %d tokens is full", r.c.MaxCacheLength)
	}
	d := r.c.HeadDim
	sin, cos := r.sin[r.position*d:(r.position+1)*d], r.cos[r.position*d:(r.position+1)*d]
	h := tensor{r.embed[id*r.c.HiddenSize : (id+1)*r.c.HiddenSize], r.embedQ}
	for _, l := range r.layers {
		h = l.step(h, sin, cos, r.ropeQ)
	}
	r.position++
	n := r.final.apply(h, r.headQ)
	return r.head.apply(n.v, n.q, r.logitsQ), nil
}

func (n norm) apply(x tensor, q quant) tensor {
	if n.w == nil {
		return x
	}
	out := make([]uint16, len(x.v))
	for i := 0; i < len(x.v); i += len(n.w) { // one row, or one row per head
		rmsNorm(out[i:i+len(n.w)], x.v[i:i+len(n.w)], n.w, x.q, n.q, q)
	}
	return tensor{out, q}
}

func (l *layer) step(h tensor, sin, cos []uint16, ropeQ quant) tensor {
	through := func(p linear, x tensor, act string) tensor { return tensor{p.apply(x.v, x.q, l.act[act]), l.act[act]} }
	n1 := l.inNorm.apply(h, l.act[ActAttnInput])
	q := l.qNorm.apply(through(l.q, n1, ActQ), l.act[ActQNorm])
	k := l.kNorm.apply(through(l.k, n1, ActK), l.act[ActKNorm])
	v := through(l.v, n1, ActV)
	q = rope(q, l.headDim, sin, cos, ropeQ, l.act[ActQRope])
	k = rope(k, l.headDim, sin, cos, ropeQ, l.act[ActKRope])
	l.keys = append(l.keys, toCache(k, l.act[ActKCache]))
	l.values = append(l.values, toCache(v, l.act[ActVCache]))

	at := tensor{make([]uint16, l.heads*l.headDim), l.act[ActAttn]}
	for i := range l.heads {
		lo, hi := i*l.headDim, (i+1)*l.headDim
		attend(at.v[lo:hi], q.v[lo:hi], headOf(l.keys, i/l.groups, l.headDim), headOf(l.values, i/l.groups, l.headDim),
			q.q, l.act[ActKCache], l.act[ActVCache], l.act[ActScores], at.q)
	}
	h1 := add(h, through(l.o, at, ActAttnOut), l.act[ActAdd0])

	n2 := l.postNorm.apply(h1, l.act[ActMLPInput])
	gate, up := through(l.gate, n2, ActGate), through(l.up, n2, ActUp)
	product := tensor{make([]uint16, len(gate.v)), l.act[ActMul]}
	sq := l.act[ActSiLU]
	for i, g := range gate.v {
		s := silu(g, gate.q, sq)
		a := (int64(s) - int64(sq.zp)) * (int64(up.v[i]) - int64(up.q.zp))
		product.v[i] = product.q.u16(float32(float32(a) * float32(sq.scale*up.q.scale)))
	}
	return add(h1, through(l.down, product, ActMLPOut), l.next)
}

func headOf(rows [][]uint8, head, dim int) [][]uint8 {
	out := make([][]uint8, len(rows))
	for i, r := range rows {
		out[i] = r[head*dim : (head+1)*dim]
	}
	return out
}

func toCache(x tensor, q quant) []uint8 {
	out := make([]uint8, len(x.v))
	for i, v := range x.v {
		out[i] = q.u8(float32(float32(int32(v)-x.q.zp) * x.q.scale))
	}
	return out
}

func rope(x tensor, dim int, sin, cos []uint16, ropeQ, q quant) tensor {
	out := tensor{make([]uint16, len(x.v)), q}
	m := float32(x.q.scale * ropeQ.scale)
	for base := 0; base < len(x.v); base += dim {
		for i := range dim / 2 {
			j := i + dim/2
			a, b := int64(x.v[base+i])-int64(x.q.zp), int64(x.v[base+j])-int64(x.q.zp)
			c, s := int64(cos[i])-fixedTable, int64(sin[i])-fixedTable
			out.v[base+i] = q.u16(float32(float32(a*c-b*s) * m))
			out.v[base+j] = q.u16(float32(float32(b*c+a*s) * m))
		}
	}
	return out
}

func add(a, b tensor, q quant) tensor {
	out := tensor{make([]uint16, len(a.v)), q}
	for i := range a.v {
		x := float32(float32(int32(a.v[i])-a.q.zp) * a.q.scale)
		y := float32(float32(int32(b.v[i])-b.q.zp) * b.q.scale)
		out.v[i] = q.u16(float32(x + y))
	}
	return out
}

// Argmax is the index of the largest logit, the lowest of equals.
func Argmax(logits []uint16) int {
	best := 0
	for i, v := range logits {
		if v > logits[best] {
			best = i
		}
	}
	return best
}

// Generate runs prompt through the model and then at most maxNew tokens, greedily (docs/design/0002 §4).
func Generate(ctx context.Context, w *Weights, t *Tokenizer, prompt string, maxNew int) (Result, error) {
	ids, err := t.Encode(prompt)
	if err != nil {
		return Result{}, err
	}
	if len(ids) == 0 {
		return Result{}, errors.New("the prompt is empty")
	}
	if len(ids) > w.Config.MaxCacheLength {
		return Result{}, fmt.Errorf("the prompt has %d tokens, the context %d", len(ids), w.Config.MaxCacheLength)
	}
	r := NewReference(w)
	res := Result{PromptTokens: ids, Tokens: []int{}}
	feed := ids
	for len(res.Tokens) < maxNew {
		var logits []uint16
		for _, id := range feed {
			if ctx.Err() != nil {
				return Result{}, context.Cause(ctx)
			}
			if logits, err = r.Step(id); err != nil {
				return Result{}, err
			}
		}
		next := Argmax(logits)
		if next == w.Config.EOSTokenID {
			break
		}
		res.Tokens = append(res.Tokens, next)
		if r.position == w.Config.MaxCacheLength {
			break
		}
		feed = []int{next}
	}
	res.Text, err = t.Decode(res.Tokens)
	return res, err
}
