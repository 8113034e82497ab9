// Package blob writes the context binaries of the simulated compiler (simulated/mllm/toymodel/README.md).
// Such a file has QNN's layout, and its blob has the embedding and the norm layers of the toy model. The runner's context.cc reads the files
// (simulated/mllm/runner/src). The package does not convert a model to a blob.
package blob

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/flatbuffer"
	"github.com/hexmage/hexmage/qnn/qnnctx"
	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

const (
	version          = 3 // of the blob's layout and of the toy model's arithmetic
	nameSize         = 64
	optionsSize      = 128
	maxGraphs        = 4
	align            = 128
	memoryAllocLimit = 3584
)

// Graph is a graph for a fixed number of tokens.
type Graph struct {
	Name   string
	Tokens uint32
}

// Blob is the model inside a simulated context binary.
type Blob struct {
	Vocab, Hidden, Layers, Context uint32
	OpPackage                      string
	Graphs                         []Graph
	Embedding                      []uint16 // [Vocab][Hidden]
	Norms                          []toymodel.Norm
}

// Write writes a context binary that contains a blob. It ignores the fields Format, Backend, BlobOffset, BlobSize,
// Simulated and Graphs of info. Equal arguments produce equal bytes.
func Write(w io.Writer, info qnnctx.Info, blob *Blob) error {
	raw, err := blob.encode(info)
	if err != nil {
		return err
	}
	info.Graphs = nil
	for _, g := range blob.Graphs {
		tensor := func(name, dtype string, height, width uint32) qnnctx.TensorInfo {
			return qnnctx.TensorInfo{Name: name, DType: dtype, Dims: []uint32{1, 1, height, width}}
		}
		info.Graphs = append(info.Graphs, qnnctx.GraphInfo{Name: g.Name,
			Inputs:  []qnnctx.TensorInfo{tensor("input_ids", "int32", 1, g.Tokens), tensor("past_length", "int32", 1, 1)},
			Outputs: []qnnctx.TensorInfo{tensor("logits", "ufixed16", g.Tokens, blob.Vocab)}})
	}
	return WriteContext(w, info, raw)
}

// WriteContext writes a context binary with the given bytes as its blob. It ignores the fields Format, Backend,
// BlobOffset, BlobSize and Simulated of info, and all fields that belong in a blob.
func WriteContext(w io.Writer, info qnnctx.Info, raw []byte) error {
	const headerSize = 0x28
	meta := flatbuffer.Write(metadata(info, uint64(len(raw))))
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

// metadata returns the metadata that all readers of context binaries parse.
func metadata(info qnnctx.Info, size uint64) flatbuffer.Fields {
	triple := func(v qnnctx.Version) flatbuffer.Struct { return flatbuffer.Struct{v.Major, v.Minor, v.Patch} }
	id := uint32(0)
	tensors := func(list []qnnctx.TensorInfo) (all []flatbuffer.Fields) {
		for _, x := range list {
			f := flatbuffer.Fields{0: id, 3: DType(x.DType), 6: uint32(len(x.Dims)), 7: x.Dims, 9: x.Name}
			if q := x.Quant; q != nil {
				f[4], f[5] = uint32(1), uint32(0) // defined, by scale and offset
				f[15] = flatbuffer.Fields{0: math.Float32bits(q.Scale), 1: uint32(q.Offset)}
			}
			all = append(all, f)
			id++
		}
		return all
	}
	const kind = 3
	var graphs []flatbuffer.Fields
	for _, g := range info.Graphs {
		in, out := tensors(g.Inputs), tensors(g.Outputs)
		graph := flatbuffer.Fields{0: g.Name, 1: uint32(len(in)), 2: in, 3: uint32(len(out)), 4: out}
		graphs = append(graphs, flatbuffer.Fields{0: uint32(kind), 1: uint8(kind),
			2: flatbuffer.Fields{0: flatbuffer.Fields{0: graph}}})
	}
	return flatbuffer.Fields{0: flatbuffer.Fields{0: uint32(kind), 1: uint8(kind), 2: flatbuffer.Fields{
		0: uint32(qnnctx.BackendHTP), 1: info.BuildID, 2: triple(info.CoreAPI), 3: triple(info.BackendAPI),
		4: info.SoCVersion, 5: triple(info.BlobVersion), 9: uint32(len(graphs)), 10: graphs, 11: size, 16: info.SoCModel,
	}}}
}

// DType returns QNN's number for the name of an element type, or 0 if the name is unknown.
func DType(name string) uint32 {
	for class := range uint32(7) {
		for _, width := range []uint32{0x04, 0x08, 0x16, 0x32, 0x64} {
			if v := class<<8 | width; qnnctx.DTypeName(v) == name {
				return v
			}
		}
	}
	return 0
}

func (b *Blob) encode(info qnnctx.Info) ([]byte, error) {
	if len(b.Graphs) > maxGraphs {
		return nil, fmt.Errorf("the context has %d graphs, more than the limit of %d", len(b.Graphs), maxGraphs)
	}
	le := binary.LittleEndian
	out := []byte(qnn.SimulatedContext)
	var tokens [maxGraphs]uint32
	for i, g := range b.Graphs {
		tokens[i] = g.Tokens
	}
	for _, v := range append([]uint32{version, info.Arch, info.SoCModel, uint32(info.VTCM >> 20), b.Vocab, b.Hidden,
		b.Layers, b.Context,
		uint32(len(b.Norms)), uint32(len(b.Graphs))}, tokens[:]...) {
		out = le.AppendUint32(out, v)
	}
	text := func(s string, size int) {
		field := make([]byte, size)
		copy(field[:size-1], s)
		out = append(out, field...)
	}
	text(info.BuildID, nameSize)
	text(b.OpPackage, nameSize)
	text(fmt.Sprintf("min_arch=%d;vtcm_size=%d;soc_type=%s;memory_alloc_limit=%d", info.Arch, info.VTCM, info.SoC,
		memoryAllocLimit), optionsSize)
	numbers := func(list []uint16) {
		for _, v := range list {
			out = le.AppendUint16(out, v)
		}
	}
	numbers(b.Embedding)
	for _, n := range b.Norms {
		text(n.Name, nameSize)
		out = le.AppendUint32(out, uint32(len(n.Weight)))
		numbers(n.Weight)
	}
	return out, nil
}
