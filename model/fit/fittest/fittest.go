// Package fittest writes models of any size with seeded weights, for tests that compile what package fit reckons. They say nothing that means anything.
package fittest

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/model/fit"
	"github.com/hexmage/hexmage/model/safetensors"
)

// Write writes a model in the Hugging Face layout: config.json, model.safetensors (BF16), and the tokenizer.json that it is given, whose tokens must be among
// the model's.
func Write(dir string, m fit.Model, tokenizer []byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	config, err := Config(m)
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{"config.json": config, "tokenizer.json": tokenizer} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	f, err := os.Create(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		return err
	}
	return errors.Join(safetensors.Write(f, nil, Tensors(m)), f.Close())
}

// Config is the config.json of a model.
func Config(m fit.Model) ([]byte, error) {
	return json.MarshalIndent(map[string]any{"model_type": m.Architecture, "hidden_act": "silu", "num_hidden_layers": m.Layers, "hidden_size": m.Hidden, "num_attention_heads": m.Heads,
		"num_key_value_heads": m.KVHeads, "head_dim": m.HeadDim, "intermediate_size": m.Intermediate, "vocab_size": m.Vocabulary, "tie_word_embeddings": m.Tied, "rms_norm_eps": 1e-6,
		"rope_theta": 10000.0, "eos_token_id": 511, "bos_token_id": 509, "linear_block_size": 32}, "", "  ")
}

// Tensors are a model's, each with random weights of its own.
func Tensors(m fit.Model) []safetensors.Source {
	var all []safetensors.Source
	matrix := func(name string, rows, columns int64) {
		seed := uint64(len(all))
		all = append(all, safetensors.Source{Name: name, DType: safetensors.BF16, Shape: []int64{rows, columns}, Write: func(w io.Writer) error {
			return random(w, seed, rows*columns, 1/math.Sqrt(float64(columns)))
		}})
	}
	ones := func(name string, n int64) {
		b := make([]byte, 0, 2*n)
		for range n {
			b = binary.LittleEndian.AppendUint16(b, 0x3f80) // 1
		}
		all = append(all, safetensors.Bytes(name, safetensors.BF16, []int64{n}, b))
	}
	q, kv := m.Heads*m.HeadDim, m.KVHeads*m.HeadDim
	matrix("model.embed_tokens.weight", m.Vocabulary, m.Hidden)
	ones("model.norm.weight", m.Hidden)
	if !m.Tied {
		matrix("lm_head.weight", m.Vocabulary, m.Hidden)
	}
	for l := range m.Layers {
		at := fmt.Sprintf("model.layers.%d.", l)
		ones(at+"input_layernorm.weight", m.Hidden)
		ones(at+"post_attention_layernorm.weight", m.Hidden)
		if m.Architecture == "qwen3" {
			ones(at+"self_attn.q_norm.weight", m.HeadDim)
			ones(at+"self_attn.k_norm.weight", m.HeadDim)
		}
		matrix(at+"self_attn.q_proj.weight", q, m.Hidden)
		matrix(at+"self_attn.k_proj.weight", kv, m.Hidden)
		matrix(at+"self_attn.v_proj.weight", kv, m.Hidden)
		matrix(at+"self_attn.o_proj.weight", m.Hidden, q)
		matrix(at+"mlp.gate_proj.weight", m.Intermediate, m.Hidden)
		matrix(at+"mlp.up_proj.weight", m.Intermediate, m.Hidden)
		matrix(at+"mlp.down_proj.weight", m.Hidden, m.Intermediate)
	}
	return all
}

// random writes n numbers of the deviation given.
func random(w io.Writer, seed uint64, n int64, deviation float64) error {
	r, b := rand.New(rand.NewPCG(seed, 79)), bufio.NewWriter(w)
	for range n {
		bits := math.Float32bits(float32(r.NormFloat64() * deviation))
		if _, err := b.Write([]byte{byte(bits >> 16), byte(bits >> 24)}); err != nil {
			return err
		}
	}
	return b.Flush()
}
