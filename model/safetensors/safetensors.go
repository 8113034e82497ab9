// Package safetensors reads and writes safetensors files: a JSON header that names tensors, and their bytes.
//
// Reading does not load tensor data: File holds the parsed header, and Model returns section readers. The package
// limits the header and checks every offset, so a File from untrusted bytes is safe to use. Writing is
// deterministic: equal tensors and metadata give equal bytes.
//
// The package does not know models, quantization or the meaning of tensor names, and it does not convert values.
package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"unicode/utf8"
)

// MaxHeader is the maximum size of a header in bytes. It equals the limit of the format's reference reader.
const MaxHeader = 100_000_000

// maxRank limits a tensor's number of dimensions. Real models have fewer than 8.
const maxRank = 64

// ErrFormat means that a safetensors file is invalid. Returned errors wrap it.
var ErrFormat = errors.New("not a valid safetensors file")

// TruncatedError means that a file ends before its tensors end. It wraps ErrFormat.
type TruncatedError struct {
	Tensor     string // name of the tensor
	Size, Want int64  // size of the tensor, and of the complete file, in bytes
}

func (e *TruncatedError) Error() string {
	return fmt.Sprintf("tensor %q of %d bytes ends after the file's end: the file is truncated", e.Tensor, e.Size)
}

// DTypeError means that a tensor has an unknown element type. It wraps ErrFormat.
type DTypeError struct {
	Tensor string
	DType  DType
}

func (e *DTypeError) Error() string {
	return fmt.Sprintf("tensor %q: unknown element type %q", e.Tensor, string(e.DType))
}

// DType is an element type as spelled in the header, for example "F32".
type DType string

// Element types of the format.
const (
	F4     DType = "F4"
	F6E2M3 DType = "F6_E2M3"
	F6E3M2 DType = "F6_E3M2"
	F8E8M0 DType = "F8_E8M0"
	Bool   DType = "BOOL"
	U8     DType = "U8"
	I8     DType = "I8"
	F8E5M2 DType = "F8_E5M2"
	F8E4M3 DType = "F8_E4M3"
	I16    DType = "I16"
	U16    DType = "U16"
	F16    DType = "F16"
	BF16   DType = "BF16"
	I32    DType = "I32"
	U32    DType = "U32"
	F32    DType = "F32"
	F64    DType = "F64"
	I64    DType = "I64"
	U64    DType = "U64"
	C64    DType = "C64"
)

// Bits returns the number of bits of an element, or 0 for an unknown type.
func (d DType) Bits() int64 {
	switch d {
	case F4:
		return 4
	case F6E2M3, F6E3M2:
		return 6
	case Bool, U8, I8, F8E5M2, F8E4M3, F8E8M0:
		return 8
	case I16, U16, F16, BF16:
		return 16
	case I32, U32, F32:
		return 32
	case F64, I64, U64, C64:
		return 64
	}
	return 0
}

// Size returns the number of whole bytes of an element. For an unknown type or a type below one byte, it returns 0.
func (d DType) Size() int64 { return d.Bits() / 8 }

// Tensor describes one tensor of a file.
type Tensor struct {
	Name   string
	DType  DType
	Shape  []int64 // empty for a scalar
	Offset int64   // of the first byte, from the start of the file
	Size   int64   // in bytes
}

// File is a parsed header. Its methods are safe for concurrent use.
type File struct {
	// Metadata is the header's "__metadata__", or nil.
	Metadata map[string]string

	tensors []Tensor // by offset
}

// Parse reads the header of a file of the given size. It checks that types are known, that sizes match the shapes, and
// that the tensors exactly fill the data. Errors that do not come from r wrap ErrFormat.
func Parse(r io.ReaderAt, size int64) (*File, error) {
	if size < 8 {
		return nil, fmt.Errorf("%w: %d bytes are too few for the header length", ErrFormat, size)
	}
	var n8 [8]byte
	if _, err := r.ReadAt(n8[:], 0); err != nil {
		return nil, fmt.Errorf("read header length: %w", err)
	}
	n := binary.LittleEndian.Uint64(n8[:])
	if n > MaxHeader || int64(n) > size-8 {
		return nil, fmt.Errorf("%w: a header of %d bytes exceeds the file size of %d bytes or the limit of %d",
			ErrFormat, n, size, MaxHeader)
	}
	raw := make([]byte, n)
	if _, err := r.ReadAt(raw, 8); err != nil && !(errors.Is(err, io.EOF) && int64(n) == size-8) {
		return nil, fmt.Errorf("read header: %w", err)
	}
	f := &File{}
	err := f.decodeHeader(raw)
	if err == nil {
		err = f.layout(8+int64(n), size)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return f, nil
}

// layout converts data offsets to file offsets and checks that the tensors exactly fill the data section.
func (f *File) layout(start, size int64) error {
	slices.SortFunc(f.tensors, func(a, b Tensor) int { // empty tensors precede the tensor at the same offset
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Size, b.Size), cmp.Compare(a.Name, b.Name))
	})
	next, end := int64(0), int64(0)
	for _, t := range f.tensors {
		end = max(end, t.Offset+t.Size)
	}
	for i := range f.tensors {
		t := &f.tensors[i]
		if t.Offset != next {
			return fmt.Errorf("tensor %q begins at data byte %d, expected %d (overlap or gap)", t.Name, t.Offset, next)
		}
		if t.Size > size-start-next {
			return &TruncatedError{t.Name, t.Size, start + min(end, math.MaxInt64-start)}
		}
		next += t.Size
		t.Offset += start
	}
	if next != size-start {
		return fmt.Errorf("%d bytes after the last tensor", size-start-next)
	}
	return nil
}

// Tensors returns the tensors in the order of their data. Do not change the slice.
func (f *File) Tensors() []Tensor { return f.tensors }

// byteSize returns the size of a tensor, or an error if an int64 cannot hold it.
func byteSize(d DType, shape []int64) (int64, error) {
	n := d.Bits()
	if n == 0 {
		return 0, fmt.Errorf("unknown element type %q", string(d))
	}
	zero := false
	for _, v := range shape {
		if v < 0 {
			return 0, fmt.Errorf("negative dimension %d", v)
		}
		if v == 0 {
			zero = true
			continue
		}
		if n > math.MaxInt64/v {
			return 0, errors.New("the shape's size exceeds 64 bits")
		}
		n *= v
	}
	if zero {
		return 0, nil
	}
	if n%8 != 0 {
		return 0, fmt.Errorf("%d bits are not a whole number of bytes", n)
	}
	return n / 8, nil
}

// entry is a tensor in the header.
type entry struct {
	DType   DType   `json:"dtype"`
	Shape   []int64 `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
}

// decodeHeader reads the top-level object by token, because encoding/json would silently keep the last of two equal
// names.
func (f *File) decodeHeader(raw []byte) error {
	if len(raw) == 0 || raw[0] != '{' {
		return errors.New("the header does not begin with '{'")
	}
	if !utf8.Valid(raw) {
		return errors.New("the header is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	seen := map[string]bool{}
	for d.More() {
		tok, err := d.Token()
		if err != nil {
			return fmt.Errorf("header: %w", err)
		}
		name, _ := tok.(string) // keys of an object are always strings
		if seen[name] {
			return fmt.Errorf("duplicate %q in the header", name)
		}
		seen[name] = true
		if name == "__metadata__" {
			if err := d.Decode(&f.Metadata); err != nil {
				return fmt.Errorf("__metadata__: %w", err)
			}
			continue
		}
		var e entry
		if err := d.Decode(&e); err != nil {
			return fmt.Errorf("tensor %q: %w", name, err)
		}
		if e.DType.Bits() == 0 {
			return &DTypeError{name, e.DType}
		}
		t, err := e.tensor(name)
		if err != nil {
			return fmt.Errorf("tensor %q: %w", name, err)
		}
		f.tensors = append(f.tensors, t)
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("text after the header's object")
	}
	return nil
}

func (e entry) tensor(name string) (Tensor, error) {
	if len(e.Offsets) != 2 {
		return Tensor{}, fmt.Errorf("data_offsets has %d numbers, expected 2", len(e.Offsets))
	}
	if len(e.Shape) > maxRank {
		return Tensor{}, fmt.Errorf("%d dimensions (limit %d)", len(e.Shape), maxRank)
	}
	size, err := byteSize(e.DType, e.Shape)
	if err != nil {
		return Tensor{}, err
	}
	begin, end := e.Offsets[0], e.Offsets[1]
	if begin < 0 || end < begin {
		return Tensor{}, fmt.Errorf("invalid data_offsets [%d, %d]: the end precedes the start", begin, end)
	}
	if end-begin != size {
		return Tensor{}, fmt.Errorf("type %s with shape %v needs %d bytes, but data_offsets span %d", e.DType, e.Shape,
			size, end-begin)
	}
	return Tensor{Name: name, DType: e.DType, Shape: e.Shape, Offset: begin, Size: size}, nil
}
