package mllm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// Source is a tensor to write. Write needs Size before the data.
type Source struct {
	Name  string
	DType DType
	Shape []int64 // ignored by version 1; empty for a scalar
	Size  int64   // in bytes
	// Write writes exactly Size bytes, little-endian.
	Write func(w io.Writer) error
}

// Write writes a file in the given version: header, index, and data in the order of sources, without gaps. Only version
// 2 stores modelName. Write keeps only the index in memory.
func Write(w io.Writer, v Version, modelName string, sources []Source) error {
	if len(sources) > maxParams {
		return fmt.Errorf("the model has %d tensors, more than the limit of %d", len(sources), maxParams)
	}
	seen := make(map[string]bool, len(sources))
	for _, s := range sources {
		if err := s.check(v); err != nil {
			return fmt.Errorf("tensor %q: %w", s.Name, err)
		}
		if seen[s.Name] {
			return fmt.Errorf("tensor name %q is used twice", s.Name)
		}
		seen[s.Name] = true
	}
	var index []byte
	var err error
	switch v {
	case V1:
		index, err = indexV1(sources)
	case V2:
		index, err = indexV2(modelName, sources)
	default:
		return fmt.Errorf("unknown .mllm version %d", v)
	}
	if err != nil {
		return err
	}
	if _, err := w.Write(index); err != nil {
		return err
	}
	for _, s := range sources {
		if err := s.send(w); err != nil {
			return fmt.Errorf("write tensor %q: %w", s.Name, err)
		}
	}
	return nil
}

func (s Source) check(v Version) error {
	if s.Name == "" || strings.ContainsRune(s.Name, 0) {
		return errors.New("the name is empty or contains a zero byte")
	}
	if !s.DType.Known() {
		return fmt.Errorf("unknown dtype %d", int32(s.DType))
	}
	if s.Size < 0 {
		return fmt.Errorf("size %d", s.Size)
	}
	if v == V1 {
		return nil
	}
	if len(s.Name) > nameV2 {
		return fmt.Errorf("the name has %d bytes, more than the limit of %d", len(s.Name), nameV2)
	}
	if len(s.Shape) > maxRank {
		return fmt.Errorf("%d dimensions (limit %d)", len(s.Shape), maxRank)
	}
	for _, d := range s.Shape {
		if d < 0 || d > math.MaxInt32 {
			return fmt.Errorf("dimension %d does not fit into 32 bits", d)
		}
	}
	want, err := shapeBytes(s.DType, s.Shape)
	if err != nil {
		return err
	}
	if want >= 0 && s.Size != want {
		return fmt.Errorf("the data has %d bytes, but type %v with shape %v needs %d", s.Size, s.DType, s.Shape, want)
	}
	return nil
}

// send counts what Write sends: one byte more or less would shift every later tensor. Where w can read from a file by itself
// (copy_file_range), Write still sees it as the io.ReaderFrom it is.
func (s Source) send(w io.Writer) error {
	c := &counter{w: w}
	if err := s.Write(c); err != nil {
		return err
	}
	if c.n != s.Size {
		return fmt.Errorf("wrote %d bytes, but the index says %d", c.n, s.Size)
	}
	return nil
}

func indexV2(modelName string, sources []Source) ([]byte, error) {
	if len(modelName) > modelV2 {
		return nil, fmt.Errorf("the model name has %d bytes, more than the limit of %d", len(modelName), modelV2)
	}
	le := binary.LittleEndian
	b := make([]byte, headerV2+len(sources)*recordV2)
	le.PutUint32(b, magicV2)
	le.PutUint32(b[4:], 2)
	copy(b[8:], modelName)
	le.PutUint32(b[520:], uint32(len(sources)))
	le.PutUint64(b[524:], headerV2)
	at := uint64(len(b))
	for i, s := range sources {
		r := b[headerV2+i*recordV2:]
		le.PutUint32(r, uint32(i))
		le.PutUint32(r[4:], uint32(s.DType))
		le.PutUint64(r[8:], uint64(s.Size))
		le.PutUint64(r[16:], at)
		le.PutUint64(r[24:], uint64(len(s.Shape)))
		for j, d := range s.Shape {
			le.PutUint32(r[32+4*j:], uint32(d))
		}
		copy(r[96:96+nameV2], s.Name)
		at += uint64(s.Size)
	}
	return b, nil
}

func indexV1(sources []Source) ([]byte, error) {
	n := 0
	for _, s := range sources {
		n += 4 + len(s.Name) + 20
	}
	if n > maxIndex {
		return nil, fmt.Errorf("the index has %d bytes, more than the limit of %d", n, maxIndex)
	}
	le := binary.LittleEndian
	b := le.AppendUint32(make([]byte, 0, 12+n), magicV1)
	b = le.AppendUint64(b, uint64(n))
	at := uint64(12 + n)
	for _, s := range sources {
		b = le.AppendUint32(b, uint32(len(s.Name)))
		b = append(b, s.Name...)
		b = le.AppendUint64(b, uint64(s.Size))
		b = le.AppendUint64(b, at)
		b = le.AppendUint32(b, uint32(s.DType))
		at += uint64(s.Size)
	}
	return b, nil
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// ReadFrom lets the kernel copy directly from file to file.
func (c *counter) ReadFrom(r io.Reader) (int64, error) {
	n, err := io.Copy(c.w, r)
	c.n += n
	return n, err
}
