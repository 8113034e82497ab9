package aotconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/boundedfile"
	"github.com/hexmage/hexmage/model/hf"
)

// Model is what of a model's config.json decides how it is compiled.
type Model struct {
	Type      string // "qwen3"
	Layers    int
	BlockSize int // of LPBQ
}

// maxModelConfig bounds a config.json, in bytes; maxLayers is more than models have that a phone could hold.
const (
	maxModelConfig = 1 << 20
	maxLayers      = 1024
)

// ReadModel reads a model's config.json: Hugging Face's with linear_block_size added, or mllm's own, which has
// linear_impl_type too. It also returns the config as mllm's programs read it.
func ReadModel(path string) (m Model, raw []byte, err error) {
	if raw, err = boundedfile.Read(path, maxModelConfig); err != nil {
		return m, nil, err
	}
	if raw, err = hf.Complete(raw); err == nil {
		m, err = parseModel(raw)
	}
	if err == nil {
		raw, err = WriteModel(raw, m)
	}
	if err != nil {
		return m, nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, raw, nil
}

func parseModel(raw []byte) (Model, error) {
	var c struct {
		Type      string `json:"model_type"`
		Layers    *int   `json:"num_hidden_layers"`
		BlockSize int    `json:"linear_block_size"`
		ImplType  string `json:"linear_impl_type"`
		Tied      bool   `json:"tie_word_embeddings"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return Model{}, err
	}
	m := Model{Type: c.Type, BlockSize: c.BlockSize}
	if m.Type == "" { // as in some configs of mllm's own
		m.Type = "qwen3"
	}
	named := 0
	if _, number, ok := strings.Cut(c.ImplType, "_G"); ok {
		named, _ = strconv.Atoi(number)
	}
	if m.BlockSize == 0 {
		m.BlockSize = named
	}
	switch {
	case c.Layers == nil:
		return m, errors.New(`key "num_hidden_layers" is missing`)
	case *c.Layers < 1 || *c.Layers > maxLayers:
		return m, fmt.Errorf("num_hidden_layers is %d, not in 1..%d", *c.Layers, maxLayers)
	case m.BlockSize == 0: // the first words are those of mllm's quantiser
		return m, errors.New("key \"linear_block_size\" is missing: Qwen3 LPBQ requires a positive `linear_block_size`, and stock configs lack it: add 16 or 32, the quantiser's block size")
	case m.BlockSize != 16 && m.BlockSize != 32 && m.BlockSize != 64:
		return m, fmt.Errorf("linear_block_size is %d; choose 16, 32 or 64", m.BlockSize)
	case named != 0 && named != m.BlockSize:
		return m, fmt.Errorf("linear_impl_type %q does not fit linear_block_size %d", c.ImplType, m.BlockSize)
	case !slices.Contains(hf.Architectures(), m.Type):
		return m, fmt.Errorf("model_type is %q; mllm compiles %s", m.Type, strings.Join(hf.Architectures(), ", "))
	case !c.Tied:
		return m, errors.New("tie_word_embeddings is false; the ahead-of-time compiler has no lm_head for untied models")
	}
	m.Layers = *c.Layers
	return m, nil
}
