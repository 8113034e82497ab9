package toymodel

import (
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/model/safetensors"
	"github.com/hexmage/hexmage/qnn"
)

// corpus is the text that the generator learns its bigrams from. Changing a letter changes every generated model.
//
//go:embed files/corpus.txt
var corpus string

// madeTokenizer is a byte-level BPE that was trained on the sample text.
//
//go:embed files/tokenizer.json
var madeTokenizer string

// Make writes a model into dir in Hugging Face's layout: config.json, tokenizer.json, model.safetensors (F32). The bytes depend on
// the arguments alone: the generator is our own, and every float operation is rounded by itself.
//
// The weights are not trained. The first layers' MLPs store, for each token, a few tokens that follow it in a sample text; attention and
// the other layers are random and tip the balance between them. So outputs vary with the whole prompt and do not settle on one token.
func Make(dir string, seed uint64, c Config) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if want := DefaultConfig().VocabSize; c.VocabSize != want {
		return fmt.Errorf("vocab_size is %d; the generator's tokenizer has %d", c.VocabSize, want)
	}
	t, err := ParseTokenizer([]byte(madeTokenizer))
	if err != nil {
		return err
	}
	followers, err := bigrams(t, c.VocabSize)
	if err != nil {
		return err
	}
	config, err := c.Encode()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, raw := range map[string][]byte{"config.json": config, "tokenizer.json": []byte(madeTokenizer)} {
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o644); err != nil {
			return err
		}
	}
	f, err := os.Create(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		return err
	}
	g := generator{c: c, seed: seed}
	err = safetensors.Write(f, map[string]string{"format": "pt", qnn.SimulatedKey: qnn.Simulated}, g.tensors(followers))
	return errors.Join(err, f.Close())
}

// bigrams gives for each token the tokens that follow it in the sample text, most frequent first.
func bigrams(t *Tokenizer, vocab int) ([][]int, error) {
	ids, err := t.Encode(corpus)
	if err != nil {
		return nil, err
	}
	counts := make([]map[int]int, vocab)
	for i := 0; i+1 < len(ids); i++ {
		if counts[ids[i]] == nil {
			counts[ids[i]] = map[int]int{}
		}
		counts[ids[i]][ids[i+1]]++
	}
	out := make([][]int, vocab)
	for id, m := range counts {
		for next := range m {
			if next != id {
				out[id] = append(out[id], next)
			}
		}
		sort.Slice(out[id], func(i, j int) bool {
			a, b := out[id][i], out[id][j]
			if m[a] != m[b] {
				return m[a] > m[b]
			}
			return a < b
		})
	}
	return out, nil
}

// prng is splitmix64: small, well known, the same on every machine.
type prng uint64

func (p *prng) next() uint64 {
	*p += 0x9E3779B97F4A7C15
	z := uint64(*p)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// normal is nearly normal with deviation 1: the sum of four uniform 16-bit numbers, centred and scaled. It never exceeds 3.47.
func (p *prng) normal() float32 {
	v := p.next()
	sum := int32(v&0xffff) + int32(v>>16&0xffff) + int32(v>>32&0xffff) + int32(v>>48)
	return float32(float32(sum-131070) * float32(2.642934e-05)) // 1 / (65536/sqrt(12)*2)
}

type generator struct {
	c    Config
	seed uint64
}

// stream gives each tensor its own generator, seeded by its name, so that tensors do not depend on each other's sizes.
func (g generator) stream(name string) *prng {
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	p := prng(h ^ g.seed*0x9E3779B97F4A7C15)
	p.next()
	return &p
}

// random is a matrix of deviation gain/sqrt(columns), so that a normalised input gives outputs of deviation gain.
func (g generator) random(name string, rows, cols int, gain float32) []float32 {
	p := g.stream(name)
	scale := float32(gain / Sqrt(float32(cols)))
	w := make([]float32, rows*cols)
	for i := range w {
		w[i] = float32(p.normal() * scale)
	}
	return w
}

// norm is a norm layer's weight: about mean, a little uneven.
func (g generator) norm(name string, n int, mean float32) []float32 {
	p := g.stream(name)
	w := make([]float32, n)
	for i := range w {
		w[i] = float32(mean + float32(p.normal()*float32(mean*0.08)))
	}
	return w
}

func (g generator) tensors(followers [][]int) []safetensors.Source {
	c := g.c
	h, f := c.HiddenSize, c.IntermediateSize
	var out []safetensors.Source
	add := func(name string, data []float32, shape ...int) {
		out = append(out, floats(name, data, shape))
	}
	embed := make([]float32, c.VocabSize*h)
	p := g.stream("model.embed_tokens.weight")
	for i := range embed {
		embed[i] = p.normal()
	}
	add("model.embed_tokens.weight", embed, c.VocabSize, h)
	add("model.norm.weight", g.norm("model.norm.weight", h, 1), h)
	for l := range c.NumHiddenLayers {
		pre := fmt.Sprintf("model.layers.%d.", l)
		for _, n := range []string{"input_layernorm", "post_attention_layernorm"} {
			add(pre+n+".weight", g.norm(pre+n, h, 1), h)
		}
		if c.HeadNorms() {
			for _, n := range []string{"q_norm", "k_norm"} {
				add(pre+"self_attn."+n+".weight", g.norm(pre+n, c.HeadDim, 1.3), c.HeadDim)
			}
		}
		add(pre+"self_attn.q_proj.weight", g.random(pre+"q", c.QSize(), h, 1), c.QSize(), h)
		add(pre+"self_attn.k_proj.weight", g.random(pre+"k", c.KVSize(), h, 1), c.KVSize(), h)
		v, o := g.random(pre+"v", c.KVSize(), h, 1), g.random(pre+"o", h, c.QSize(), 0.9)
		if l == c.NumHiddenLayers-1 {
			g.forget(v, o)
		}
		add(pre+"self_attn.v_proj.weight", v, c.KVSize(), h)
		add(pre+"self_attn.o_proj.weight", o, h, c.QSize())
		gate := g.random(pre+"gate", f, h, 0.6)
		up := g.random(pre+"up", f, h, 0.6)
		down := g.random(pre+"down", h, f, 0.6)
		g.remember(l, embed, followers, gate, up, down)
		add(pre+"mlp.gate_proj.weight", gate, f, h)
		add(pre+"mlp.up_proj.weight", up, f, h)
		add(pre+"mlp.down_proj.weight", down, h, f)
	}
	for _, l := range c.Biases() {
		add(l.Name+".bias", g.random(l.Name+".bias", l.Out, 1, 0.3), l.Out)
	}
	return out
}

// remember turns the neurons of layer l whose number is a token's into a memory of that token: the gate opens when the hidden state
// looks like the token's embedding, and the neuron then adds embeddings of tokens that may follow, and takes the token's own away.
func (g generator) remember(l int, embed []float32, followers [][]int, gate, up, down []float32) {
	h, f := g.c.HiddenSize, g.c.IntermediateSize
	row := func(t int) []float32 { return embed[t*h : (t+1)*h] }
	for j := range f {
		t := l*f + j
		if t >= g.c.VocabSize {
			return
		}
		for i, e := range row(t) {
			gate[j*h+i] = float32(e * float32(6/float32(h)))
			up[j*h+i] = float32(e * float32(1/float32(h)))
			down[i*f+j] = float32(e * -0.12)
		}
		p := g.stream(fmt.Sprintf("followers.%d", t))
		next := slices.Clone(followers[t][:min(4, len(followers[t]))])
		if len(next) == 0 { // never seen in the sample text: anything may follow
			next = append(next, int(p.next()%uint64(g.c.EOSTokenID)))
		}
		for k, n := range next {
			weight := float32(float32(0.5) / Sqrt(float32(len(next))))
			weight -= float32(float32(k) * 0.01)
			for i, e := range row(n) {
				down[i*f+j] = float32(down[i*f+j] + float32(e*weight))
			}
		}
	}
}

// forget makes the last layer's attention take away what the earlier positions were about, so that the model does not repeat itself:
// o_proj becomes the negative transpose of v_proj, shared out among the heads that read the same values.
func (g generator) forget(v, o []float32) {
	h, d, q := g.c.HiddenSize, g.c.HeadDim, g.c.QSize()
	groups := g.c.NumAttentionHeads / g.c.NumKeyValueHeads
	gain := float32(-4) / float32(groups)
	for k := range q {
		row := k/d/groups*d + k%d // of v_proj
		for i := range h {
			o[i*q+k] = float32(float32(o[i*q+k]*0.5) + float32(v[row*h+i]*gain))
		}
	}
}

// floats is an F32 tensor.
func floats(name string, data []float32, shape []int) safetensors.Source {
	dims := make([]int64, len(shape))
	for i, d := range shape {
		dims[i] = int64(d)
	}
	raw := make([]byte, 0, 4*len(data))
	for _, v := range data {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return safetensors.Bytes(name, safetensors.F32, dims, raw)
}

// MakeTool is the tool's name and behavior version: raise it whenever an output changes.
const MakeTool tool.Name[MakeSpec] = "make-model/5"

// MakeSpec says which model to make.
type MakeSpec struct {
	Seed         uint64 `arg:"seed,required" json:"seed"`
	Layers       int    `arg:"layers" default:"4" range:"1..64" json:"layers"`
	BlockSize    int    `arg:"block_size" default:"16" oneof:"16 32 64" json:"block_size"`
	Architecture string `arg:"architecture" default:"qwen3" oneof:"qwen3 qwen2 llama" json:"architecture"`
	Out          string `json:"out"` // folder to write
}

// RunMake is the tool that writes a seeded model.
func RunMake(_ context.Context, s MakeSpec, env tool.Env) error {
	c := DefaultConfig()
	c.NumHiddenLayers, c.LinearBlockSize, c.LinearImplType = s.Layers, s.BlockSize, LinearImplType(s.BlockSize)
	c.ModelType, c.AttentionBias = s.Architecture, s.Architecture == "qwen2"
	if err := Make(s.Out, s.Seed, c); err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "wrote %s: %d layers, hidden %d, vocabulary %d, seed %d\n", s.Out, c.NumHiddenLayers, c.HiddenSize, c.VocabSize, s.Seed)
	return nil
}
