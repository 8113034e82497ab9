package qwen3

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/model/mllm"
)

// ReferenceVersion names the tokens that the reference produces; it goes into cache keys. Raise it whenever an output changes.
const ReferenceVersion = "1"

// RunMake is the tool "make-model": it writes a seeded model to --out. Exit codes: 0 ok, 1 failed, 2 usage.
func RunMake(_ context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("make-model", flag.ContinueOnError)
	fs.SetOutput(stderr)
	c := DefaultConfig()
	seed := fs.Uint64("seed", 1, "seed of the weights")
	out := fs.String("out", "", "`folder` to write")
	fs.IntVar(&c.NumHiddenLayers, "layers", c.NumHiddenLayers, "num_hidden_layers")
	fs.IntVar(&c.HiddenSize, "hidden", c.HiddenSize, "hidden_size")
	fs.IntVar(&c.IntermediateSize, "ffn", c.IntermediateSize, "intermediate_size")
	fs.IntVar(&c.NumAttentionHeads, "heads", c.NumAttentionHeads, "num_attention_heads")
	fs.IntVar(&c.NumKeyValueHeads, "kv_heads", c.NumKeyValueHeads, "num_key_value_heads")
	fs.IntVar(&c.HeadDim, "head_dim", c.HeadDim, "head_dim")
	fs.IntVar(&c.VocabSize, "vocab", c.VocabSize, "vocab_size")
	fs.IntVar(&c.MaxCacheLength, "context", c.MaxCacheLength, "max_cache_length: the context, in tokens")
	fs.IntVar(&c.LinearBlockSize, "block_size", c.LinearBlockSize, "linear_block_size")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	if *out == "" || fs.NArg() > 0 {
		fmt.Fprintln(stderr, "make-model: --out is required, and nothing but flags is taken")
		return 2
	}
	c.LinearImplType = LinearImplType(c.LinearBlockSize)
	c.BOSTokenID, c.EOSTokenID = c.VocabSize-3, c.VocabSize-1
	if err := Make(*out, *seed, c); err != nil {
		fmt.Fprintf(stderr, "make-model: %v\n", err)
		return 1
	}
	fmt.Fprintf(stdout, "wrote %s: %d layers, hidden %d, vocabulary %d, seed %d\n", *out, c.NumHiddenLayers, c.HiddenSize, c.VocabSize, *seed)
	return 0
}

// RunReference is the tool "reference": it runs --model on --prompt-file and writes --out, a tokens.json. Exit codes: 0 ok, 1 failed, 2 usage.
func RunReference(ctx context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("reference", flag.ContinueOnError)
	fs.SetOutput(stderr)
	model := fs.String("model", "", "quantised model, .mllm version 2")
	config := fs.String("config", "", "the model's config.json")
	tokenizer := fs.String("tokenizer", "", "the model's tokenizer.json")
	prompt := fs.String("prompt-file", "", "`file` whose first line is the prompt")
	maxNew := fs.Int("max_new", 32, "most tokens to generate")
	out := fs.String("out", "", "tokens.json to write")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	if *model == "" || *config == "" || *tokenizer == "" || *prompt == "" || *out == "" || fs.NArg() > 0 {
		fmt.Fprintln(stderr, "reference: --model, --config, --tokenizer, --prompt-file and --out are required, and nothing but flags is taken")
		return 2
	}
	res, err := reference(ctx, *model, *config, *tokenizer, *prompt, *maxNew)
	if err == nil {
		err = WriteResult(*out, res)
	}
	if err != nil {
		fmt.Fprintf(stderr, "reference: %v\n", err)
		return 1
	}
	fmt.Fprintf(stdout, "%d prompt tokens, %d tokens: %q\n", len(res.PromptTokens), len(res.Tokens), res.Text)
	return 0
}

func reference(ctx context.Context, model, config, tokenizer, prompt string, maxNew int) (Result, error) {
	c, err := ReadConfig(config)
	if err != nil {
		return Result{}, err
	}
	t, err := ReadTokenizer(tokenizer)
	if err != nil {
		return Result{}, err
	}
	text, err := boundedfile.Read(prompt, maxText)
	if err != nil {
		return Result{}, err
	}
	f, err := os.Open(model)
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
		return Result{}, fmt.Errorf("%s: %w", model, err)
	}
	w, err := LoadWeights(m, c)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", model, err)
	}
	return Generate(ctx, w, t, Prompt(text), maxNew)
}

// Prompt is the part of a prompt file or of standard input that is the prompt: its first line.
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
