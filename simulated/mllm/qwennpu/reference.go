package qwennpu

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/simulated/mllm/quantizer"
	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

// Tool is the tool's name, and its behaviour version: raise it whenever an output changes.
const Tool tool.Name[Spec] = "reference-v1/1"

const (
	chunk     = 128 // tokens of a group with -c 1
	decoded   = 100 // tokens after the first, at most
	maxTokens = 8192
)

// Spec says what to run the reference on.
type Spec struct {
	Int8      string      `json:"int8"`      // the NPU's model, .mllm version 1
	Floats    string      `json:"floats"`    // the CPU's, in floats
	Config    string      `json:"config"`    // the model's config.json
	Tokenizer string      `json:"tokenizer"` // its tokenizer.json
	Prompt    string      `json:"prompt"`
	Runs      map[int]int `json:"runs"` // length to which the prompt is filled up (-s) → 1: in groups of 128 (-c)
	Out       string      `json:"out"`  // folder to write, with LENGTH.json for each
}

// Run is the tool.
func Run(ctx context.Context, s Spec, env tool.Env) error {
	c, err := toymodel.ReadHub(s.Config)
	if err != nil {
		return err
	}
	t, err := toymodel.ReadTokenizer(s.Tokenizer)
	if err != nil {
		return err
	}
	prompt, err := t.Encode(s.Prompt)
	if err != nil {
		return err
	}
	for _, length := range slices.Sorted(maps.Keys(s.Runs)) {
		r, err := s.generate(ctx, c, prompt, length, s.Runs[length] != 0)
		if err != nil {
			return err
		}
		if r.Text, err = t.Decode(r.Tokens); err != nil {
			return err
		}
		if err := toymodel.WriteResult(filepath.Join(s.Out, fmt.Sprintf("%d.json", length)), r); err != nil {
			return err
		}
		fmt.Fprintf(env.Stdout, "%d: %d prompt tokens, %d tokens: %q\n", length, len(r.PromptTokens), len(r.Tokens), strings.TrimSpace(r.Text))
	}
	return nil
}

// read opens a model; its caches are empty.
func read(path string, s Shape, as func(f file, name string, in, out int, biased bool) (linear, error)) (*model, error) {
	r, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	st, err := r.Stat()
	if err != nil {
		return nil, err
	}
	f, err := open(r, st.Size(), path)
	if err != nil {
		return nil, err
	}
	return load(f, s, as)
}

func (s Spec) generate(ctx context.Context, c toymodel.Config, prompt []int, length int, grouped bool) (toymodel.Result, error) {
	if length < 1 || length > maxTokens || len(prompt) == 0 {
		return toymodel.Result{}, fmt.Errorf("a prompt of %d tokens, filled up to %d: there are to be 1 to %d", len(prompt), length, maxTokens)
	}
	shape := Shape{Hidden: c.HiddenSize, Heads: c.NumAttentionHeads, FFN: c.IntermediateSize}
	npu, err := read(s.Int8, shape, file.eight)
	if err != nil {
		return toymodel.Result{}, err
	}
	cpu, err := read(s.Floats, shape, file.linear)
	if err != nil {
		return toymodel.Result{}, err
	}
	if len(npu.layers) != len(cpu.layers) || npu.vocab != cpu.vocab {
		return toymodel.Result{}, errors.New("the NPU's model and the CPU's have other layers, or vocabularies")
	}
	npu.sin, npu.cos = quantizer.RopeV1(npu.layers[0].headDim, length+decoded)
	cpu.sin, cpu.cos = npu.sin, npu.cos
	prompt = prompt[:min(len(prompt), length)]
	filled := append([]int{}, prompt...)
	for len(filled) < length {
		filled = append(filled, npu.vocab)
	}
	group := length
	if grouped {
		group = chunk
	}
	var last []float32
	for at := 0; at < length; at += group {
		if ctx.Err() != nil {
			return toymodel.Result{}, context.Cause(ctx)
		}
		rows := npu.prefill(filled[at:min(at+group, length)], at)
		if end := len(prompt) - 1 - at; end >= 0 && end < len(rows) {
			last = rows[end]
		}
	}
	for i, l := range cpu.layers { // what the prompt was filled up with is forgotten
		l.keys, l.values = npu.layers[i].keys[:len(prompt)], npu.layers[i].values[:len(prompt)]
	}
	r := toymodel.Result{PromptTokens: prompt, Tokens: []int{}}
	id := npu.next(last)
	for id != c.EOSTokenID {
		if r.Tokens = append(r.Tokens, id); len(r.Tokens) > decoded {
			break
		}
		id = cpu.step(id, len(prompt)+len(r.Tokens)-1)
	}
	return r, nil
}
