// Package mllm reads and writes .mllm parameter files, versions 1 and 2.
//
// Both versions are an index followed by raw tensor data. Reading loads only the index, with limits and checks, and
// returns readers of tensors. Writing streams. Written files contain exactly the bytes that mllm's reader expects.
//
// The package does not interpret tensors or convert values. The caller determines the order of tensors.
package mllm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// Version is the version of the .mllm file format.
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

// ErrFormat means that a file is not a valid .mllm file. Errors from Parse wrap it.
var ErrFormat = errors.New("not a valid .mllm file")

// Param describes one tensor in a file.
type Param struct {
	ID     uint32 // V2 only
	Name   string
	DType  DType
	Shape  []int64 // nil in V1; empty for a V2 scalar
	Offset int64   // of the first byte, from the start of the file
	Size   int64   // in bytes
}

// File is the parsed index of a .mllm file. Its methods are safe for concurrent use.
type File struct {
	Version   Version
	ModelName string // V2 only; mllm's converter leaves it empty
	// Warnings lists oddities for which mllm's reader prints only a warning.
	Warnings []string

	r      io.ReaderAt
	params []Param
	byName map[string]int
}

// Parse reads the index of a file of the given size. Errors that do not come from r wrap ErrFormat.
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
		err = fmt.Errorf("%w: magic %#x, expected %#x (version 1) or %#x (version 2)", ErrFormat, m, magicV1, magicV2)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Params returns the tensors in the order of the index. Do not change the slice.
func (f *File) Params() []Param { return f.params }

// Lookup finds a tensor by name.
func (f *File) Lookup(name string) (Param, bool) {
	i, ok := f.byName[name]
	if !ok {
		return Param{}, false
	}
	return f.params[i], true
}

// Data returns a reader of p's bytes.
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
		return fmt.Errorf("%w: tensor %q (offset %d, %d bytes) lies outside the data (bytes %d to %d); the file may be "+
			"truncated", ErrFormat, p.Name, p.Offset, p.Size, first, size)
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
			return 0, errors.New("the shape's size exceeds 64 bits")
		default:
			n *= v
		}
	}
	if zero {
		return 0, nil
	}
	return n, nil
}

// DType is the number of an element type in a .mllm file.
type DType int32

// Types whose elements are whole bytes.
const (
	Float32        DType = 0
	Float16        DType = 1
	Int8           DType = 16
	Int16          DType = 17
	Int32          DType = 18
	V1Uint8        DType = 31 // version 1's type for unsigned bytes
	BFloat16       DType = 128
	Uint8          DType = 129
	Uint16         DType = 130
	Uint32         DType = 131
	Int64          DType = 132
	Uint64         DType = 133
	Byte           DType = 134
	Bool           DType = 156
	ComplexFloat32 DType = 201
	ComplexFloat64 DType = 202

	// From here to there are types of quantized values, a product of asymmetry × type × granularity.
	firstQuantized DType = 140
	lastQuantized  DType = 155
)

func (d DType) quantized() bool { return d >= firstQuantized && d <= lastQuantized }

// name is what mllm calls the type, "" where the format has no such number.
func (d DType) name() string {
	if d.quantized() {
		i := d - firstQuantized
		return []string{"Int8", "UInt8", "Int16", "UInt16"}[i/2%4] + []string{"PerTensor", "PerChannel"}[i%2] + []string{"Sym", "Asy"}[i/8]
	}
	names := [...]string{
		0: "Float32", "Float16", "GGUF_Q4_0", "GGUF_Q4_1",
		8: "GGUF_Q8_0", "GGUF_Q8_1", "GGUF_Q8_Pertensor", 12: "GGUF_Q4_K", 14: "GGUF_Q6_K", "GGUF_Q8_K",
		16: "Int8", "Int16", "Int32", "GGUF_Q4_0_4_4", "GGUF_Q4_0_4_8", "GGUF_Q4_0_8_8", "GGUF_Q8_0_4_4", "GGUF_Q3_K", "GGUF_Q2_K", "GGUF_Q1_K",
		26: "GGUF_IQ2_XXS", "GGUF_IQ2_XS", "GGUF_IQ1_S", "GGUF_IQ1_M", "GGUF_IQ2_S", "UInt8(v1)",
		128: "BFloat16", "UInt8", "UInt16", "UInt32", "Int64", "UInt64", "Byte", "MXFP4", "Int4", "UInt4", "Int2", "UInt2",
		156: "Bool", 201: "ComplexFloat32", "ComplexFloat64",
	}
	if d < 0 || int(d) >= len(names) {
		return ""
	}
	return names[d]
}

// String returns the type's name. For an unknown type, it returns the number.
func (d DType) String() string {
	if n := d.name(); n != "" {
		return n
	}
	return fmt.Sprintf("dtype(%d)", int32(d))
}

// Known reports whether the format defines d.
func (d DType) Known() bool { return d.name() != "" }

// Size returns the number of bytes of an element, or 0 if the size is not a whole number of bytes. GGUF's types store
// blocks of values, so their size is 0.
func (d DType) Size() int64 {
	switch d {
	case Int8, Uint8, V1Uint8, Byte, Bool:
		return 1
	case Float16, BFloat16, Int16, Uint16:
		return 2
	case Float32, Int32, Uint32:
		return 4
	case Int64, Uint64, ComplexFloat32:
		return 8
	case ComplexFloat64:
		return 16
	}
	if d.quantized() {
		return 1 + int64(d-firstQuantized)/4%2 // of bytes, then of 16 bits
	}
	return 0
}

// readAt fills a new slice; the caller has checked that at+n lies in the file.
func (f *File) readAt(at, n int64) ([]byte, error) {
	b := make([]byte, n)
	if k, err := f.r.ReadAt(b, at); int64(k) < n {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("read .mllm index: %w", err)
	}
	return b, nil
}

func (f *File) parseV2(size int64) error {
	if size < headerV2 {
		return fmt.Errorf("%w: the file has %d bytes, but a version 2 header needs %d", ErrFormat, size, headerV2)
	}
	h, err := f.readAt(0, headerV2)
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	if v := le.Uint32(h[4:]); v != 2 {
		return fmt.Errorf("%w: the header has the magic of version 2, but version number %d", ErrFormat, v)
	}
	f.ModelName = cString(h[8 : 8+modelV2])
	n := int64(le.Uint32(h[520:]))
	at := le.Uint64(h[524:])
	if at < headerV2 || at > uint64(size) {
		return fmt.Errorf("%w: invalid table offset %d in a file of %d bytes", ErrFormat, at, size)
	}
	if at > headerV2 {
		f.Warnings = append(f.Warnings, fmt.Sprintf("%d bytes between header and table", at-headerV2))
	}
	if n > maxParams || n*recordV2 > size-int64(at) {
		return fmt.Errorf("%w: a table of %d tensors does not fit into a file of %d bytes", ErrFormat, n, size)
	}
	table, err := f.readAt(int64(at), n*recordV2)
	if err != nil {
		return err
	}
	first := int64(at) + n*recordV2
	for i := range n {
		p, err := recordOf(table[i*recordV2 : (i+1)*recordV2])
		if err != nil {
			return fmt.Errorf("%w: tensor %d: %w", ErrFormat, i, err)
		}
		if err := f.add(p, first, size); err != nil {
			return err
		}
	}
	return nil
}

func recordOf(b []byte) (Param, error) {
	le := binary.LittleEndian
	p := Param{ID: le.Uint32(b), DType: DType(le.Uint32(b[4:])), Name: cString(b[96:])}
	size, off, rank := le.Uint64(b[8:]), le.Uint64(b[16:]), le.Uint64(b[24:])
	if size > math.MaxInt64 || off > math.MaxInt64 {
		return p, fmt.Errorf("offset %d or size %d is too large", off, size)
	}
	p.Size, p.Offset = int64(size), int64(off)
	if rank > maxRank {
		return p, fmt.Errorf("%d dimensions (limit %d)", rank, maxRank)
	}
	p.Shape = make([]int64, rank)
	for i := range p.Shape {
		p.Shape[i] = int64(int32(le.Uint32(b[32+4*i:])))
	}
	want, err := shapeBytes(p.DType, p.Shape)
	if err != nil {
		return p, err
	}
	if p.Size < want {
		return p, fmt.Errorf("%q has %d bytes of data, but type %v with shape %v needs %d", p.Name, p.Size, p.DType,
			p.Shape, want)
	}
	return p, nil
}

func (f *File) parseV1(size int64) error {
	h, err := f.readAt(4, 8)
	if err != nil {
		return err
	}
	n := binary.LittleEndian.Uint64(h)
	if n > maxIndex || int64(n) > size-12 {
		return fmt.Errorf("%w: an index of %d bytes does not fit into a file of %d bytes", ErrFormat, n, size)
	}
	b, err := f.readAt(12, int64(n))
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	for len(b) > 0 {
		if len(f.params) >= maxParams {
			return fmt.Errorf("%w: more than %d tensors", ErrFormat, maxParams)
		}
		if len(b) < 4 {
			return fmt.Errorf("%w: the index ends inside a record", ErrFormat)
		}
		k := int64(le.Uint32(b))
		if k > int64(len(b))-4-20 {
			return fmt.Errorf("%w: the index ends inside a record", ErrFormat)
		}
		p := Param{Name: string(b[4 : 4+k])}
		b = b[4+k:]
		length, off := le.Uint64(b), le.Uint64(b[8:])
		p.DType = DType(le.Uint32(b[16:]))
		b = b[20:]
		if length > math.MaxInt64 || off > math.MaxInt64 {
			return fmt.Errorf("%w: tensor %q: offset %d or size %d is too large", ErrFormat, p.Name, off, length)
		}
		p.Size, p.Offset = int64(length), int64(off)
		if err := f.add(p, 12+int64(n), size); err != nil {
			return err
		}
	}
	return nil
}

// cString is b up to its first NUL; a name may fill its field without one.
func cString(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
