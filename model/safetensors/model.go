package safetensors

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hexmage/hexmage/internal/boundedfile"
)

// MaxIndex is the maximum size of an index.json in bytes.
const MaxIndex = 64 << 20

// Model is the set of tensors in one file, or in all files of an index.json.
type Model struct {
	tensors []ModelTensor // sorted by name
	closers []io.Closer
	said    map[string]string // metadata of all files
}

// Metadata returns the merged metadata of all files. If files contain different values for a key, the result contains
// one of them.
func (m *Model) Metadata() map[string]string { return m.said }

// ModelTensor is a tensor and its open file.
type ModelTensor struct {
	Tensor
	File *os.File
}

// Data returns a reader of the tensor's bytes.
func (t ModelTensor) Data() *io.SectionReader { return io.NewSectionReader(t.File, t.Offset, t.Size) }

// Open opens a .safetensors file, or an index ("….index.json") with all shards in the same folder. The caller must
// Close the Model.
func Open(path string) (*Model, error) {
	m := &Model{said: map[string]string{}}
	var err error
	if strings.HasSuffix(path, ".json") {
		err = m.openIndex(path)
	} else {
		_, err = m.add(path)
	}
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	slices.SortFunc(m.tensors, func(a, b ModelTensor) int { return strings.Compare(a.Name, b.Name) })
	return m, nil
}

// Tensors returns all tensors, sorted by name. Do not change the slice.
func (m *Model) Tensors() []ModelTensor { return m.tensors }

// Close closes the files.
func (m *Model) Close() error {
	var errs []error
	for _, c := range m.closers {
		errs = append(errs, c.Close())
	}
	m.closers = nil
	return errors.Join(errs...)
}

func (m *Model) add(path string) ([]string, error) {
	fh, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	m.closers = append(m.closers, fh)
	st, err := fh.Stat()
	if err != nil {
		return nil, err
	}
	f, err := Parse(fh, st.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	maps.Copy(m.said, f.Metadata)
	var names []string
	for _, t := range f.Tensors() {
		m.tensors = append(m.tensors, ModelTensor{Tensor: t, File: fh})
		names = append(names, t.Name)
	}
	return names, nil
}

// ParseIndex reads an index.json. It returns the file name of each tensor's shard, by tensor name.
func ParseIndex(raw []byte) (map[string]string, error) {
	var index struct {
		WeightMap map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(raw, &index); err != nil {
		return nil, err
	}
	if len(index.WeightMap) == 0 {
		return nil, errors.New("missing weight_map: the index names no shards")
	}
	for _, s := range index.WeightMap {
		// A shard's name must be a plain file name, because a path could leave the model's folder.
		if s == "" || s != filepath.Base(s) || s == "." || s == ".." || strings.ContainsAny(s, `/\`) {
			return nil, fmt.Errorf("invalid shard name %q: expected a plain file name", s)
		}
	}
	return index.WeightMap, nil
}

func (m *Model) openIndex(path string) error {
	raw, err := boundedfile.Read(path, MaxIndex)
	if err != nil {
		return err
	}
	index, err := ParseIndex(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	want := map[string]int{}
	for _, shard := range index {
		want[shard]++
	}
	for _, s := range slices.Sorted(maps.Keys(want)) {
		names, err := m.add(filepath.Join(filepath.Dir(path), s))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, n := range names {
			if index[n] != s {
				return fmt.Errorf("%s: tensor %q is in %s, but the index puts it in %q", path, n, s, index[n])
			}
		}
		if len(names) != want[s] {
			return fmt.Errorf("%s: the index lists %d tensors of %s, but the shard has %d", path, want[s], s, len(names))
		}
	}
	return nil
}
