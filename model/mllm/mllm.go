// Package mllm reads and writes .mllm parameter files, versions 1 and 2.
//
// Both versions are an index followed by raw tensor data. Reading loads the index only, bounded and checked, and hands
// out section readers; writing streams. Files written here are byte for byte what upstream's reader expects.
//
// The package does not know what a tensor means, converts no values, and does not decide an order: the caller does.
package mllm

import (
	"bytes"
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

// DType is an element type's number in a .mllm file.
type DType int32

// The numbers of the format. Names follow upstream's; GGUF types are whole blocks of quantised values.
const (
	Float32            DType = 0
	Float16            DType = 1
	Q4_0               DType = 2
	Q4_1               DType = 3
	Q8_0               DType = 8
	Q8_1               DType = 9
	Q8PerTensor        DType = 10
	Q4K                DType = 12
	Q6K                DType = 14
	Q8K                DType = 15
	Int8               DType = 16
	Int16              DType = 17
	Int32              DType = 18
	Q4_0_4_4           DType = 19
	Q4_0_4_8           DType = 20
	Q4_0_8_8           DType = 21
	Q8_0_4_4           DType = 22
	Q3K                DType = 23
	Q2K                DType = 24
	Q1K                DType = 25
	IQ2XXS             DType = 26
	IQ2XS              DType = 27
	IQ1S               DType = 28
	IQ1M               DType = 29
	IQ2S               DType = 30
	V1Uint8            DType = 31 // what version 1 writes for unsigned bytes
	BFloat16           DType = 128
	Uint8              DType = 129
	Uint16             DType = 130
	Uint32             DType = 131
	Int64              DType = 132
	Uint64             DType = 133
	Byte               DType = 134
	MXFP4              DType = 135
	Int4               DType = 136
	Uint4              DType = 137
	Int2               DType = 138
	Uint2              DType = 139
	Int8PerTensorSym   DType = 140
	Int8PerChannelSym  DType = 141
	Uint8PerTensorSym  DType = 142
	Uint8PerChannelSym DType = 143
	Int16PerTensorSym  DType = 144
	Int16PerChannelSym DType = 145
	U16PerTensorSym    DType = 146
	U16PerChannelSym   DType = 147
	Int8PerTensorAsy   DType = 148
	Int8PerChannelAsy  DType = 149
	Uint8PerTensorAsy  DType = 150
	Uint8PerChannelAsy DType = 151
	Int16PerTensorAsy  DType = 152
	Int16PerChannelAsy DType = 153
	U16PerTensorAsy    DType = 154
	U16PerChannelAsy   DType = 155
	Bool               DType = 156
	ComplexFloat32     DType = 201
	ComplexFloat64     DType = 202
)

// dtypeInfo gives a type's name and, where an element takes whole bytes, its size. Types without a size
// (GGUF blocks, sub-byte types) are carried as they are and their sizes are not checked.
func dtypeInfo(d DType) (name string, size int64) {
	switch d {
	case Float32:
		return "Float32", 4
	case Float16:
		return "Float16", 2
	case Q4_0:
		return "GGUF_Q4_0", 0
	case Q4_1:
		return "GGUF_Q4_1", 0
	case Q8_0:
		return "GGUF_Q8_0", 0
	case Q8_1:
		return "GGUF_Q8_1", 0
	case Q8PerTensor:
		return "GGUF_Q8_Pertensor", 0
	case Q4K:
		return "GGUF_Q4_K", 0
	case Q6K:
		return "GGUF_Q6_K", 0
	case Q8K:
		return "GGUF_Q8_K", 0
	case Int8:
		return "Int8", 1
	case Int16:
		return "Int16", 2
	case Int32:
		return "Int32", 4
	case Q4_0_4_4:
		return "GGUF_Q4_0_4_4", 0
	case Q4_0_4_8:
		return "GGUF_Q4_0_4_8", 0
	case Q4_0_8_8:
		return "GGUF_Q4_0_8_8", 0
	case Q8_0_4_4:
		return "GGUF_Q8_0_4_4", 0
	case Q3K:
		return "GGUF_Q3_K", 0
	case Q2K:
		return "GGUF_Q2_K", 0
	case Q1K:
		return "GGUF_Q1_K", 0
	case IQ2XXS:
		return "GGUF_IQ2_XXS", 0
	case IQ2XS:
		return "GGUF_IQ2_XS", 0
	case IQ1S:
		return "GGUF_IQ1_S", 0
	case IQ1M:
		return "GGUF_IQ1_M", 0
	case IQ2S:
		return "GGUF_IQ2_S", 0
	case V1Uint8:
		return "UInt8(v1)", 1
	case BFloat16:
		return "BFloat16", 2
	case Uint8:
		return "UInt8", 1
	case Uint16:
		return "UInt16", 2
	case Uint32:
		return "UInt32", 4
	case Int64:
		return "Int64", 8
	case Uint64:
		return "UInt64", 8
	case Byte:
		return "Byte", 1
	case MXFP4:
		return "MXFP4", 0
	case Int4:
		return "Int4", 0
	case Uint4:
		return "UInt4", 0
	case Int2:
		return "Int2", 0
	case Uint2:
		return "UInt2", 0
	case Bool:
		return "Bool", 1
	case ComplexFloat32:
		return "ComplexFloat32", 8
	case ComplexFloat64:
		return "ComplexFloat64", 16
	}
	if d >= Int8PerTensorSym && d <= U16PerChannelAsy {
		return quantisedInfo(d)
	}
	return "", 0
}

// quantisedInfo derives names 140..155, which are a product of asymmetry × type × granularity.
func quantisedInfo(d DType) (string, int64) {
	i := int(d - Int8PerTensorSym)
	base := []string{"Int8", "UInt8", "Int16", "UInt16"}[i/2%4]
	size := []int64{1, 1, 2, 2}[i/2%4]
	per := []string{"PerTensor", "PerChannel"}[i%2]
	return base + per + []string{"Sym", "Asy"}[i/8], size
}

// String is the type's name, or its number for an unknown type.
func (d DType) String() string {
	if n, _ := dtypeInfo(d); n != "" {
		return n
	}
	return fmt.Sprintf("dtype(%d)", int32(d))
}

// Known reports whether the format defines d.
func (d DType) Known() bool { n, _ := dtypeInfo(d); return n != "" }

// Size is the number of bytes of one element, or 0 where an element does not take whole bytes.
func (d DType) Size() int64 { _, s := dtypeInfo(d); return s }

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
		return fmt.Errorf("%w: %d bytes are too few for the version 2 header of %d", ErrFormat, size, headerV2)
	}
	h, err := f.readAt(0, headerV2)
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	if v := le.Uint32(h[4:]); v != 2 {
		return fmt.Errorf("%w: version %d behind the version 2 magic", ErrFormat, v)
	}
	f.ModelName = cString(h[8 : 8+modelV2])
	n := int64(le.Uint32(h[520:]))
	at := le.Uint64(h[524:])
	if at < headerV2 || at > uint64(size) {
		return fmt.Errorf("%w: table at %d in a file of %d bytes", ErrFormat, at, size)
	}
	if at > headerV2 {
		f.Warnings = append(f.Warnings, fmt.Sprintf("%d bytes between header and table", at-headerV2))
	}
	if n > maxParams || n*recordV2 > size-int64(at) {
		return fmt.Errorf("%w: a table of %d tensors does not fit %d bytes", ErrFormat, n, size)
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
		return p, fmt.Errorf("offset %d, size %d overflow", off, size)
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
		return p, fmt.Errorf("%q: %d bytes of data, %v %v takes %d", p.Name, p.Size, p.DType, p.Shape, want)
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
		return fmt.Errorf("%w: index of %d bytes in a file of %d", ErrFormat, n, size)
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
			return fmt.Errorf("%w: tensor %q: offset %d, size %d overflow", ErrFormat, p.Name, off, length)
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
