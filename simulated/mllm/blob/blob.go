// Package blob writes the context binaries of the simulated compiler (docs/design/0002): a file like QNN's, whose
// blob has the embedding and the norm layers of the toy model.
//
// It does not know how a model becomes a blob. The runner's context.cc reads the files (simulated/mllm/runner/src).
package blob

import (
	"encoding/binary"
	"fmt"
	"io"

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

// Graph is a graph for a number of tokens.
type Graph struct {
	Name   string
	Tokens uint32
}

// Blob is the model of a context.
type Blob struct {
	Vocab, Hidden, Layers, Context uint32
	OpPackage                      string
	Graphs                         []Graph
	Embedding                      []uint16 // [Vocab][Hidden]
	Norms                          []toymodel.Norm
}

// Write writes a context binary around a blob. It ignores info's Format, Backend, BlobOffset, BlobSize, Simulated and
// Graphs. Equal arguments give equal bytes.
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

// QNN's numbers of the graphs' element types.
const (
	int32Type   = 0x032
	quant16Type = 0x416
)

// meta returns the metadata that every reader of context binaries understands.
func (b *Blob) meta(info qnnctx.Info, size uint64) flatbuffer.Fields {
	triple := func(v qnnctx.Version) flatbuffer.Struct { return flatbuffer.Struct{v.Major, v.Minor, v.Patch} }
	tensor := func(n int, name string, kind uint32, height, width uint32) flatbuffer.Fields {
		return flatbuffer.Fields{0: uint32(n), 3: kind, 6: uint32(4), 7: []uint32{1, 1, height, width}, 9: name}
	}
	const kind = 3
	var graphs []flatbuffer.Fields
	for _, g := range b.Graphs {
		in := []flatbuffer.Fields{tensor(0, "input_ids", int32Type, 1, g.Tokens),
			tensor(1, "past_length", int32Type, 1, 1)}
		out := []flatbuffer.Fields{tensor(2, "logits", quant16Type, g.Tokens, b.Vocab)}
		graph := flatbuffer.Fields{0: g.Name, 1: uint32(len(in)), 2: in, 3: uint32(len(out)), 4: out}
		graphs = append(graphs, flatbuffer.Fields{0: uint32(kind), 1: uint8(kind),
			2: flatbuffer.Fields{0: flatbuffer.Fields{0: graph}}})
	}
	return flatbuffer.Fields{0: flatbuffer.Fields{0: uint32(kind), 1: uint8(kind), 2: flatbuffer.Fields{
		0: uint32(qnnctx.BackendHTP), 1: info.BuildID, 2: triple(info.CoreAPI), 3: triple(info.BackendAPI),
		4: info.SoCVersion, 5: triple(info.BlobVersion), 9: uint32(len(graphs)), 10: graphs, 11: size, 16: info.SoCModel,
	}}}
}

func (b *Blob) encode(info qnnctx.Info) ([]byte, error) {
	if len(b.Graphs) > maxGraphs {
		return nil, fmt.Errorf("%d graphs: the limit is %d", len(b.Graphs), maxGraphs)
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
