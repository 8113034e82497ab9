// Package mllm reads and writes .mllm parameter files, versions 1 and 2.
//
// Both versions are an index followed by raw tensor data. Reading loads the index only, bounded and checked, and hands
// out section readers; writing streams. Files written here are byte for byte what upstream's reader expects.
//
// The package does not know what a tensor means, converts no values, and does not decide an order: the caller does.
package mllm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// Version is a file's layout.
type Version int

// The two layouts. Only V2 stores shapes.
const (
	V1 Version = 1
	V2 Version = 2
)

// Numbers of the formats.
const (
	magicV1   = 20012
	magicV2   = 0x519A
	headerV2  = 532
	recordV2  = 352
	nameV2    = 256
	modelV2   = 512
	maxRank   = 16
	maxParams = 1 << 20   // tensors in one file; the largest published models have a few thousand
	maxIndex  = 512 << 20 // bytes of index
)

// ErrFormat is wrapped by every error that says a file is not a well-formed .mllm file.
var ErrFormat = errors.New("not a valid .mllm file")

// Param describes one tensor of a file.
type Param struct {
	ID     uint32 // V2 only
	Name   string
	DType  DType
	Shape  []int64 // nil in V1; empty for a V2 scalar
	Offset int64   // of the first byte, from the start of the file
	Size   int64   // in bytes
}

// File is a parsed index over a reader. Its methods may be called from several goroutines.
type File struct {
	Version   Version
	ModelName string // V2 only; upstream's converter leaves it empty
	// Warnings are oddities that upstream's reader also only warns of.
	Warnings []string

	r      io.ReaderAt
	params []Param
	byName map[string]int
}

// Parse reads the index of the file of the given size behind r. Errors wrap ErrFormat unless reading failed.
func Parse(r io.ReaderAt, size int64) (*File, error) {
	var head [4]byte
	if size < 12 {
		return nil, fmt.Errorf("%w: %d bytes are too few for a header", ErrFormat, size)
	}
	if _, err := r.ReadAt(head[:], 0); err != nil {
		return nil, fmt.Errorf("read .mllm magic: %w", err)
	}
	f := &File{r: r, byName: map[string]int{}}
	var err error
	switch m := binary.LittleEndian.Uint32(head[:]); m {
	case magicV1:
		f.Version = V1
		err = f.parseV1(size)
	case magicV2:
		f.Version = V2
		err = f.parseV2(size)
	default:
		err = fmt.Errorf("%w: magic %#x (version 1 has %#x, version 2 %#x)", ErrFormat, m, magicV1, magicV2)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Params lists the tensors in the order of the index. The slice is the File's own.
func (f *File) Params() []Param { return f.params }

// Lookup finds a tensor by name.
func (f *File) Lookup(name string) (Param, bool) {
	i, ok := f.byName[name]
	if !ok {
		return Param{}, false
	}
	return f.params[i], true
}

// Data reads p's bytes.
func (f *File) Data(p Param) *io.SectionReader { return io.NewSectionReader(f.r, p.Offset, p.Size) }

// add checks what both versions share and keeps p. first is the lowest offset that data may have.
func (f *File) add(p Param, first, size int64) error {
	if p.Name == "" {
		return fmt.Errorf("%w: tensor %d has no name", ErrFormat, len(f.params))
	}
	if _, dup := f.byName[p.Name]; dup {
		return fmt.Errorf("%w: tensor %q appears twice", ErrFormat, p.Name)
	}
	if !p.DType.Known() {
		return fmt.Errorf("%w: tensor %q has unknown dtype %d", ErrFormat, p.Name, int32(p.DType))
	}
	if p.Offset < first || p.Size < 0 || p.Offset > size || p.Size > size-p.Offset {
		return fmt.Errorf("%w: tensor %q at %d..+%d lies outside the data %d..%d; is the file truncated?", ErrFormat, p.Name, p.Offset, p.Size, first, size)
	}
	f.byName[p.Name] = len(f.params)
	f.params = append(f.params, p)
	return nil
}

// shapeBytes is the number of bytes of a tensor, or -1 where the type has no whole-byte size.
func shapeBytes(d DType, shape []int64) (int64, error) {
	n := d.Size()
	if n == 0 {
		return -1, nil
	}
	zero := false
	for _, v := range shape {
		switch {
		case v < 0:
			return 0, fmt.Errorf("negative dimension %d", v)
		case v == 0:
			zero = true
		case n > math.MaxInt64/v:
			return 0, errors.New("the shape's size overflows")
		default:
			n *= v
		}
	}
	if zero {
		return 0, nil
	}
	return n, nil
}
