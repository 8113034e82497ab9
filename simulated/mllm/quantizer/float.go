package quantizer

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/hexmage/hexmage/model/safetensors"
	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

// floatModel is the unquantised model. Its forward pass reports every value that will be quantised.
type floatModel struct {
	c       toymodel.Config
	weights map[string][]float32 // [out][in]
	angles  [][]float64
}

func loadFloat(path string, c toymodel.Config) (*floatModel, error) {
	m, err := safetensors.Open(path)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	f := &floatModel{c: c, weights: map[string][]float32{}, angles: ropeAngles(c.RopeTheta, c.HeadDim, c.MaxCacheLength)}
	load := func(name string, shape ...int64) error {
		t, ok := m.Lookup(name)
		if !ok {
			return fmt.Errorf("%s: no tensor %q", path, name)
		}
		if t.DType != safetensors.F32 || !slices.Equal(t.Shape, shape) {
			return fmt.Errorf("%s: tensor %q is %s %v, expected F32 %v", path, name, t.DType, t.Shape, shape)
		}
		raw, err := io.ReadAll(t.Data())
		if err != nil {
			return err
		}
		w := make([]float32, len(raw)/4)
		for i := range w {
			w[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
			if v := float64(w[i]); math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%s: tensor %q holds %v", path, name, v)
			}
		}
		f.weights[name] = w
		return nil
	}
	if err := load(toymodel.Embedding+".weight", int64(c.VocabSize), int64(c.HiddenSize)); err != nil {
		return nil, err
	}
	for _, n := range c.Norms() {
		if err := load(n.Name+".weight", int64(n.Dim)); err != nil {
			return nil, err
		}
	}
	for _, l := range c.Linears() {
		if l.Name == toymodel.LMHead {
			continue // tied to the embedding
		}
		if err := load(l.Name+".weight", int64(l.Out), int64(l.In)); err != nil {
			return nil, err
		}
	}
	for _, l := range c.Biases() {
		if err := load(l.Name+".bias", int64(l.Out)); err != nil {
			return nil, err
		}
	}
	f.weights[toymodel.LMHead+".weight"] = f.weights[toymodel.Embedding+".weight"]
	return f, nil
}

// pass is one run over a text: a cache of its own, and somewhere to report values.
type pass struct {
	m            *floatModel
	see          func(act string, v []float64)
	keys, values [][][]float64 // [layer][position]
}

func (m *floatModel) newPass(see func(string, []float64)) *pass {
	return &pass{m: m, see: see, keys: make([][][]float64, m.c.NumHiddenLayers), values: make([][][]float64, m.c.NumHiddenLayers)}
}

// step feeds one token and gives the logits.
func (p *pass) step(id int) []float64 {
	c := p.m.c
	h := make([]float64, c.HiddenSize)
	for i, v := range p.m.weights[toymodel.Embedding+".weight"][id*c.HiddenSize : (id+1)*c.HiddenSize] {
		h[i] = float64(v)
	}
	for l := range c.NumHiddenLayers {
		h = p.layer(l, h)
		p.see(c.HiddenAct(l+1), h)
	}
	n := p.norm(toymodel.FinalNorm, h)
	p.see(toymodel.ActHead, n)
	logits := p.linear(toymodel.LMHead, n)
	p.see(toymodel.ActLogits, logits)
	return logits
}

func (p *pass) layer(l int, h []float64) []float64 {
	c := p.m.c
	name := fmt.Sprintf("model.layers.%d.", l)
	seen := func(act string, v []float64) []float64 { p.see(c.LayerAct(l, act), v); return v }

	n1 := seen(toymodel.ActAttnInput, p.norm(name+"input_layernorm", h))
	q := seen(toymodel.ActQ, p.linear(name+"self_attn.q_proj", n1))
	k := seen(toymodel.ActK, p.linear(name+"self_attn.k_proj", n1))
	v := seen(toymodel.ActV, p.linear(name+"self_attn.v_proj", n1))
	position := len(p.keys[l])
	if c.HeadNorms() {
		q, k = p.norm(name+"self_attn.q_norm", q), p.norm(name+"self_attn.k_norm", k)
	}
	seen(toymodel.ActQNorm, q)
	seen(toymodel.ActKNorm, k)
	straight, crossed := p.rope(position, q)
	q = seen(toymodel.ActQRope, plus(seen(toymodel.ActQRopeCos, straight), seen(toymodel.ActQRopeSin, crossed)))
	straight, crossed = p.rope(position, k)
	k = seen(toymodel.ActKRope, plus(seen(toymodel.ActKRopeCos, straight), seen(toymodel.ActKRopeSin, crossed)))
	p.keys[l] = append(p.keys[l], seen(toymodel.ActKCache, k))
	p.values[l] = append(p.values[l], seen(toymodel.ActVCache, v))

	at := make([]float64, c.QSize())
	for i := range c.NumAttentionHeads {
		d, kv := c.HeadDim, i/(c.NumAttentionHeads/c.NumKeyValueHeads)
		scores := make([]float64, position+1)
		for j, key := range p.keys[l] {
			product := dot(q[i*d:(i+1)*d], key[kv*d:(kv+1)*d])
			seen(toymodel.ActQK, []float64{product})
			scores[j] = float64(product / math.Sqrt(float64(d)))
		}
		seen(toymodel.ActScores, scores)
		masked := float64(slices.Min(scores) - 20) // what upstream puts in the place of what is masked
		seen(toymodel.ActScaling, []float64{1 / math.Sqrt(float64(d))})
		seen(toymodel.ActReduceMin, []float64{slices.Min(scores)})
		seen(toymodel.ActNeg20, []float64{-20})
		seen(toymodel.ActMinus, []float64{masked})
		seen(toymodel.ActWhere, append(scores[:len(scores):len(scores)], masked))
		for j, w := range softmax(scores) {
			for e, x := range p.values[l][j][kv*d : (kv+1)*d] {
				at[i*d+e] = float64(at[i*d+e] + float64(w*x))
			}
		}
	}
	seen(toymodel.ActAttn, at)
	h1 := seen(toymodel.ActAdd0, plus(h, seen(toymodel.ActAttnOut, p.linear(name+"self_attn.o_proj", at))))

	n2 := seen(toymodel.ActMLPInput, p.norm(name+"post_attention_layernorm", h1))
	gate := seen(toymodel.ActGate, p.linear(name+"mlp.gate_proj", n2))
	up := seen(toymodel.ActUp, p.linear(name+"mlp.up_proj", n2))
	act, product := make([]float64, len(gate)), make([]float64, len(gate))
	for i, g := range gate {
		act[i] = float64(g / float64(1+exp64(max(-g, -600))))
		product[i] = float64(act[i] * up[i])
	}
	seen(toymodel.ActSiLU, act)
	seen(toymodel.ActMul, product)
	return plus(h1, seen(toymodel.ActMLPOut, p.linear(name+"mlp.down_proj", product)))
}

func (p *pass) linear(name string, x []float64) []float64 {
	w, bias := p.m.weights[name+".weight"], p.m.weights[name+".bias"]
	y := make([]float64, len(w)/len(x))
	for o := range y {
		row := w[o*len(x) : (o+1)*len(x)]
		acc := 0.0
		for i, v := range x {
			acc = float64(acc + float64(v*float64(row[i])))
		}
		if bias != nil {
			acc = float64(acc + float64(bias[o]))
		}
		y[o] = acc
	}
	return y
}

// norm normalises each run of len(weight) values.
func (p *pass) norm(name string, x []float64) []float64 {
	w := p.m.weights[name+".weight"]
	y := make([]float64, len(x))
	for i := 0; i < len(x); i += len(w) {
		row := x[i : i+len(w)]
		r := 1 / math.Sqrt(float64(float64(dot(row, row)/float64(len(w)))+p.m.c.RMSNormEps))
		for j, v := range row {
			y[i+j] = float64(float64(v*r) * float64(w[j]))
		}
	}
	return y
}

// rope turns x: the values times the cosine, and the halves, exchanged, times the sine, whose sum it is.
func (p *pass) rope(position int, x []float64) (straight, crossed []float64) {
	d := p.m.c.HeadDim
	straight, crossed = make([]float64, len(x)), make([]float64, len(x))
	for i, angle := range p.m.angles[position] {
		sin, cos := sincos64(angle)
		for base := 0; base < len(x); base += d {
			a, b := x[base+i], x[base+i+d/2]
			straight[base+i], straight[base+i+d/2] = float64(a*cos), float64(b*cos)
			crossed[base+i], crossed[base+i+d/2] = float64(-b*sin), float64(a*sin)
		}
	}
	return straight, crossed
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i := range a {
		s = float64(s + float64(a[i]*b[i]))
	}
	return s
}

func plus(a, b []float64) []float64 {
	y := make([]float64, len(a))
	for i := range a {
		y[i] = float64(a[i] + b[i])
	}
	return y
}

func softmax(x []float64) []float64 {
	top := slices.Max(x)
	y, total := make([]float64, len(x)), 0.0
	for i, v := range x {
		y[i] = exp64(max(float64(v-top), -600))
		total = float64(total + y[i])
	}
	for i := range y {
		y[i] = float64(y[i] / total)
	}
	return y
}

// The functions below exist because the standard library's may round differently from one processor to the next, where the
// compiler may fuse a product and a sum. Each operation here is rounded by itself, so a scale has the same bits everywhere.

// exp64 is e^x, for |x| up to 700; good to about 1e-15.
func exp64(x float64) float64 {
	n := math.Round(float64(x * (1 / math.Ln2)))
	r := float64(x - float64(n*math.Ln2))
	sum, term := 1.0, 1.0
	for k := 1; k < 18; k++ {
		term = float64(float64(term*r) / float64(k))
		sum = float64(sum + term)
	}
	return math.Ldexp(sum, int(n))
}

// sincos64 is good to about 1e-12 for angles of a few thousand.
func sincos64(x float64) (sin, cos float64) {
	turns := math.Round(float64(x / (2 * math.Pi)))
	r := float64(x - float64(turns*(2*math.Pi)))
	term := 1.0
	for k := 1; k < 34; k++ { // r is at most pi: the last term is below 1e-20
		switch k % 4 {
		case 1:
			cos = float64(cos + term)
		case 2:
			sin = float64(sin + term)
		case 3:
			cos = float64(cos - term)
		case 0:
			sin = float64(sin - term)
		}
		term = float64(float64(term*r) / float64(k))
	}
	return sin, cos
}

// root is the n-th root of v >= 1, by halving.
func root(v float64, n int) float64 {
	lo, hi := 1.0, v
	for range 200 {
		mid := float64(float64(lo+hi) / 2)
		p := 1.0
		for range n {
			p = float64(p * mid)
		}
		if p <= v {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// ropeAngles gives the angle of each position and column i < headDim/2.
func ropeAngles(theta float64, headDim, positions int) [][]float64 {
	h := headDim / 2
	base := root(theta, h)
	freq := make([]float64, h)
	f := 1.0
	for i := range freq {
		freq[i] = f
		f = float64(f / base)
	}
	out := make([][]float64, positions)
	for p := range out {
		out[p] = make([]float64, h)
		for i, f := range freq {
			out[p][i] = float64(float64(p) * f)
		}
	}
	return out
}
