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

// Source is a tensor to be written.
type Source struct {
	Name  string
	DType DType
	Shape []int64
	Data  []byte // little-endian
}

// Bytes makes a Source.
func Bytes(name string, d DType, shape []int64, data []byte) Source {
	return Source{name, d, shape, data}
}

// Write writes a file. Tensors are ordered by element size, largest first, then by name, which keeps every one aligned;
// the header is padded with spaces to a multiple of 8. Equal arguments give equal bytes, whatever the order of sources.
func Write(w io.Writer, metadata map[string]string, sources []Source) error {
	order := slices.SortedStableFunc(slices.Values(sources), func(a, b Source) int {
		return cmp.Or(cmp.Compare(b.DType.Size(), a.DType.Size()), cmp.Compare(a.Name, b.Name))
	})
	header := map[string]any{"__metadata__": metadata}
	var data [][]byte
	at := int64(0)
	for _, s := range order {
		if _, twice := header[s.Name]; twice {
			return fmt.Errorf("tensor name %q is used twice or reserved", s.Name)
		}
		size, err := byteSize(s.DType, s.Shape)
		if err == nil && size != int64(len(s.Data)) {
			err = fmt.Errorf("%d bytes, its type and shape take %d", len(s.Data), size)
		}
		if err != nil {
			return fmt.Errorf("tensor %q: %w", s.Name, err)
		}
		shape := append([]int64{}, s.Shape...) // of a scalar [], never null
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
