package fit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/model/gguf"
	"github.com/hexmage/hexmage/model/hf"
)

// Model is what of a decoder decides how much it takes.
type Model = hf.Model

// unknown refuses an architecture that was never measured.
func unknown(kind string) error {
	return fmt.Errorf("its architecture is %q, and what that takes was never measured; known are %s", kind,
		strings.Join(hf.Architectures(), ", "))
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
	open := func(name string) (fs.File, error) { return os.Open(name) }
	found, problems := hf.Read(open, path, hf.Needs{})
	var errs []error
	for _, p := range problems {
		errs = append(errs, p)
	}
	return found.Model, errors.Join(errs...)
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
	if !slices.Contains(hf.Architectures(), kind) {
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
	return m, m.Check()
}
