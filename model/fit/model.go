package fit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/model/gguf"
	"github.com/hexmage/hexmage/model/hfconfig"
	"github.com/hexmage/hexmage/model/safetensors"
)

// Model is what of a decoder decides how much it takes.
type Model struct {
	Architecture string `json:"architecture"`
	Layers       int64  `json:"layers"`
	Hidden       int64  `json:"hidden"`
	Heads        int64  `json:"heads"`
	KVHeads      int64  `json:"kv_heads"`
	HeadDim      int64  `json:"head_dim"`
	Intermediate int64  `json:"intermediate"`
	Vocabulary   int64  `json:"vocabulary"`
	Tied         bool   `json:"tied"` // the head is the embedding, as a file has it
	// From says what was read: "config.json and the headers of 2 files", "config.json alone", "the header of x.gguf".
	From string `json:"from"`
}

// Architectures are those that onnx_llm makes graphs of, and that were measured.
func Architectures() []string { return []string{"llama", "qwen2", "qwen3"} }

// Parameters is how many weights the model has, the head's once more only where it has weights of its own.
func (m Model) Parameters() int64 {
	n := m.Layers*m.matrices() + m.Vocabulary*m.Hidden
	if !m.Tied {
		n += m.Vocabulary * m.Hidden
	}
	return n
}

// matrices is how many weights the matrices of a layer have.
func (m Model) matrices() int64 {
	q, kv := m.Heads*m.HeadDim, m.KVHeads*m.HeadDim
	return 2*m.Hidden*q + 2*m.Hidden*kv + 3*m.Hidden*m.Intermediate
}

// outputs is how many outputs those matrices have together: each has a scale.
func (m Model) outputs() int64 {
	return m.Heads*m.HeadDim + 2*m.KVHeads*m.HeadDim + 2*m.Hidden + 2*m.Intermediate
}

// maxConfig bounds a config.json, in bytes.
const maxConfig = 1 << 20

// limits are numbers that no model has more of, those of onnx_llm.
func limits() map[string]int64 {
	return map[string]int64{"layers": 1000, "hidden": 1 << 17, "heads": 1 << 10, "kv_heads": 1 << 10, "head_dim": 1 << 12, "intermediate": 1 << 19, "vocabulary": 1 << 20}
}

// checked refuses numbers that no model has.
func (m Model) checked() (Model, error) {
	most := limits()
	for _, n := range []struct {
		name string
		is   int64
	}{{"layers", m.Layers}, {"hidden", m.Hidden}, {"heads", m.Heads}, {"kv_heads", m.KVHeads}, {"head_dim", m.HeadDim}, {"intermediate", m.Intermediate}, {"vocabulary", m.Vocabulary}} {
		if n.is < 1 || n.is > most[n.name] {
			return m, fmt.Errorf("%s is %d, not in 1..%d", n.name, n.is, most[n.name])
		}
	}
	if m.Heads%m.KVHeads != 0 || m.HeadDim%2 != 0 {
		return m, fmt.Errorf("%d heads over %d key/value heads of %d elements do not go together", m.Heads, m.KVHeads, m.HeadDim)
	}
	return m, nil
}

// unknown refuses an architecture that was never measured.
func unknown(kind string) error {
	return fmt.Errorf("its architecture is %q, and what that takes was never measured; known are %s", kind, strings.Join(Architectures(), ", "))
}

// Read reads what a model is: of a folder in the Hugging Face layout its config.json, and the headers of its safetensors where it has them; of a GGUF its
// header. Weights are not read.
func Read(path string) (Model, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return Model{}, err
	case !info.IsDir():
		return readGGUF(path)
	}
	_, err = os.Stat(filepath.Join(path, "config.json"))
	if err == nil {
		return readFolder(path)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return Model{}, err
	}
	found, err := filepath.Glob(filepath.Join(escaped(path), "*.gguf"))
	if err == nil && len(found) == 1 {
		return readGGUF(found[0])
	}
	return Model{}, fmt.Errorf("%s has neither a config.json nor one GGUF: give the folder of a Hugging Face model, or a .gguf", path)
}

// escaped is a path as a pattern that means it alone.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

func readFolder(path string) (Model, error) {
	at := filepath.Join(path, "config.json")
	raw, err := boundedfile.Read(at, maxConfig)
	if err != nil {
		return Model{}, err
	}
	m, err := parseConfig(raw)
	if err != nil {
		return Model{}, fmt.Errorf("%s: %w", at, err)
	}
	for _, name := range []string{"model.safetensors.index.json", "model.safetensors"} {
		file := filepath.Join(path, name)
		if _, err := os.Stat(file); err != nil {
			continue
		}
		w, err := safetensors.Open(file)
		if err != nil {
			return Model{}, err
		}
		err = m.agrees(w)
		if err = errors.Join(err, w.Close()); err != nil {
			return Model{}, fmt.Errorf("%s: %w", path, err)
		}
		return m, nil
	}
	m.From = "config.json alone: there are no weights beside it"
	return m, nil
}

// parseConfig reads a config.json as the hub has it.
func parseConfig(raw []byte) (Model, error) {
	var c struct {
		Type         string `json:"model_type"`
		Act          string `json:"hidden_act"`
		Layers       int64  `json:"num_hidden_layers"`
		Hidden       int64  `json:"hidden_size"`
		Heads        int64  `json:"num_attention_heads"`
		KVHeads      int64  `json:"num_key_value_heads"`
		HeadDim      int64  `json:"head_dim"`
		Intermediate int64  `json:"intermediate_size"`
		Vocabulary   int64  `json:"vocab_size"`
		Tied         bool   `json:"tie_word_embeddings"`
	}
	raw, err := hfconfig.Complete(raw)
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil {
		return Model{}, fmt.Errorf("it is not the JSON of a model: %w: correct it, or get it again", err)
	}
	if !slices.Contains(Architectures(), c.Type) {
		return Model{}, unknown(c.Type)
	}
	if c.Act != "silu" {
		return Model{}, fmt.Errorf("hidden_act is %q; silu is known", c.Act)
	}
	m := Model{Architecture: c.Type, Layers: c.Layers, Hidden: c.Hidden, Heads: c.Heads, KVHeads: c.KVHeads, HeadDim: c.HeadDim,
		Intermediate: c.Intermediate, Vocabulary: c.Vocabulary, Tied: c.Tied}
	return m.checked()
}

// agrees holds the tensors' shapes to the config: a config of another model would make every number wrong.
func (m *Model) agrees(w *safetensors.Model) error {
	type tensor struct {
		name  string
		shape []int64
	}
	q, kv := m.Heads*m.HeadDim, m.KVHeads*m.HeadDim
	want := []tensor{{"model.embed_tokens.weight", []int64{m.Vocabulary, m.Hidden}}}
	for l := range m.Layers {
		for _, t := range []tensor{{"self_attn.q_proj", []int64{q, m.Hidden}}, {"self_attn.k_proj", []int64{kv, m.Hidden}}, {"self_attn.v_proj", []int64{kv, m.Hidden}},
			{"self_attn.o_proj", []int64{m.Hidden, q}}, {"mlp.gate_proj", []int64{m.Intermediate, m.Hidden}}, {"mlp.up_proj", []int64{m.Intermediate, m.Hidden}},
			{"mlp.down_proj", []int64{m.Hidden, m.Intermediate}}} {
			want = append(want, tensor{fmt.Sprintf("model.layers.%d.%s.weight", l, t.name), t.shape})
		}
	}
	for _, t := range want {
		have, ok := w.Lookup(t.name)
		if !ok {
			return fmt.Errorf("the weights have no %s, which config.json has them have", t.name)
		}
		if !slices.Equal(have.Shape, t.shape) {
			return fmt.Errorf("%s is %v; config.json means %v", t.name, have.Shape, t.shape)
		}
	}
	files := map[string]bool{}
	for _, t := range w.Tensors() {
		files[t.File.Name()] = true
	}
	_, own := w.Lookup("lm_head.weight")
	m.Tied = !own
	m.From = "config.json and the header of model.safetensors"
	if len(files) > 1 {
		m.From = fmt.Sprintf("config.json and the headers of %d files", len(files))
	}
	return nil
}

func readGGUF(path string) (Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return Model{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Model{}, err
	}
	h, err := gguf.Parse(f, info.Size())
	if err != nil {
		return Model{}, fmt.Errorf("%s: %w", path, err)
	}
	m, err := ofGGUF(h)
	if err != nil {
		return Model{}, fmt.Errorf("%s: %w", path, err)
	}
	m.From = "the header of " + filepath.Base(path)
	return m, nil
}

// ofGGUF makes sense of a header.
func ofGGUF(h *gguf.File) (Model, error) {
	kind := h.Metadata["general.architecture"]
	if !slices.Contains(Architectures(), kind) {
		return Model{}, unknown(kind)
	}
	var wrong error
	number := func(key string, otherwise int64) int64 {
		text, ok := h.Metadata[kind+"."+key]
		n, err := strconv.ParseInt(text, 10, 64)
		switch {
		case !ok && otherwise > 0:
			return otherwise
		case !ok:
			wrong = errors.Join(wrong, fmt.Errorf("it does not say %s.%s", kind, key))
		case err != nil:
			wrong = errors.Join(wrong, fmt.Errorf("%s.%s is %q, no number", kind, key, text))
		}
		return n
	}
	m := Model{Architecture: kind, Layers: number("block_count", 0), Hidden: number("embedding_length", 0), Heads: number("attention.head_count", 0),
		Intermediate: number("feed_forward_length", 0), Tied: true}
	m.KVHeads = number("attention.head_count_kv", m.Heads)
	if m.Heads > 0 {
		m.HeadDim = number("attention.key_length", m.Hidden/m.Heads)
	}
	for _, t := range h.Tensors {
		switch {
		case t.Name == "token_embd.weight" && len(t.Dims) == 2:
			m.Vocabulary = t.Dims[1]
		case t.Name == "output.weight":
			m.Tied = false
		}
	}
	if wrong != nil {
		return Model{}, wrong
	}
	if m.Vocabulary == 0 {
		return Model{}, errors.New("it has no token_embd.weight of two dimensions, which says how many tokens there are")
	}
	return m.checked()
}
