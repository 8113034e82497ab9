package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sort"
)

// Source is a tensor to be written.
type Source struct {
	Name  string
	DType DType
	Shape []int64
	// Write sends the tensor's bytes, little-endian; it must send exactly what DType and Shape take.
	Write func(w io.Writer) error
}

// Bytes makes a Source of bytes that are already in memory.
func Bytes(name string, d DType, shape []int64, data []byte) Source {
	return Source{Name: name, DType: d, Shape: shape, Write: func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}}
}

// Write writes a file. Tensors are ordered by element size, largest first, then by name, which keeps every one aligned; the header
// is padded with spaces to a multiple of 8. Equal arguments give equal bytes, whatever the order of sources.
func Write(w io.Writer, metadata map[string]string, sources []Source) error {
	order := append([]Source(nil), sources...)
	sort.SliceStable(order, func(i, j int) bool {
		if a, b := order[i].DType.Size(), order[j].DType.Size(); a != b {
			return a > b
		}
		return order[i].Name < order[j].Name
	})
	header, sizes, err := encodeHeader(metadata, order)
	if err != nil {
		return err
	}
	if _, err := w.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))); err != nil {
		return err
	}
	if _, err := w.Write(header); err != nil {
		return err
	}
	for i, s := range order {
		c := &countWriter{w: w}
		if err := s.Write(c); err != nil {
			return fmt.Errorf("write tensor %q: %w", s.Name, err)
		}
		if c.n != sizes[i] {
			return fmt.Errorf("tensor %q: %d bytes were written, its type and shape take %d", s.Name, c.n, sizes[i])
		}
	}
	return nil
}

func encodeHeader(metadata map[string]string, order []Source) ([]byte, []int64, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	if len(metadata) > 0 {
		m, err := json.Marshal(metadata) // sorts keys
		if err != nil {
			return nil, nil, err
		}
		b.WriteString(`"__metadata__":`)
		b.Write(m)
	}
	sizes := make([]int64, len(order))
	seen := map[string]bool{"__metadata__": true}
	at := int64(0)
	for i, s := range order {
		if seen[s.Name] {
			return nil, nil, fmt.Errorf("tensor name %q is used twice or reserved", s.Name)
		}
		seen[s.Name] = true
		size, err := byteSize(s.DType, s.Shape)
		if err != nil {
			return nil, nil, fmt.Errorf("tensor %q: %w", s.Name, err)
		}
		sizes[i] = size
		shape := s.Shape
		if shape == nil {
			shape = []int64{} // a scalar is [], never null
		}
		name, err := json.Marshal(s.Name)
		if err != nil {
			return nil, nil, err
		}
		e, err := json.Marshal(entry{DType: s.DType, Shape: shape, Offsets: []int64{at, at + size}})
		if err != nil {
			return nil, nil, err
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(e)
		at += size
	}
	b.WriteByte('}')
	for b.Len()%8 != 0 {
		b.WriteByte(' ')
	}
	if b.Len() > MaxHeader {
		return nil, nil, fmt.Errorf("the header takes %d bytes (limit %d)", b.Len(), MaxHeader)
	}
	return b.Bytes(), sizes, nil
}

type countWriter struct {
	w io.Writer
	n int64
}

func (c *countWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
