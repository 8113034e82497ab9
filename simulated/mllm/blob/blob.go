// Package blob writes the context binaries of the simulation's compiler (docs/design/0002 §7): a file as QNN's are, whose blob
// lists operations and weights, for a program that executes them on any processor.
//
// One enters it with Write. It does not know what the operations compute, nor how a model becomes a list of them, nor how they are
// read: that the program on the device does (simulated/mllm/runner/src).
package blob

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/hexmage/hexmage/qnn/flatbuffer"
	"github.com/hexmage/hexmage/qnn/qnnctx"
)

// Sizes and limits of the open blob (docs/design/0002 §7.1).
const (
	blobHeader        = 160
	align             = 128
	tensorSize        = 64
	graphSize         = 64
	opSize            = 128
	maxTensors        = 1 << 16
	maxGraphs         = 64
	maxIn, maxOut     = 12, 4
	staticBit         = 1 << 31
	memoryAllocLimit  = 3584
	ArithmeticVersion = 1 // of docs/design/0002
)

// Element types of blob tensors.
const (
	QUint8     uint32 = 1
	QUint16    uint32 = 2
	Float32    uint32 = 3
	Int32      uint32 = 5
	Uint8      uint32 = 16
	Int4Packed uint32 = 32
)

// Kinds of blob tensors.
const (
	Static uint32 = iota
	Input
	Output
	Native
	State
)

// Codes of operations.
const (
	OpEmbedding uint32 = iota + 1
	OpRMSNorm
	OpLinear
	OpRoPE
	OpKVWrite
	OpAttention
	OpAdd
	OpSiLU
	OpMul
)

// Shape is what a blob says of its model.
type Shape struct {
	BlockSize, Vocab, Hidden, Layers, Heads, KVHeads, HeadDim, Intermediate, Context uint32
}

// Tensor describes a static or a graph's tensor.
type Tensor struct {
	Name      string
	DType     uint32
	Kind      uint32
	Dims      [4]uint32
	Scale     float32
	ZeroPoint int32
	Data      []byte // of a static
	Size      int64  // in bytes, of what is no static

	offset int64 // of a static's data, from the weights' start
}

// Operand names a static or one of the graph's own tensors.
type Operand uint32

// StaticOperand is the operand for static number i.
func StaticOperand(i int) Operand { return Operand(uint32(i) | staticBit) }

// Op is one operation.
type Op struct {
	Code    uint32
	Package bool // run by the op package on the DSP
	Name    string
	Type    string
	In, Out []Operand
}

// Graph is one executable graph.
type Graph struct {
	Name            string
	Tokens          uint32
	Tensors         []Tensor
	Ops             []Op
	Inputs, Outputs []uint32
}

// Blob is the simulated profile's context: graphs over shared statics.
type Blob struct {
	Shape     Shape
	OpPackage string
	Statics   []Tensor
	Graphs    []Graph
}

// Write writes a context binary around a blob. info's Format, Backend, BlobOffset, BlobSize, Open and Graphs are ignored. Equal arguments give
// equal bytes.
func Write(w io.Writer, info qnnctx.Info, blob *Blob) error {
	raw, err := blob.encode(info)
	if err != nil {
		return err
	}
	const headerSize = 0x28
	meta := flatbuffer.Write(blob.meta(info, uint64(len(raw))))
	for (headerSize+len(meta))%align != 0 {
		meta = append(meta, 0)
	}
	b := []byte{0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1}
	for _, n := range []int{len(meta), headerSize + len(meta), len(raw)} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	for _, part := range [][]byte{b, meta, raw} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// meta is what any reader of context binaries asks, in the newer of the two forms that vendors' files have.
func (b *Blob) meta(info qnnctx.Info, size uint64) flatbuffer.Fields {
	version := func(v qnnctx.Version) flatbuffer.Struct { return flatbuffer.Struct{v.Major, v.Minor, v.Patch} }
	const kind = 3
	var graphs []flatbuffer.Fields
	for _, g := range b.Graphs {
		ends := func(tensors []uint32) []flatbuffer.Fields {
			all := []flatbuffer.Fields{}
			for _, n := range tensors {
				t := g.Tensors[n]
				all = append(all, flatbuffer.Fields{0: n, 3: dataType(t.DType), 6: uint32(len(t.Dims)), 7: t.Dims[:], 9: t.Name})
			}
			return all
		}
		graph := flatbuffer.Fields{0: g.Name, 1: uint32(len(g.Inputs)), 2: ends(g.Inputs), 3: uint32(len(g.Outputs)), 4: ends(g.Outputs)}
		graphs = append(graphs, flatbuffer.Fields{0: uint32(kind), 1: uint8(kind), 2: flatbuffer.Fields{0: flatbuffer.Fields{0: graph}}})
	}
	return flatbuffer.Fields{0: flatbuffer.Fields{0: uint32(kind), 1: uint8(kind), 2: flatbuffer.Fields{
		0: uint32(qnnctx.BackendHTP), 1: info.BuildID, 2: version(info.CoreAPI), 3: version(info.BackendAPI), 4: info.SoCVersion, 5: version(info.BlobVersion),
		9: uint32(len(graphs)), 10: graphs, 11: size, 16: info.SoCModel,
	}}}
}

// dataType is QNN's number for an element type: the class in the higher byte, the width, written in decimal digits, in the lower.
func dataType(t uint32) uint32 {
	switch t {
	case QUint8:
		return 0x408
	case QUint16:
		return 0x416
	case Float32:
		return 0x232
	case Int32:
		return 0x032
	}
	return 0x108
}

// stringTable collects the names of a blob, each once.
type stringTable struct {
	buf  bytes.Buffer
	seen map[string]uint32
}

func (s *stringTable) put(b []byte, at int, text string) {
	off, ok := s.seen[text]
	if !ok {
		off = uint32(s.buf.Len())
		s.buf.WriteString(text)
		s.seen[text] = off
	}
	binary.LittleEndian.PutUint32(b[at:], off)
	binary.LittleEndian.PutUint32(b[at+4:], uint32(len(text)))
}

// encode lays the blob out: header, statics, graphs, each graph's tensors, ops and operands, strings, weights.
func (b *Blob) encode(info qnnctx.Info) ([]byte, error) {
	if len(b.Statics) > maxTensors || len(b.Graphs) > maxGraphs {
		return nil, fmt.Errorf("%d statics (limit %d), %d graphs (limit %d)", len(b.Statics), maxTensors, len(b.Graphs), maxGraphs)
	}
	le := binary.LittleEndian
	names := &stringTable{seen: map[string]uint32{}}
	out := make([]byte, blobHeader+len(b.Statics)*tensorSize)
	weights := int64(0)
	for i, t := range b.Statics {
		t.Kind, t.offset, t.Size = Static, weights, int64(len(t.Data))
		t.put(out[blobHeader+i*tensorSize:], names)
		weights = pad(weights + t.Size)
	}
	graphs := len(out)
	out = append(out, make([]byte, len(b.Graphs)*graphSize)...)
	for i := range b.Graphs {
		rec, body, err := b.Graphs[i].encode(len(out), names)
		if err != nil {
			return nil, fmt.Errorf("graph %q: %w", b.Graphs[i].Name, err)
		}
		copy(out[graphs+i*graphSize:], rec)
		out = append(out, body...)
	}
	copy(out, qnnctx.SimulatedMark)
	s := b.Shape
	for i, v := range []uint32{ArithmeticVersion, blobHeader, info.Arch, info.SoCModel, uint32(info.VTCM >> 20), s.BlockSize,
		s.Vocab, s.Hidden, s.Layers, s.Heads, s.KVHeads, s.HeadDim, s.Intermediate, s.Context, uint32(len(b.Statics)), uint32(len(b.Graphs))} {
		le.PutUint32(out[8+4*i:], v)
	}
	names.put(out, 120, info.BuildID)
	names.put(out, 128, fmt.Sprintf("min_arch=%d;vtcm_size=%d;soc_type=%s;memory_alloc_limit=%d", info.Arch, info.VTCM, info.SoC, memoryAllocLimit))
	names.put(out, 136, b.OpPackage)
	text := len(out)
	out = append(out, names.buf.Bytes()...)
	for len(out)%align != 0 {
		out = append(out, 0)
	}
	le.PutUint64(out[72:], blobHeader)
	le.PutUint64(out[80:], uint64(graphs))
	le.PutUint64(out[88:], uint64(text))
	le.PutUint64(out[96:], uint64(names.buf.Len()))
	le.PutUint64(out[104:], uint64(len(out)))
	le.PutUint64(out[112:], uint64(weights))
	for _, t := range b.Statics {
		out = append(out, t.Data...)
		for len(out)%align != 0 {
			out = append(out, 0)
		}
	}
	return out, nil
}

func pad(n int64) int64 { return (n + align - 1) / align * align }

func (t Tensor) put(b []byte, names *stringTable) {
	le := binary.LittleEndian
	names.put(b, 0, t.Name)
	le.PutUint32(b[8:], t.DType)
	le.PutUint32(b[12:], t.Kind)
	for i, d := range t.Dims {
		le.PutUint32(b[16+4*i:], d)
	}
	le.PutUint32(b[32:], math.Float32bits(t.Scale))
	le.PutUint32(b[36:], uint32(t.ZeroPoint))
	le.PutUint64(b[40:], uint64(t.offset))
	le.PutUint64(b[48:], uint64(t.Size))
}

// encode gives the graph's record and its body, which will lie at the given place of the blob.
func (g Graph) encode(at int, names *stringTable) (record, body []byte, err error) {
	le := binary.LittleEndian
	record = make([]byte, graphSize)
	names.put(record, 0, g.Name)
	le.PutUint32(record[8:], g.Tokens)
	le.PutUint32(record[12:], uint32(len(g.Tensors)))
	le.PutUint64(record[16:], uint64(at))
	le.PutUint32(record[24:], uint32(len(g.Ops)))
	le.PutUint32(record[28:], opSize)
	le.PutUint32(record[40:], uint32(len(g.Inputs)))
	le.PutUint32(record[44:], uint32(len(g.Outputs)))
	body = make([]byte, len(g.Tensors)*tensorSize+len(g.Ops)*opSize)
	for i, t := range g.Tensors {
		t.put(body[i*tensorSize:], names)
	}
	ops := len(g.Tensors) * tensorSize
	le.PutUint64(record[32:], uint64(at+ops))
	for i, o := range g.Ops {
		if len(o.In) > maxIn || len(o.Out) > maxOut {
			return nil, nil, errors.New("too many operands for op " + o.Name)
		}
		r := body[ops+i*opSize:]
		le.PutUint32(r, o.Code)
		if o.Package {
			le.PutUint32(r[4:], 1)
		}
		names.put(r, 8, o.Name)
		names.put(r, 16, o.Type)
		le.PutUint32(r[24:], uint32(len(o.In)))
		le.PutUint32(r[28:], uint32(len(o.Out)))
		for k, v := range o.In {
			le.PutUint32(r[32+4*k:], uint32(v))
		}
		for k, v := range o.Out {
			le.PutUint32(r[80+4*k:], uint32(v))
		}
	}
	le.PutUint64(record[48:], uint64(at+len(body)))
	for _, v := range append(append([]uint32(nil), g.Inputs...), g.Outputs...) {
		if v >= uint32(len(g.Tensors)) {
			return nil, nil, fmt.Errorf("input or output %d of %d tensors", v, len(g.Tensors))
		}
		body = le.AppendUint32(body, v)
	}
	for (at+len(body))%8 != 0 {
		body = append(body, 0)
	}
	return record, body, nil
}
