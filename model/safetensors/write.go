package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// Source is a tensor to write.
type Source struct {
	Name  string
	DType DType
	Shape []int64
	Data  []byte // little-endian
}

// Bytes returns a Source with the given data.
func Bytes(name string, d DType, shape []int64, data []byte) Source {
	return Source{name, d, shape, data}
}

// Write writes a file. It sorts tensors by element size, largest first, and then by name, so that each tensor is
// aligned. The order of sources does not affect the bytes.
func Write(w io.Writer, metadata map[string]string, sources []Source) error {
	order := slices.SortedStableFunc(slices.Values(sources), func(a, b Source) int {
		return cmp.Or(cmp.Compare(b.DType.Size(), a.DType.Size()), cmp.Compare(a.Name, b.Name))
	})
	header := map[string]any{"__metadata__": metadata}
	var data [][]byte
	at := int64(0)
	for _, s := range order {
		if _, twice := header[s.Name]; twice {
			return fmt.Errorf("tensor name %q: duplicate or reserved", s.Name)
		}
		size, err := byteSize(s.DType, s.Shape)
		if err == nil && size != int64(len(s.Data)) {
			err = fmt.Errorf("the data has %d bytes, but type and shape need %d", len(s.Data), size)
		}
		if err != nil {
			return fmt.Errorf("tensor %q: %w", s.Name, err)
		}
		shape := append([]int64{}, s.Shape...) // a scalar has [], not null
		header[s.Name] = entry{DType: s.DType, Shape: shape, Offsets: []int64{at, at + size}}
		data = append(data, s.Data)
		at += size
	}
	if len(metadata) == 0 {
		delete(header, "__metadata__")
	}
	text, err := json.Marshal(header)
	if err != nil {
		return err
	}
	text = append(text, bytes.Repeat([]byte(" "), -len(text)&7)...)
	for _, part := range append([][]byte{binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text}, data...) {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}
