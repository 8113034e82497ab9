package quantizer

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/model/safetensors"
	"github.com/hexmage/hexmage/standin/mllm/qwen3"
)

// Run is the tool "quantize": it reads the model folder --model and writes the quantised one to --out. Exit codes: 0 ok, 1 failed, 2 usage.
func Run(ctx context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("quantize", flag.ContinueOnError)
	fs.SetOutput(stderr)
	in := fs.String("model", "", "model `folder`: config.json, tokenizer.json, model.safetensors (F32)")
	out := fs.String("out", "", "`folder` to write")
	block := fs.Int("block_size", 0, "block size of LPBQ: 16, 32 or 64 (default: linear_block_size of config.json)")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	if *in == "" || *out == "" || fs.NArg() > 0 {
		fmt.Fprintln(stderr, "quantize: --model and --out are required, and nothing else is taken")
		return 2
	}
	n, err := Quantise(ctx, *in, *out, *block)
	if err != nil {
		fmt.Fprintf(stderr, "quantize: %v\n", err)
		return 1
	}
	fmt.Fprintf(stdout, "wrote %s, %d tensors\n", filepath.Join(*out, "model.safetensors"), n)
	return 0
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
			return 0, fmt.Errorf("--block_size: %w", err)
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
