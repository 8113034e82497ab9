package quantizer

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/model/safetensors"
	"github.com/hexmage/hexmage/standin/mllm/openmodel"
)

// UpstreamTool is the tool's name, and its behaviour version: raise it whenever an output changes.
const UpstreamTool tool.Name[UpstreamSpec] = "quantize-upstream/3"

// UpstreamSpec says what to quantise with upstream's arithmetic into all of upstream's tensors that anybody computes with.
type UpstreamSpec struct {
	Model        string `json:"model"`                // folder with config.json, tokenizer.json, model.safetensors (F32)
	Architecture string `json:"architecture"`         // that the model is to have
	BlockSize    int    `json:"block_size"`           // of LPBQ
	Calibration  string `json:"calibration"`          // a text file whose paragraphs are the samples
	Samples      int    `json:"samples"`              // paragraphs that are taken, from the first
	MaxLength    int    `json:"max_length"`           // tokens of a sample, and positions of the tables
	Out          string `json:"out"`                  // folder to write
	Checkpoint   string `json:"checkpoint,omitempty"` // folder to go on from, with what was seen of each sample; "": none
}

// leastText is the length, in characters, below which upstream passes over a text.
const leastText = 1024

// RunUpstream is the tool.
func RunUpstream(ctx context.Context, s UpstreamSpec, env tool.Env) error {
	n, err := QuantiseUpstream(ctx, s)
	if err == nil {
		fmt.Fprintf(env.Stdout, "wrote %s, %d tensors\n", filepath.Join(s.Out, "model.safetensors"), n)
	}
	return err
}

// QuantiseUpstream quantises a model folder and returns the number of tensors.
func QuantiseUpstream(ctx context.Context, s UpstreamSpec) (int, error) {
	return quantiseFolder(s.Model, s.Out, s.Architecture, s.BlockSize, "", func(m *floatModel, t *openmodel.Tokenizer) ([]safetensors.Source, error) {
		text, err := os.ReadFile(s.Calibration)
		if err != nil {
			return nil, err
		}
		samples, err := paragraphs(string(text), s.Samples)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Calibration, err)
		}
		if s.MaxLength < 2 {
			return nil, fmt.Errorf("max_length is %d", s.MaxLength)
		}
		u := &upstream{floatModel: m, length: s.MaxLength, checkpoint: s.Checkpoint, spans: map[string]*span{}, builder: &builder{}}
		return u.quantise(ctx, t, samples)
	})
}

// paragraphs are the texts that are long enough, with single spaces.
func paragraphs(text string, most int) ([]string, error) {
	var out []string
	for p := range strings.SplitSeq(text, "\n\n") {
		if p = strings.Join(strings.Fields(p), " "); utf8.RuneCountInString(p) >= leastText && len(out) < most {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no paragraph of %d characters to calibrate with; upstream passes over shorter ones", leastText)
	}
	return out, nil
}

// upstream quantises one model as upstream's train.py does: it rounds the matrices first, lets the model read with these, watches, and then says what each
// value's range was. Sums are in double precision here and in single there, so ranges agree to some 1e-6; what is computed from weights alone is in single
// precision, step by step as there, and agrees to the bit.
type upstream struct {
	*floatModel
	*builder
	length     int
	checkpoint string
	sin, cos   [][]float64 // [position][head_dim / 2]
	spans      map[string]*span
	turned     map[string]bool // rotations that were seen before
}

// single is an affine point over a span: upstream's observer of any number of bits up to `most`, in its precision.
func (s span) single(most float32) affine {
	lo, hi := float32(s.lo), float32(s.hi)
	scale := max(float32(float32(hi-lo)/most), eps16)
	zp := -int32(math.RoundToEven(float64(float32(lo / scale))))
	return affine{scale, min(max(zp, 0), int32(most))}
}

// centred is the cache's point: 8 bits around 128.
func (s span) centred() affine {
	return affine{max(float32(float32(max(-s.lo, s.hi))/127.5), eps8), 128}
}

// What a scale is at least.
const (
	eps16 = float32(0.0001 / 65535)
	eps8  = float32(0.0001 / 255)
)

// store rounds a weight, table or constant in upstream's precision.
func (a affine) store(v float32) uint16 {
	q := math.RoundToEven(float64(float32(float32(v/a.scale) + float32(a.zp))))
	return uint16(min(max(q, 0), 65535))
}

func (u *upstream) quantise(ctx context.Context, t *openmodel.Tokenizer, samples []string) ([]safetensors.Source, error) {
	u.stored(openmodel.Embedding, u.weights[openmodel.Embedding+".weight"], u.c.VocabSize, u.c.HiddenSize)
	for _, n := range u.c.Norms() {
		u.stored(n.Name, u.weights[n.Name+".weight"], n.Dim)
	}
	rounded := maps.Clone(u.weights)
	for _, l := range u.c.Linears() {
		rounded[l.Name+".weight"] = u.blocks(l, u.weights[l.Name+".weight"])
	}
	u.biases(u.floatModel)
	u.floatModel = &floatModel{c: u.c, weights: rounded, angles: u.angles}
	u.rotations()
	var done int
	var seen map[string]*span
	done, seen, u.turned = readSoFar(u.checkpoint)
	maps.Copy(u.spans, seen) // those of the rotations are in both, and the same
	for i, text := range samples {
		if i < done {
			continue
		}
		ids, err := t.Encode(text)
		if err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := u.read(ids[:min(len(ids), u.length)]); err != nil {
			return nil, err
		}
		if err := writeSoFar(u.checkpoint, i+1, u.spans, u.turned); err != nil {
			return nil, err
		}
	}
	for l := range u.c.NumHiddenLayers {
		u.activation(u.c.LayerAct(l, "mlp.sigmoid_output_qdq"), affine{1.0 / 65536, 0})
	}
	for _, name := range slices.Sorted(maps.Keys(u.spans)) {
		a := u.spans[name].single(65535)
		if strings.HasSuffix(name, "_to_int8_qdq") {
			a = u.spans[name].centred()
		}
		u.activation(name, a)
	}
	return u.out, nil
}

func (u *upstream) point(prefix string, a affine) {
	u.affine(prefix, a, 1)
}

func (u *upstream) activation(name string, a affine) { u.point(name+".fake_quant.", a) }

// stored writes an embedding or a norm.
func (u *upstream) stored(name string, w []float32, shape ...int) {
	var s span
	for _, v := range w {
		s.add(float64(v))
	}
	a := s.single(65535)
	data := make([]byte, 0, 2*len(w))
	for _, v := range w {
		data = binary.LittleEndian.AppendUint16(data, a.store(v))
	}
	u.add(name+".weight", safetensors.U16, data, shape...)
	u.point(name+".", a)
}

// blocks writes a matrix [out][in] and returns it as the quantiser's own model has it: rounded by the blocks' scales before these were rounded.
func (u *upstream) blocks(l openmodel.LinearSpec, w []float32) []float32 {
	block := u.c.LinearBlockSize
	count := l.In / block
	nibbles, scale1, scale2 := make([]byte, l.In*l.Out), make([]byte, l.Out*count), []byte(nil)
	back, scales := make([]float32, len(w)), make([]float32, count)
	for o := range l.Out {
		row := w[o*l.In : (o+1)*l.In]
		most := float32(0)
		for k := range scales {
			top := float32(0)
			for _, v := range row[k*block : (k+1)*block] {
				top = max(top, v, -v)
			}
			scales[k] = max(float32(top/7), eps16)
			most = max(most, scales[k])
		}
		step := float32(most / 16)
		scale2 = binary.LittleEndian.AppendUint32(scale2, math.Float32bits(step))
		for k, s := range scales {
			scale1[o*count+k] = byte(min(max(math.RoundToEven(float64(float32(s/step))), 1), 16))
			inverse := float32(1 / s)
			for i := k * block; i < (k+1)*block; i++ {
				q := min(max(math.RoundToEven(float64(float32(row[i]*inverse))), -7), 7)
				nibbles[i*l.Out+o] = byte(int8(q)) & 0x0F
				back[o*l.In+i] = float32(float32(q) * s)
			}
		}
	}
	u.add(l.Name+".weight", safetensors.I8, nibbles, 1, 1, l.In, l.Out)
	u.add(l.Name+".scale1", safetensors.U8, scale1, len(scale1))
	u.add(l.Name+".scale2", safetensors.F32, scale2, l.Out)
	return back
}

// rotations fills in the tables of sine and cosine, and writes them.
func (u *upstream) rotations() {
	half := u.c.HeadDim / 2
	frequencies := ropeAngles(u.c.RopeTheta, u.c.HeadDim, 2)[1]
	for p := range u.length {
		sin, cos := make([]float64, half), make([]float64, half)
		for i, f := range frequencies {
			s, c := sincos64(float64(float32(float32(p) * float32(f))))
			sin[i], cos[i] = float64(float32(s)), float64(float32(c))
			u.see(openmodel.ActSin, sin[i:i+1])
			u.see(openmodel.ActCos, cos[i:i+1])
		}
		u.sin, u.cos = append(u.sin, sin), append(u.cos, cos)
	}
	for _, t := range []struct {
		name, point string
		rows        [][]float64
	}{{openmodel.SinTable, openmodel.ActSin, u.sin}, {openmodel.CosTable, openmodel.ActCos, u.cos}} {
		a := u.spans[t.point].single(65535)
		var data []byte
		for _, row := range t.rows {
			for range 2 { // both halves of a head turn by the same angles
				for _, v := range row {
					data = binary.LittleEndian.AppendUint16(data, a.store(float32(v)))
				}
			}
		}
		u.add(t.name, safetensors.U16, data, 1, u.length, u.c.HeadDim)
	}
}

func (u *upstream) see(name string, v []float64) {
	s := u.spans[name]
	if s == nil {
		s = &span{}
		u.spans[name] = s
	}
	for _, x := range v {
		s.add(x)
	}
}

// read lets the model read one sample, all tokens at once: so scores are seen of those tokens, too, at which none looks.
func (u *upstream) read(ids []int) error {
	c, pass := u.c, &pass{m: u.floatModel}
	var h [][]float64
	for _, id := range ids {
		if id >= c.VocabSize {
			return fmt.Errorf("the tokenizer gives token %d, the model's vocabulary has %d", id, c.VocabSize)
		}
		row := make([]float64, c.HiddenSize)
		for i, v := range u.weights[openmodel.Embedding+".weight"][id*c.HiddenSize : (id+1)*c.HiddenSize] {
			row[i] = float64(v)
		}
		h = append(h, row)
	}
	for l := range c.NumHiddenLayers {
		name := fmt.Sprintf("model.layers.%d.", l)
		see := func(act string, rows [][]float64) [][]float64 {
			for _, r := range rows {
				u.see(name+act, r)
			}
			return rows
		}
		linear := func(of string, x [][]float64) [][]float64 {
			return each(x, func(r []float64) []float64 { return pass.linear(name+of, r) })
		}
		norm := func(of string, x [][]float64) [][]float64 {
			return each(x, func(r []float64) []float64 { return pass.norm(name+of, r) })
		}
		if l > 0 {
			see("input_layernorm_input_qdq", h)
		}
		n := norm("input_layernorm", h)
		heads := map[string][][]float64{}
		for _, t := range []string{"q", "k"} {
			x := linear("self_attn."+t+"_proj", n)
			if c.HeadNorms() {
				x = norm("self_attn."+t+"_norm", see("self_attn."+t+"_norm_input_qdq", x))
				heads[t] = u.rotate(name+"self_attn."+t, x, "_norm_output_qdq", x)
			} else { // what shares the rotation's range there is what goes into the projection
				heads[t] = u.rotate(name+"self_attn."+t, see("self_attn."+t+"_proj_output_qdq", x), "_proj_input_qdq", n)
			}
		}
		input := "self_attn.v_proj_input_qdq"
		if c.HeadNorms() {
			input = "self_attn.q_proj_input_qdq"
		}
		see(input, n)
		see("self_attn.k_cast_to_int8_qdq", heads["k"])
		v := see("self_attn.v_cast_to_int8_qdq", see("self_attn.v_cast_to_int16_qdq", linear("self_attn.v_proj", n)))
		mixed := see("self_attn.attn_value_matmul_output_qdq", u.attend(name+"self_attn.", heads["q"], heads["k"], v))
		o := see("add_0_lhs_input_qdq", linear("self_attn.o_proj", mixed))
		h = see("add_0_output_qdq", sums(h, o))

		n = see("mlp.up_proj_input_qdq", norm("post_attention_layernorm", h))
		up, gate := see("mlp.up_proj_output_qdq", linear("mlp.up_proj", n)), see("mlp.gate_proj_output_qdq", linear("mlp.gate_proj", n))
		act := see("mlp.act_output_qdq", each(gate, func(r []float64) []float64 {
			y := make([]float64, len(r))
			for i, g := range r {
				y[i] = float64(g / float64(1+exp64(max(-g, -600))))
			}
			return y
		}))
		product := make([][]float64, len(act))
		for i, r := range act {
			product[i] = make([]float64, len(r))
			for j, a := range r {
				product[i][j] = float64(a * up[i][j])
			}
		}
		h = sums(h, see("add_1_lhs_input_qdq", linear("mlp.down_proj", see("mlp.down_proj_input_qdq", product))))
	}
	for _, r := range h {
		u.see(openmodel.ActFinal, r)
	}
	last := pass.norm(openmodel.FinalNorm, h[len(h)-1]) // of the last token alone it wants to know what comes next
	u.see(openmodel.ActHead, last)
	u.see(openmodel.ActLogits, pass.linear(openmodel.LMHead, last))
	return nil
}

// rotate turns the heads of all tokens by their positions. name is upstream's, up to "_rope_…". The point whose range is shared with what the rotation
// concatenates is called other, and is of these values.
func (u *upstream) rotate(name string, rows [][]float64, other string, of [][]float64) [][]float64 {
	half := u.c.HeadDim / 2
	out := make([][]float64, len(rows))
	var before, after, straight, crossed span
	for _, x := range of {
		for _, v := range x {
			before.add(v)
		}
	}
	for p, x := range rows {
		out[p] = make([]float64, len(x))
		for base := 0; base < len(x); base += 2 * half {
			for i := range half {
				a, b, sin, cos := x[base+i], x[base+half+i], u.sin[p][i], u.cos[p][i]
				after.add(a)
				after.add(-b)
				ac, bc, as, bs := float64(a*cos), float64(b*cos), float64(a*sin), float64(-b*sin)
				straight.add(ac)
				straight.add(bc)
				crossed.add(as)
				crossed.add(bs)
				out[p][base+i], out[p][base+half+i] = float64(ac+bs), float64(bc+as)
			}
		}
		u.see(name+"_rope_add_0_output_qdq", out[p])
	}
	u.see(name+"_rope_mul_0_output_qdq", []float64{straight.lo, straight.hi})
	u.see(name+"_rope_mul_1_output_qdq", []float64{crossed.lo, crossed.hi})
	// The two share a range there. With the first sample that of the concatenation replaces the other, which
	// has one more half; from the second on both are in it.
	for _, act := range []string{other, "_rope_neg_half_qdq"} {
		u.see(name+act, []float64{after.lo, after.hi})
		if u.turned[name] {
			u.see(name+act, []float64{before.lo, before.hi})
		}
	}
	u.turned[name] = true
	return out
}

// attend is the attention of all heads, [token][heads * head_dim]. name is upstream's of the layer's attention.
func (u *upstream) attend(name string, q, k, v [][]float64) [][]float64 {
	d, group := u.c.HeadDim, u.c.NumAttentionHeads/u.c.NumKeyValueHeads
	scaling := float64(float32(1 / math.Sqrt(float64(d))))
	u.see(name+"scaling_qdq", []float64{scaling})
	u.see(name+"neg_20_qdq", []float64{-20})
	out := make([][]float64, len(q))
	for i := range q {
		out[i] = make([]float64, u.c.QSize())
		for head := range u.c.NumAttentionHeads {
			kv := head / group
			products, scores := make([]float64, len(k)), make([]float64, len(k))
			for j := range k {
				products[j] = dot(q[i][head*d:(head+1)*d], k[j][kv*d:(kv+1)*d])
				scores[j] = float64(products[j] * scaling)
			}
			u.see(name+"qk_matmul_output_qdq", products)
			u.see(name+"mul_0_output_qdq", scores)
			least := slices.Min(scores)
			u.see(name+"reduce_min_output_qdq", []float64{least})
			u.see(name+"minus_0_output_qdq", []float64{least - 20})
			for j := i + 1; j < len(scores); j++ {
				scores[j] = least - 20
			}
			u.see(name+"where_attn_qdq", scores)
			parts := softmax(scores)
			u.see(name+"softmax_output_qdq", parts)
			for j, w := range parts {
				for e, x := range v[j][kv*d : (kv+1)*d] {
					out[i][head*d+e] = float64(out[i][head*d+e] + float64(w*x))
				}
			}
		}
	}
	return out
}

func each(rows [][]float64, f func([]float64) []float64) [][]float64 {
	out := make([][]float64, len(rows))
	for i, r := range rows {
		out[i] = f(r)
	}
	return out
}

func sums(a, b [][]float64) [][]float64 {
	out := make([][]float64, len(a))
	for i := range a {
		out[i] = plus(a[i], b[i])
	}
	return out
}
