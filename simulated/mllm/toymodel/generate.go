package toymodel

import (
	"context"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/model/safetensors"
	"github.com/hexmage/hexmage/qnn"
)

// tokenizer is a byte-level BPE that was trained on a text.
//
//go:embed files/tokenizer.json
var tokenizer []byte

// following has up to four tokens that follow each token in that text, most frequent first.
//
//go:embed files/followers.json
var following []byte

// Sizes of each toy model.
const (
	vocab        = 512
	hidden       = 128
	heads        = 4
	kvHeads      = 2
	headDim      = hidden / heads
	intermediate = 256
	positions    = 256
	eos          = vocab - 1
)

// MakeTool is this tool's name and version. Raise the version whenever the output changes.
const MakeTool tool.Name[MakeSpec] = "toy-model/6"

// MakeSpec is the input of RunMake.
type MakeSpec struct {
	Seed         uint64 `arg:"seed,required" json:"seed"`
	Layers       int    `arg:"layers" default:"4" range:"1..64" json:"layers"`
	BlockSize    int    `arg:"block_size" default:"16" oneof:"16 32 64" json:"block_size"`
	Architecture string `arg:"architecture" default:"qwen3" oneof:"qwen3 qwen2 llama" json:"architecture"`
	Out          string `json:"out"` // output folder
}

// RunMake writes a model in Hugging Face's layout: config.json, tokenizer.json, model.safetensors (F32). The bytes
// depend only on the arguments.
//
// The weights are not trained. The first MLPs store, for each token, a few tokens that follow it in a text. The other
// weights are random, and choose among these tokens. The outputs depend on the whole prompt and do not repeat one
// token.
func RunMake(_ context.Context, s MakeSpec, env tool.Env) error {
	class := map[string]string{"qwen3": "Qwen3ForCausalLM", "qwen2": "Qwen2ForCausalLM", "llama": "LlamaForCausalLM"}
	config, err := json.MarshalIndent(map[string]any{
		"_name_or_path": qnn.Simulated, "architectures": []string{class[s.Architecture]}, "model_type": s.Architecture,
		"attention_bias": s.Architecture == "qwen2", "bos_token_id": eos - 2, "eos_token_id": eos, "hidden_act": "silu",
		"head_dim": headDim, "hidden_size": hidden, "intermediate_size": intermediate, "linear_block_size": s.BlockSize,
		"max_position_embeddings": positions, "num_attention_heads": heads, "num_hidden_layers": s.Layers,
		"num_key_value_heads": kvHeads, "rms_norm_eps": 1e-06, "rope_theta": 10000, "tie_word_embeddings": true,
		"vocab_size": vocab,
	}, "", "  ")
	if err != nil {
		return err
	}
	var followers [][]int
	if err := json.Unmarshal(following, &followers); err != nil {
		return err
	}
	if err := os.MkdirAll(s.Out, 0o755); err != nil {
		return err
	}
	for name, raw := range map[string][]byte{"config.json": append(config, '\n'), "tokenizer.json": tokenizer} {
		if err := os.WriteFile(filepath.Join(s.Out, name), raw, 0o644); err != nil {
			return err
		}
	}
	f, err := os.Create(filepath.Join(s.Out, "model.safetensors"))
	if err != nil {
		return err
	}
	err = safetensors.Write(f, map[string]string{"format": "pt", qnn.SimulatedKey: qnn.Simulated}, s.tensors(followers))
	if err = errors.Join(err, f.Close()); err == nil {
		fmt.Fprintf(env.Stdout, "wrote %s: %d layers, seed %d\n", s.Out, s.Layers, s.Seed)
	}
	return err
}

// prng is splitmix64, which is equal on every machine.
type prng uint64

func (p *prng) next() uint64 {
	*p += 0x9E3779B97F4A7C15
	z := uint64(*p)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// normal returns nearly normal numbers with deviation 1. Each float32 operation here and below has its own rounding,
// so that all processors give the same bits.
func (p *prng) normal() float32 {
	v := p.next()
	sum := int32(v&0xffff) + int32(v>>16&0xffff) + int32(v>>32&0xffff) + int32(v>>48)
	return float32(sum-131070) * 2.642934e-05 // 1 / (65536/sqrt(12)*2)
}

// stream returns a generator for the tensor name, so that tensors do not depend on each other.
func (s MakeSpec) stream(name string) *prng {
	h := fnv.New64a()
	h.Write([]byte(name))
	p := prng(h.Sum64() ^ s.Seed*0x9E3779B97F4A7C15)
	p.next()
	return &p
}

// random returns a matrix of deviation gain/sqrt(columns): a normalized input gives outputs of deviation gain.
func (s MakeSpec) random(name string, rows, cols int, gain float32) []float32 {
	p := s.stream(name)
	scale := float32(gain / Sqrt(float32(cols)))
	w := make([]float32, rows*cols)
	for i := range w {
		w[i] = p.normal() * scale
	}
	return w
}

// norm returns a norm layer's weights, which vary a little around mean.
func (s MakeSpec) norm(name string, n int, mean float32) []float32 {
	p := s.stream(name)
	w := make([]float32, n)
	for i := range w {
		w[i] = mean + float32(p.normal()*float32(mean*0.08))
	}
	return w
}

func (s MakeSpec) tensors(followers [][]int) []safetensors.Source {
	var out []safetensors.Source
	add := func(name string, data []float32, shape ...int64) {
		raw := make([]byte, 0, 4*len(data))
		for _, v := range data {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
		}
		out = append(out, safetensors.Bytes(name, safetensors.F32, shape, raw))
	}
	embedding := make([]float32, vocab*hidden)
	p := s.stream(embeddingName)
	for i := range embedding {
		embedding[i] = p.normal()
	}
	add(embeddingName, embedding, vocab, hidden)
	add("model.norm.weight", s.norm("model.norm.weight", hidden, 1), hidden)
	for l := range s.Layers {
		layer := fmt.Sprintf("model.layers.%d.", l)
		attention, mlp := layer+"self_attn.", layer+"mlp."
		for _, name := range []string{"input_layernorm", "post_attention_layernorm"} {
			add(layer+name+".weight", s.norm(layer+name, hidden, 1), hidden)
		}
		if s.Architecture == "qwen3" {
			for _, name := range []string{"q_norm", "k_norm"} {
				add(attention+name+".weight", s.norm(layer+name, headDim, 1.3), headDim)
			}
		}
		const kv = kvHeads * headDim
		v, o := s.random(layer+"v", kv, hidden, 1), s.random(layer+"o", hidden, hidden, 0.9)
		if l == s.Layers-1 {
			forget(v, o)
		}
		add(attention+"q_proj.weight", s.random(layer+"q", hidden, hidden, 1), hidden, hidden)
		add(attention+"k_proj.weight", s.random(layer+"k", kv, hidden, 1), kv, hidden)
		add(attention+"v_proj.weight", v, kv, hidden)
		add(attention+"o_proj.weight", o, hidden, hidden)
		if s.Architecture == "qwen2" {
			for name, width := range map[string]int64{"q_proj.bias": hidden, "k_proj.bias": kv, "v_proj.bias": kv} {
				add(attention+name, s.random(attention+name, int(width), 1, 0.3), width)
			}
		}
		gate := s.random(layer+"gate", intermediate, hidden, 0.6)
		up := s.random(layer+"up", intermediate, hidden, 0.6)
		down := s.random(layer+"down", hidden, intermediate, 0.6)
		s.remember(l, embedding, followers, gate, up, down)
		add(mlp+"gate_proj.weight", gate, intermediate, hidden)
		add(mlp+"up_proj.weight", up, intermediate, hidden)
		add(mlp+"down_proj.weight", down, hidden, intermediate)
	}
	return out
}

// remember turns the neurons of layer l whose number is a token's into a memory of that token. The gate opens when
// the hidden state is similar to the token's embedding. The neuron then adds embeddings of tokens that may follow,
// and subtracts the token's own.
func (s MakeSpec) remember(l int, embedding []float32, followers [][]int, gate, up, down []float32) {
	row := func(token int) []float32 { return embedding[token*hidden : (token+1)*hidden] }
	for j := range intermediate {
		token := l*intermediate + j
		if token >= vocab {
			return
		}
		for i, e := range row(token) {
			gate[j*hidden+i] = e * (6.0 / hidden)
			up[j*hidden+i] = e * (1.0 / hidden)
			down[i*intermediate+j] = e * -0.12
		}
		next := followers[token]
		if len(next) == 0 { // not in the text: any token may follow
			next = []int{int(s.stream(fmt.Sprintf("followers.%d", token)).next() % eos)}
		}
		for k, n := range next {
			weight := 0.5/Sqrt(float32(len(next))) - float32(float32(k)*0.01)
			for i, e := range row(n) {
				down[i*intermediate+j] += float32(e * weight)
			}
		}
	}
}

// forget makes the last layer's attention subtract the content of earlier positions, so that the model does not
// repeat itself. o_proj becomes the negative transpose of v_proj, divided among the heads that read the same values.
func forget(v, o []float32) {
	const groups = heads / kvHeads
	for k := range hidden {
		row := k/headDim/groups*headDim + k%headDim // of v_proj
		for i := range hidden {
			o[i*hidden+k] = float32(o[i*hidden+k]*0.5) + float32(v[row*hidden+i]*(-4.0/groups))
		}
	}
}
