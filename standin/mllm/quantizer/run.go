package quantizer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/model/safetensors"
	"github.com/hexmage/hexmage/standin/mllm/qwen3"
)

// Tool is the tool's name, and its behaviour version: raise it whenever an output changes.
const Tool tool.Name[Spec] = "quantize/1"

// Spec says what to quantise.
type Spec struct {
	Model     string `json:"model"`                // folder with config.json, tokenizer.json, model.safetensors (F32)
	BlockSize int    `json:"block_size,omitempty"` // of LPBQ: 16, 32 or 64; 0: linear_block_size of config.json
	Out       string `json:"out"`                  // folder to write
}

// Run is the tool.
func Run(ctx context.Context, s Spec, env tool.Env) error {
	n, err := Quantise(ctx, s.Model, s.Out, s.BlockSize)
	if err == nil {
		fmt.Fprintf(env.Stdout, "wrote %s, %d tensors\n", filepath.Join(s.Out, "model.safetensors"), n)
	}
	return err
}

// Quantise quantises the model folder in into the folder out and returns the number of tensors. block 0 means the config's own block size;
// another one is written into the new config, since compiler and runner must agree with the weights.
func Quantise(ctx context.Context, in, out string, block int) (int, error) {
	raw, err := os.ReadFile(filepath.Join(in, "config.json"))
	if err != nil {
		return 0, err
	}
	c, err := qwen3.ParseConfig(raw)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", filepath.Join(in, "config.json"), err)
	}
	if block != 0 && block != c.LinearBlockSize {
		c.LinearBlockSize, c.LinearImplType = block, qwen3.LinearImplType(block)
		if err := c.Validate(); err != nil {
			return 0, fmt.Errorf("block_size: %w", err)
		}
		if raw, err = c.Encode(); err != nil {
			return 0, err
		}
	}
	tok, err := os.ReadFile(filepath.Join(in, "tokenizer.json"))
	if err != nil {
		return 0, err
	}
	t, err := qwen3.ParseTokenizer(tok)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", filepath.Join(in, "tokenizer.json"), err)
	}
	m, err := loadFloat(filepath.Join(in, "model.safetensors"), c)
	if err != nil {
		return 0, err
	}
	sources, err := quantise(ctx, m, t)
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return 0, err
	}
	for name, b := range map[string][]byte{"config.json": raw, "tokenizer.json": tok} {
		if err := os.WriteFile(filepath.Join(out, name), b, 0o644); err != nil {
			return 0, err
		}
	}
	f, err := os.Create(filepath.Join(out, "model.safetensors"))
	if err != nil {
		return 0, err
	}
	err = safetensors.Write(f, map[string]string{"format": "pt"}, sources)
	return len(sources), errors.Join(err, f.Close())
}
