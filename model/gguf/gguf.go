// Package gguf reads the header of GGUF models: their metadata and which tensors they have. One enters it with Is and Parse.
//
// Contents of tensors are not read, and nothing in the file is trusted. The package does not know what the metadata mean.
package gguf

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strconv"
)

// ErrFormat is wrapped by every error that says a file is no well-formed GGUF model.
var ErrFormat = errors.New("not a valid GGUF model")

// File is what a file's header says.
type File struct {
	Version  uint32
	Metadata map[string]string // of a list how many elements it has: "[49152]"
	Tensors  []Tensor
}

// Tensor is one tensor. Dims are in the format's order: the one whose elements are side by side comes first.
type Tensor struct {
	Name   string
	Type   string // F32, Q4_1; the number where it is not known
	Dims   []int64
	Offset int64 // in the file
	Size   int64 // bytes; -1 where the type is not known
}

const (
	magic       = "GGUF"
	maxKeys     = 1 << 16
	maxTensors  = 1 << 20
	maxRank     = 8
	maxText     = 4096    // bytes of a text that is kept; of a longer one the beginning
	maxElements = 1 << 24 // of a list of texts, each of which is passed over
	maxDepth    = 4       // lists in lists
)

// Is tells whether a file that begins with head may be a GGUF model.
func Is(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }

// Parse reads the header of the file of the given size behind r. Errors wrap ErrFormat unless reading failed.
func Parse(r io.ReaderAt, size int64) (*File, error) {
	p := &parser{r: bufio.NewReaderSize(io.NewSectionReader(r, 0, size), 64<<10), size: size}
	f, err := p.file()
	switch {
	case p.err != nil && (errors.Is(p.err, io.EOF) || errors.Is(p.err, io.ErrUnexpectedEOF)):
		return nil, fmt.Errorf("%w: its header is cut off", ErrFormat)
	case p.err != nil:
		return nil, fmt.Errorf("read GGUF header: %w", p.err)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return f, nil
}

type parser struct {
	r    *bufio.Reader
	size int64
	at   int64
	err  error // of reading; then every number is 0
}

func (p *parser) take(n int) []byte {
	b := make([]byte, n)
	if p.err == nil {
		_, p.err = io.ReadFull(p.r, b)
		p.at += int64(n)
	}
	return b
}

func (p *parser) u32() uint32 { return binary.LittleEndian.Uint32(p.take(4)) }
func (p *parser) u64() uint64 { return binary.LittleEndian.Uint64(p.take(8)) }

func (p *parser) skip(n uint64) {
	if p.err == nil && n > uint64(p.size-p.at) {
		p.err = io.ErrUnexpectedEOF
	}
	if p.err == nil {
		_, p.err = io.CopyN(io.Discard, p.r, int64(n))
		p.at += int64(n)
	}
}

func (p *parser) text() string {
	n := p.u64()
	keep := min(n, maxText)
	b := p.take(int(keep))
	p.skip(n - keep)
	return string(b)
}

func (p *parser) file() (*File, error) {
	if b := p.take(4); p.err == nil && string(b) != magic {
		return nil, fmt.Errorf("it begins with %q", b)
	}
	f := &File{Version: p.u32(), Metadata: map[string]string{}}
	if p.err == nil && (f.Version < 2 || f.Version > 3) {
		return nil, fmt.Errorf("version %d; 2 and 3 are known", f.Version)
	}
	tensors, keys := p.u64(), p.u64()
	if tensors > maxTensors || keys > maxKeys {
		return nil, fmt.Errorf("%d tensors and %d keys are too many", tensors, keys)
	}
	align := uint64(32)
	for range keys {
		key := p.text()
		value, err := p.value(p.u32(), 0)
		if err != nil || p.err != nil {
			return nil, err
		}
		f.Metadata[key] = value
	}
	if s, ok := f.Metadata["general.alignment"]; ok {
		n, err := strconv.ParseUint(s, 10, 20)
		if err != nil || bits.OnesCount64(n) != 1 {
			return nil, fmt.Errorf("an alignment of %s", s)
		}
		align = n
	}
	for range tensors {
		t, err := p.tensor()
		if err != nil || p.err != nil {
			return nil, err
		}
		f.Tensors = append(f.Tensors, t)
	}
	begin := (p.at + int64(align) - 1) &^ (int64(align) - 1)
	for i := range f.Tensors {
		t := &f.Tensors[i]
		if t.Offset < 0 || t.Offset > p.size-begin || t.Size > p.size-begin-t.Offset {
			return nil, fmt.Errorf("tensor %q of %d bytes at %d is not within the file's %d: it is cut off", t.Name, t.Size, t.Offset, p.size)
		}
		t.Offset += begin
	}
	return f, nil
}

// value reads a value of metadata.
func (p *parser) value(kind uint32, depth int) (string, error) {
	switch kind {
	case 0:
		return strconv.Itoa(int(p.take(1)[0])), nil
	case 1:
		return strconv.Itoa(int(int8(p.take(1)[0]))), nil
	case 2:
		return strconv.Itoa(int(binary.LittleEndian.Uint16(p.take(2)))), nil
	case 3:
		return strconv.Itoa(int(int16(binary.LittleEndian.Uint16(p.take(2))))), nil
	case 4:
		return strconv.FormatUint(uint64(p.u32()), 10), nil
	case 5:
		return strconv.Itoa(int(int32(p.u32()))), nil
	case 6:
		return strconv.FormatFloat(float64(math.Float32frombits(p.u32())), 'g', -1, 32), nil
	case 7:
		return strconv.FormatBool(p.take(1)[0] != 0), nil
	case textKind:
		return p.text(), nil
	case listKind:
		return p.list(depth)
	case 10:
		return strconv.FormatUint(p.u64(), 10), nil
	case 11:
		return strconv.FormatInt(int64(p.u64()), 10), nil
	case 12:
		return strconv.FormatFloat(math.Float64frombits(p.u64()), 'g', -1, 64), nil
	}
	return "", fmt.Errorf("a value of type %d", kind)
}

const (
	textKind = 8
	listKind = 9
)

// list passes over a list, and says how many elements it has.
func (p *parser) list(depth int) (string, error) {
	kind, n := p.u32(), p.u64()
	switch size := [...]uint64{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8}; {
	case kind == textKind || kind == listKind:
		if n > maxElements || depth == maxDepth {
			return "", fmt.Errorf("a list of %d elements, %d lists deep", n, depth)
		}
		for range n {
			if p.err != nil {
				break
			}
			if kind == textKind {
				p.skip(p.u64())
			} else if _, err := p.list(depth + 1); err != nil {
				return "", err
			}
		}
	case kind >= uint32(len(size)):
		return "", fmt.Errorf("a list of values of type %d", kind)
	case n > uint64(p.size):
		p.err = io.ErrUnexpectedEOF
	default:
		p.skip(n * size[kind])
	}
	return "[" + strconv.FormatUint(n, 10) + "]", nil
}

func (p *parser) tensor() (Tensor, error) {
	t := Tensor{Name: p.text()}
	rank := p.u32()
	if rank > maxRank {
		return t, fmt.Errorf("tensor %q has %d dims", t.Name, rank)
	}
	elements := uint64(1)
	for range rank {
		n := p.u64()
		high, low := bits.Mul64(elements, n)
		if high != 0 || low > math.MaxInt64/1024 {
			return t, fmt.Errorf("tensor %q is larger than a file can be", t.Name)
		}
		elements = low
		t.Dims = append(t.Dims, int64(n))
	}
	kind, offset := p.u32(), p.u64()
	if offset > math.MaxInt64/4 {
		return t, fmt.Errorf("tensor %q is at %d", t.Name, offset)
	}
	t.Offset, t.Size, t.Type = int64(offset), -1, strconv.FormatUint(uint64(kind), 10)
	if b, ok := blocks()[kind]; ok {
		t.Type, t.Size = b.name, int64((elements+b.elements-1)/b.elements*b.bytes)
	}
	return t, nil
}

// block is how a type stores its elements: so many in so many bytes.
type block struct {
	name            string
	elements, bytes uint64
}

func blocks() map[uint32]block {
	return map[uint32]block{0: {"F32", 1, 4}, 1: {"F16", 1, 2}, 2: {"Q4_0", 32, 18}, 3: {"Q4_1", 32, 20}, 6: {"Q5_0", 32, 22}, 7: {"Q5_1", 32, 24},
		8: {"Q8_0", 32, 34}, 9: {"Q8_1", 32, 36}, 10: {"Q2_K", 256, 84}, 11: {"Q3_K", 256, 110}, 12: {"Q4_K", 256, 144}, 13: {"Q5_K", 256, 176},
		14: {"Q6_K", 256, 210}, 15: {"Q8_K", 256, 292}, 16: {"IQ2_XXS", 256, 66}, 17: {"IQ2_XS", 256, 74}, 18: {"IQ3_XXS", 256, 98}, 19: {"IQ1_S", 256, 50},
		20: {"IQ4_NL", 32, 18}, 21: {"IQ3_S", 256, 110}, 22: {"IQ2_S", 256, 82}, 23: {"IQ4_XS", 256, 136}, 24: {"I8", 1, 1}, 25: {"I16", 1, 2}, 26: {"I32", 1, 4},
		27: {"I64", 1, 8}, 28: {"F64", 1, 8}, 29: {"IQ1_M", 256, 56}, 30: {"BF16", 1, 2}, 34: {"TQ1_0", 256, 54}, 35: {"TQ2_0", 256, 66}, 39: {"MXFP4", 32, 17}}
}
