package qwen3

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/model/mllm"
)

// MakeTool and ReferenceTool are the tools' names, and their behaviour versions: raise them whenever an output changes.
const (
	MakeTool      tool.Name[MakeSpec]      = "make-model/1"
	ReferenceTool tool.Name[ReferenceSpec] = "reference/1"
)

// MakeSpec says which model to make.
type MakeSpec struct {
	Seed      uint64 `arg:"seed,required" json:"seed"`
	Layers    int    `arg:"layers" default:"4" range:"1..64" json:"layers"`
	BlockSize int    `arg:"block_size" default:"16" oneof:"16 32 64" json:"block_size"`
	Out       string `json:"out"` // folder to write
}

// RunMake is the tool that writes a seeded model.
func RunMake(_ context.Context, s MakeSpec, env tool.Env) error {
	c := DefaultConfig()
	c.NumHiddenLayers, c.LinearBlockSize, c.LinearImplType = s.Layers, s.BlockSize, LinearImplType(s.BlockSize)
	if err := Make(s.Out, s.Seed, c); err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "wrote %s: %d layers, hidden %d, vocabulary %d, seed %d\n", s.Out, c.NumHiddenLayers, c.HiddenSize, c.VocabSize, s.Seed)
	return nil
}

// ReferenceSpec says what to run the reference on.
type ReferenceSpec struct {
	Model     string `json:"model"`     // quantised model, .mllm version 2
	Config    string `json:"config"`    // the model's config.json
	Tokenizer string `json:"tokenizer"` // the model's tokenizer.json
	Prompt    string `arg:"prompt,required" json:"prompt"`
	MaxNew    int    `arg:"max_new_tokens" default:"32" json:"max_new_tokens"`
	Out       string `json:"out"` // tokens.json to write
}

// RunReference is the tool that runs a forward pass.
func RunReference(ctx context.Context, s ReferenceSpec, env tool.Env) error {
	res, err := reference(ctx, s)
	if err == nil {
		err = WriteResult(s.Out, res)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "%d prompt tokens, %d tokens: %q\n", len(res.PromptTokens), len(res.Tokens), res.Text)
	return nil
}

func reference(ctx context.Context, s ReferenceSpec) (Result, error) {
	c, err := ReadConfig(s.Config)
	if err != nil {
		return Result{}, err
	}
	t, err := ReadTokenizer(s.Tokenizer)
	if err != nil {
		return Result{}, err
	}
	f, err := os.Open(s.Model)
	if err != nil {
		return Result{}, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return Result{}, err
	}
	m, err := mllm.Parse(f, st.Size())
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", s.Model, err)
	}
	w, err := LoadWeights(m, c)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", s.Model, err)
	}
	return Generate(ctx, w, t, Prompt([]byte(s.Prompt)), s.MaxNew)
}

// Prompt is the part of a text or of standard input that is the prompt: its first line.
func Prompt(raw []byte) string {
	line, _, _ := bytes.Cut(raw, []byte("\n"))
	return string(bytes.TrimSuffix(line, []byte("\r")))
}

// WriteResult writes a tokens.json.
func WriteResult(path string, r Result) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append(raw, '\n'), 0o644)
}

// ReadResult reads a tokens.json, the reference's or a runner's.
func ReadResult(path string) (Result, error) {
	raw, err := boundedfile.Read(path, maxConfig)
	if err != nil {
		return Result{}, err
	}
	var r Result
	if err := json.Unmarshal(raw, &r); err != nil {
		return Result{}, fmt.Errorf("%s: %w", path, err)
	}
	if r.Tokens == nil {
		return Result{}, fmt.Errorf("%s: no \"tokens\"", path)
	}
	return r, nil
}
