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
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/model/safetensors"
	"github.com/hexmage/hexmage/qnn"
)

// tokenizer is a byte-level BPE with a token for each id below eos.
//
//go:embed files/tokenizer.json
var tokenizer []byte

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

// MakeTool is the tool's name and behavior version: raise it whenever an output changes.
const MakeTool tool.Name[MakeSpec] = "toy-model/6"

// MakeSpec says which model to make.
type MakeSpec struct {
	Seed         uint64 `arg:"seed,required" json:"seed"`
	Layers       int    `arg:"layers" default:"4" range:"1..64" json:"layers"`
	BlockSize    int    `arg:"block_size" default:"16" oneof:"16 32 64" json:"block_size"`
	Architecture string `arg:"architecture" default:"qwen3" oneof:"qwen3 qwen2 llama" json:"architecture"`
	Out          string `json:"out"` // folder to write
}

// RunMake writes a model in Hugging Face's layout: config.json, tokenizer.json, model.safetensors (F32). The bytes
// depend on the arguments alone.
//
// The weights are not trained. The first layers' MLPs store two tokens that follow each token; attention and the other
// layers are random. So outputs vary with the prompt, and the token itself is not the most likely one after it.
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
	err = safetensors.Write(f, map[string]string{"format": "pt", qnn.SimulatedKey: qnn.Simulated}, s.tensors())
	if err = errors.Join(err, f.Close()); err == nil {
		fmt.Fprintf(env.Stdout, "wrote %s: %d layers, seed %d\n", s.Out, s.Layers, s.Seed)
	}
	return err
}

// stream gives random numbers. Each tensor has its own, by its name, so that tensors do not depend on each other.
type stream struct{ *rand.Rand }

func (s MakeSpec) stream(name string) stream {
	h := fnv.New64a()
	h.Write([]byte(name))
	return stream{rand.New(rand.NewPCG(s.Seed, h.Sum64()))}
}

// normal is nearly normal with deviation 1. Each float32 operation is rounded by itself, here and below, so that all
// processors give the same bits.
func (r stream) normal() float32 {
	sum := float32(-2)
	for range 4 {
		sum += r.Float32()
	}
	return sum * 1.7320508
}

// random is a matrix of deviation gain/sqrt(columns), so that a normalized input gives outputs of deviation gain.
func (s MakeSpec) random(name string, rows, cols int, gain float32) []float32 {
	r := s.stream(name)
	scale := float32(gain / Sqrt(float32(cols)))
	w := make([]float32, rows*cols)
	for i := range w {
		w[i] = r.normal() * scale
	}
	return w
}

// norm is a norm layer's weight: about mean, a little uneven.
func (s MakeSpec) norm(name string, n int, mean float32) []float32 {
	r := s.stream(name)
	w := make([]float32, n)
	for i := range w {
		w[i] = mean + float32(r.normal()*float32(mean*0.08))
	}
	return w
}

func (s MakeSpec) tensors() []safetensors.Source {
	var out []safetensors.Source
	add := func(name string, data []float32, shape ...int64) {
		raw := make([]byte, 0, 4*len(data))
		for _, v := range data {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
		}
		out = append(out, safetensors.Bytes(name, safetensors.F32, shape, raw))
	}
	norm := func(name string, n int64, mean float32) { add(name, s.norm(name, int(n), mean), n) }
	matrix := func(name string, rows, cols int64, gain float32) {
		add(name+".weight", s.random(name, int(rows), int(cols), gain), rows, cols)
	}
	embedding := s.random(embeddingName, vocab, hidden, Sqrt(hidden))
	add(embeddingName, embedding, vocab, hidden)
	norm("model.norm.weight", hidden, 1)
	for l := range s.Layers {
		layer := fmt.Sprintf("model.layers.%d.", l)
		attention, mlp := layer+"self_attn.", layer+"mlp."
		norm(layer+"input_layernorm.weight", hidden, 1)
		norm(layer+"post_attention_layernorm.weight", hidden, 1)
		if s.Architecture == "qwen3" {
			norm(attention+"q_norm.weight", headDim, 1.3)
			norm(attention+"k_norm.weight", headDim, 1.3)
		}
		const kv = kvHeads * headDim
		for name, width := range map[string]int64{"q_proj": hidden, "k_proj": kv, "v_proj": kv} {
			matrix(attention+name, width, hidden, 1)
			if s.Architecture == "qwen2" {
				add(attention+name+".bias", s.random(attention+name+".bias", int(width), 1, 0.3), width)
			}
		}
		matrix(attention+"o_proj", hidden, hidden, 0.9)
		gate := s.random(mlp+"gate_proj", intermediate, hidden, 0.6)
		up := s.random(mlp+"up_proj", intermediate, hidden, 0.6)
		down := s.random(mlp+"down_proj", hidden, intermediate, 0.6)
		s.remember(l, embedding, gate, up, down)
		add(mlp+"gate_proj.weight", gate, intermediate, hidden)
		add(mlp+"up_proj.weight", up, intermediate, hidden)
		add(mlp+"down_proj.weight", down, hidden, intermediate)
	}
	return out
}

// remember turns the neurons of layer l whose number is a token's into a memory of that token: the gate opens when the
// hidden state looks like the token's embedding. The neuron then adds embeddings of two tokens that may follow, and
// takes the token's own away.
func (s MakeSpec) remember(l int, embedding, gate, up, down []float32) {
	row := func(token int) []float32 { return embedding[token*hidden : (token+1)*hidden] }
	for j := range intermediate {
		token := l*intermediate + j
		if token >= vocab {
			return
		}
		r := s.stream(fmt.Sprintf("followers.%d", token))
		first, second := row(r.IntN(eos)), row(r.IntN(eos))
		for i, e := range row(token) {
			gate[j*hidden+i] = e * (6.0 / hidden)
			up[j*hidden+i] = e * (1.0 / hidden)
			down[i*intermediate+j] = float32(e*-0.12) + float32(first[i]*0.36) + float32(second[i]*0.34)
		}
	}
}
