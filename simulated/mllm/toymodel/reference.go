package toymodel

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/model/mllm"
)

// Config holds the fields of config.json that the toy model's programs read. The file is Hugging Face's, or mllm's with
// the key max_cache_length.
type Config struct {
	Architecture string `json:"model_type"`
	Vocab        int    `json:"vocab_size"`
	Hidden       int    `json:"hidden_size"`
	HeadDim      int    `json:"head_dim"`
	Layers       int    `json:"num_hidden_layers"`
	Positions    int    `json:"max_cache_length"` // maximum length of prompt and answer together
}

// Norm is a norm layer.
type Norm struct {
	Name   string
	Weight []uint16
}

// Model is the toy model with the device's arithmetic (README.md).
type Model struct {
	Config
	Embedding []uint16
	Norms     []Norm

	state []uint16
}

const embeddingName = "model.embed_tokens.weight"

// maxConfig and maxTokenizer bound files, in bytes.
const (
	maxConfig    = 1 << 20
	maxTokenizer = 64 << 20
)

// Load reads a toy model: a config.json, and a .mllm file of version 1 or 2.
func Load(path, config string) (*Model, error) {
	raw, err := boundedfile.Read(config, maxConfig)
	if err != nil {
		return nil, err
	}
	var m Model
	if err := json.Unmarshal(raw, &m.Config); err != nil {
		return nil, fmt.Errorf("%s: %w", config, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	file, err := mllm.Parse(f, st.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if file.Version == mllm.V1 {
		m.Positions = 1124 // default of the programs of mllm's branch v1
	}
	for key, fits := range map[string]bool{
		"vocab_size":        m.Vocab >= 256 && m.Vocab <= 1<<16, // a token is a byte
		"hidden_size":       m.Hidden > 0 && m.Hidden <= 4096,
		"head_dim":          m.HeadDim > 0 && m.Hidden%m.HeadDim == 0,
		"num_hidden_layers": m.Layers > 0 && m.Layers <= 64,
		"max_cache_length":  m.Positions > 0 && m.Positions <= 4096,
	} {
		if !fits {
			return nil, fmt.Errorf("%s: invalid %s for a toy model", config, key)
		}
	}
	return &m, m.read(file)
}

// read reads the tensors. The model's numbers are the upper halves of the floats.
func (m *Model) read(f *mllm.File) error {
	halves := func(name string, n int) ([]uint16, error) {
		p, ok := f.Lookup(name)
		if !ok || p.DType != mllm.Float32 || p.Size != int64(4*n) {
			return nil, fmt.Errorf("float tensor %q (%d elements) is missing: use a model that a toy_model step made", name, n)
		}
		raw := make([]byte, p.Size)
		if _, err := io.ReadFull(f.Data(p), raw); err != nil {
			return nil, err
		}
		out := make([]uint16, n)
		for i := range out {
			out[i] = binary.LittleEndian.Uint16(raw[4*i+2:])
		}
		return out, nil
	}
	var err error
	if m.Embedding, err = halves(embeddingName, m.Vocab*m.Hidden); err != nil {
		return err
	}
	norm := func(name string, n int) {
		w, e := halves(name+".weight", n)
		if m.Norms = append(m.Norms, Norm{name, w}); err == nil {
			err = e
		}
	}
	for l := range m.Layers {
		layer := fmt.Sprintf("model.layers.%d.", l)
		norm(layer+"input_layernorm", m.Hidden)
		norm(layer+"post_attention_layernorm", m.Hidden)
		if m.Architecture == "qwen3" {
			norm(layer+"self_attn.q_norm", m.HeadDim)
			norm(layer+"self_attn.k_norm", m.HeadDim)
		}
	}
	norm("model.norm", m.Hidden)
	return err
}

// takeIn updates the state with tokens at positions from first on. If mixed is set, it adds the previous state to
// each token.
func (m *Model) takeIn(ids []int, first int, mixed bool) {
	const step = 40503
	before := append([]uint16(nil), m.state...)
	for r, id := range ids {
		x := make([]uint16, m.Hidden)
		for i := range x {
			x[i] = m.Embedding[id*m.Hidden+i] + uint16(step*(first+r))
			if mixed {
				x[i] += before[i]
			}
		}
		for _, n := range m.Norms {
			for d, row := len(n.Weight), x; len(row) > 0; row = row[d:] {
				RMSNorm(row[:d], row[:d], n.Weight, 0x1p-12, 32768, 0x1p-14, 0, 0x1p-13, 32768)
			}
		}
		for i, v := range x {
			m.state[i] = 3*m.state[i] + v
		}
	}
}

// next returns the next token.
func (m *Model) next() int {
	var hash uint32
	for i, v := range m.state {
		hash += uint32(v) * uint32(2*i+1)
	}
	return int(' ' + (hash^hash>>16)%95)
}

// Result is the result of a model run. It is also the content of tokens.json.
type Result struct {
	PromptTokens []int  `json:"prompt_tokens"`
	Tokens       []int  `json:"tokens"`
	Text         string `json:"text"`
}

// Tokenize returns the tokens of a text: first a hash of the tokenizer's file, then the bytes of the text.
func Tokenize(text string, tokenizer []byte, vocab int) []int {
	var sum uint32
	for _, b := range tokenizer {
		sum = sum*31 + uint32(b)
	}
	ids := []int{int((sum ^ sum>>16) % uint32(vocab))}
	for i := range len(text) {
		ids = append(ids, int(text[i]))
	}
	return ids
}

// Generate returns at most maxNew tokens that follow a prompt. It stops when the context is full.
func (m *Model) Generate(prompt []int, maxNew int) (Result, error) {
	if len(prompt) < 2 || len(prompt) > m.Positions {
		return Result{}, fmt.Errorf("the prompt has %d tokens, but the context holds only %d", len(prompt)-1, m.Positions)
	}
	r := Result{PromptTokens: prompt}
	m.state = make([]uint16, m.Hidden)
	m.takeIn(prompt, 0, false)
	for position := len(prompt); ; position++ {
		id := m.next()
		r.Tokens = append(r.Tokens, id)
		r.Text += string(rune(id))
		if len(r.Tokens) >= maxNew || position == m.Positions {
			return r, nil
		}
		m.takeIn([]int{id}, position, true)
	}
}

// RMSNorm normalizes one row exactly as the op package does (README.md). The slices x, w and out have the same
// length.
func RMSNorm(out, x, w []uint16, xs float32, xz int32, ws float32, wz int32, os float32, oz int32) {
	const magic = 12582912 // 1.5 * 2^23: adding it to a small float32 rounds to an integer, half to even
	// Each operation has its own float32 conversion, so that the compiler does not fuse it with the next one.
	inv := float32(1 / os)
	var s uint64
	for _, v := range x {
		a := int64(v) - int64(xz)
		s += uint64(a * a)
	}
	m := float32(float32(s) / float32(len(x)))
	v := float32(float32(m*float32(xs*xs)) + math.Float32frombits(0x358637BD)) // 1e-6
	k := float32(xs * float32(1/Sqrt(v)))
	for i, xv := range x {
		y := float32(float32(int32(xv)-xz) * k)
		g := float32(float32(int32(w[i])-wz) * ws)
		u := min(max(float32(float32(y*g)*inv), -131072), 131072)
		out[i] = uint16(min(max(int32(float32(float32(u+magic)-magic))+oz, 0), 65535))
	}
}

// Sqrt returns the correctly rounded square root of a float32.
func Sqrt(v float32) float32 { return float32(math.Sqrt(float64(v))) }

// ReferenceTool is this tool's name and version. Raise the version whenever the output changes.
const ReferenceTool tool.Name[ReferenceSpec] = "reference/3"

// ReferenceSpec is the input of RunReference.
type ReferenceSpec struct {
	Model     string `json:"model"`     // .mllm of version 2, or of version 1 for programs of mllm's branch v1
	Config    string `json:"config"`    // the model's config.json; for version 1, in Hugging Face's form
	Tokenizer string `json:"tokenizer"` // the program's tokenizer file
	Prompt    string `arg:"prompt,required" json:"prompt"`
	MaxNew    int    `arg:"max_new_tokens" default:"32" json:"max_new_tokens"`
	Lengths   []int  `arg:"lengths" json:"lengths,omitempty"` // prompt lengths in tokens; one result for each
	Out       string `json:"out"`                             // output file tokens.json
	Dir       string `json:"dir"`                             // output folder for LENGTH.json and a copy of tokens.json
}

// RunReference writes the tokens that the simulated runner must print.
func RunReference(_ context.Context, s ReferenceSpec, env tool.Env) error {
	m, err := Load(s.Model, s.Config)
	if err != nil {
		return err
	}
	tokenizer, err := boundedfile.Read(s.Tokenizer, maxTokenizer)
	if err != nil {
		return err
	}
	prompt, _, _ := strings.Cut(s.Prompt, "\n") // the runner reads one line
	ids := Tokenize(strings.TrimSuffix(prompt, "\r"), tokenizer, m.Vocab)
	files := map[string]int{s.Out: len(ids), filepath.Join(s.Dir, "tokens.json"): len(ids)}
	for _, n := range s.Lengths {
		files[filepath.Join(s.Dir, fmt.Sprintf("%d.json", n))] = min(n, len(ids))
	}
	for file, n := range files {
		r, err := m.Generate(ids[:n], s.MaxNew)
		if err == nil {
			err = writeResult(file, r)
		}
		if err != nil {
			return err
		}
		if file == s.Out {
			fmt.Fprintf(env.Stdout, "%d prompt tokens, %d tokens: %q\n", n, len(r.Tokens), r.Text)
		}
	}
	return nil
}

func writeResult(path string, r Result) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append(raw, '\n'), 0o644)
}
