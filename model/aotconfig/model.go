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

// Model holds the parts of a model's config.json that affect its compilation.
type Model struct {
	Type      string // "qwen3"
	Layers    int
	BlockSize int // block size of LPBQ
}

// maxModelConfig limits a config.json in bytes. maxLayers exceeds the layers of any model that a phone can hold.
const (
	maxModelConfig = 1 << 20
	maxLayers      = 1024
)

// ReadModel reads a model's config.json.
//
// It accepts Hugging Face's config with the key linear_block_size, or mllm's own config with linear_impl_type.
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
	if m.Type == "" { // as in some of mllm's own configs
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
		return m, fmt.Errorf("num_hidden_layers is %d, but must be from 1 to %d", *c.Layers, maxLayers)
	case m.BlockSize == 0: // mllm's quantizer begins its message with the same words
		return m, errors.New("key \"linear_block_size\" is missing: Qwen3 LPBQ requires a positive `linear_block_size`. " +
			"Set the key to the quantizer's block size, 16 or 32")
	case m.BlockSize != 16 && m.BlockSize != 32 && m.BlockSize != 64:
		return m, fmt.Errorf("linear_block_size is %d: choose 16, 32 or 64", m.BlockSize)
	case named != 0 && named != m.BlockSize:
		return m, fmt.Errorf("linear_impl_type %q contradicts linear_block_size %d: correct one of the two keys",
			c.ImplType, m.BlockSize)
	case !slices.Contains(hf.Architectures(), m.Type):
		return m, fmt.Errorf("model_type is %q: mllm supports only %s", m.Type, strings.Join(hf.Architectures(), ", "))
	case !c.Tied:
		return m, errors.New("tie_word_embeddings is false: the ahead-of-time compiler supports only models " +
			"with a tied lm_head")
	}
	m.Layers = *c.Layers
	return m, nil
}
